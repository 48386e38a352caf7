"""How dates and times are written: everywhere the same, times always with their zone."""
