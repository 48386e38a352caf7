"""Pages on past answers: a form, the result of a replay, and what is kept of it."""
