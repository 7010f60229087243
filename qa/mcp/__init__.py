"""A server for agents over stdio (Model Context Protocol), with tools to ask and resources to read."""
