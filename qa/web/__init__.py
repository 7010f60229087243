"""Asked over HTTP: the API under `/api/v1`, whom it lets in, how much it takes at once, and the server."""
