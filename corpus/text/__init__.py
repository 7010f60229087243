"""Encodings, lines, sentences, headings and words of paths, for all packages; works on text, not on files."""
