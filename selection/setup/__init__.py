"""A run before it begins, and its life: what may be chosen, what is refused, start to stop."""
