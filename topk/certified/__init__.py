"""``certified``: a proved bound on the regret of the whole selection, valid at any time."""

from .confidence_sequences import confidence_intervals
from .selector import ACCURACY, LIKE_THESE, QUESTIONS, THIS_SET, Certified

__all__ = [
    "ACCURACY",
    "LIKE_THESE",
    "QUESTIONS",
    "THIS_SET",
    "Certified",
    "confidence_intervals",
]
