"""Find the documents in a folder and read files safely, for the index and `qa`."""
