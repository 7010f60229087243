"""What all readers build their result with: text, blocks, pages and records, nothing lost."""
