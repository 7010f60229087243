"""Text on a terminal: answers, reports, links, cleaning and wrapping."""
