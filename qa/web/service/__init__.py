"""What all routes share: the served collection, the threads that answer from it, and how errors are reported."""
