"""Formats of before 2007, read by libraries of the extra `qa-passages[office]`: DOC, XLS, PPT, RTF."""
