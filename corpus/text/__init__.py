"""For everybody: encodings, lines, sentences, headings and words of paths; knows no files."""
