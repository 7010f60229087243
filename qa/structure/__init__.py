"""The structure of a text: its tables, lists, sections and dated entries, and who says what in it."""
