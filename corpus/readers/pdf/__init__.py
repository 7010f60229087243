"""PDF by PDFium: characters, lines in reading order, paragraphs and headings."""
