"""Pages of connections: accounts, what is read from them, their calls, and their use by runs."""
