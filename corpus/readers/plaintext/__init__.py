"""Plain text, Markdown and reStructuredText, with exact spans."""
