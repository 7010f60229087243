"""Training of the extractive reader that ships with the package; the product imports nothing from here."""
