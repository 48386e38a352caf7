"""Gold and practice questions: corrections, media, problem reports."""
