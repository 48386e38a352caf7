"""Past answers: how many of them each algorithm would have needed."""
