"""Questions that only all rows of a table answer together, such as which of them has the most of something."""
