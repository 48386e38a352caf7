"""The workers of a run: who may be in it, who joins and leaves, groups, quotas and prices."""
