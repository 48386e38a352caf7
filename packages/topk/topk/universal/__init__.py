"""``universal``: a guarantee for every population, by one likelihood ratio."""

from .selector import Universal

__all__ = ["Universal"]
