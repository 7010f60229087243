"""Answer from whole tables and blocks: the row with the most seats, a command, the changes of a release."""
