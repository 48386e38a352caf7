"""Pages on past answers: a form, the result of a replay, and the parts of it that are kept."""
