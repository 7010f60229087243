"""The API under `/api/v1`: its endpoints and what they take, their description, and a page to try them on."""
