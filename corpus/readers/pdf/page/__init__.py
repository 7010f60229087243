"""The characters, lines and tables of a page, with their places."""
