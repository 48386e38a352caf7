"""``certified``: a proved bound on the regret of the whole selection, valid at any time."""

from .confidence_sequences import confidence_intervals
from .selector import LIKE_THESE, THIS_SET, Certified

__all__ = ["LIKE_THESE", "THIS_SET", "Certified", "confidence_intervals"]
