"""Models as workers: prompts, calls, replies, and the ledger of their cost."""
