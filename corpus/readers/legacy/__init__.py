"""Formats of before 2007, read by libraries of the extra `qa[office]`: DOC, XLS, PPT, RTF."""
