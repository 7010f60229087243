"""Answer questions that need all rows of a table, such as which of them has the most of something."""
