"""Answer questions from all rows of a table, and tell what the fields of a record say."""
