"""What text without a format still tells: its encoding, lines, sentences, headings and the words in a path."""
