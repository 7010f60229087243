"""For `reader_for`: plain text, Markdown and reStructuredText; other readers use `read_plain` and `read_markdown`."""
