"""Admin of question sets, gold and practice questions, and media."""
