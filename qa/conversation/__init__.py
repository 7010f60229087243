"""A conversation in the terminal: questions one after another, commands, follow-ups."""
