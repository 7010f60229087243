"""Training of the extractive reader that ships with the package; nothing of it is imported by the product."""
