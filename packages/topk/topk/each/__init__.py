"""``each-good``: every selected worker is about as good as the K-th best."""

from .selector import EachGood

__all__ = ["EachGood"]
