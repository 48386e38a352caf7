"""``make interop``: what other people's programs make of our files, and we of theirs."""
