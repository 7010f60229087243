"""What must not break the tool: hostile files, names, models, terminals and places; CASES.md has the list."""
