"""For the index and `qa`: `walk` finds the documents of a folder; files are read safely, and names are kept as text."""
