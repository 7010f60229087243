"""Files to documents: in this process, in a sandbox, and ahead of need."""
