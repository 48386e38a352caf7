"""HTTP to addresses that users type: never into our own network."""
