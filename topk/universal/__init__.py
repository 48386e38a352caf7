"""``universal``: one likelihood ratio bounds the regret, whatever population the workers are from."""

from .selector import Universal

__all__ = ["Universal"]
