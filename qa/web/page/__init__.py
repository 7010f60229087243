"""The web page: questions, answers and sources, rendered on the server; a small script only saves page loads."""
