"""For readers: builders of text, blocks, pages and records, and the guarantee that no text is lost."""
