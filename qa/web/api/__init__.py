"""The API under `/api/v1`: its endpoints and their parameters, its OpenAPI description, and a page to try it on."""
