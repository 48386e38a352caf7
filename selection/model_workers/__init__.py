"""Models as workers: prompts, calls, replies, and the ledger of what they cost."""
