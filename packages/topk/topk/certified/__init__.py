"""``certified``: a proved bound on the regret of the whole selection, for every pool."""

from .confidence_sequences import confidence_intervals
from .selector import SCORES, Certified

__all__ = ["SCORES", "Certified", "confidence_intervals"]
