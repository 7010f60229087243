"""LaTeX and BibTeX."""
