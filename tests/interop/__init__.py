"""``make interop``: other people's programs read our files, and we read theirs."""
