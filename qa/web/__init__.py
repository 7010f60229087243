"""HTTP: the API, the web page, access control, and the server."""
