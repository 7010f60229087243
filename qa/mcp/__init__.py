"""A server for agents over stdio (Model Context Protocol): tools that ask, and resources that are read."""
