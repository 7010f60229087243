"""The collection that is served, the threads that answer requests from it, and what errors are called."""
