"""Files in, documents and passages out; knows no model and no index."""
