"""Events of a run, and the webhook messages about them."""
