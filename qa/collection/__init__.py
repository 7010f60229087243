"""A folder of documents and its index: found, built, kept current, shown, checked."""
