"""Processes killed and disks failing at every operation: the index stays the old one or becomes the new one."""
