"""The worker's own page: one question at a time, behind a personal link."""
