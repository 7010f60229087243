"""Asked over HTTP: the API, the page, whom both let in, and the server."""
