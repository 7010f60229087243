"""For everybody: encodings, lines, sentences, headings and words of paths; works on text, not on files."""
