"""``universal``: a guarantee for every population, by one likelihood ratio."""
