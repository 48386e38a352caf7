"""``certified``: a proved bound on the regret of the whole selection, for every pool.

``universal`` is here too, because swaps may certify it.
"""

from .any_population import Universal
from .confidence_sequences import confidence_intervals
from .selector import SCORES, Certified

__all__ = ["SCORES", "Certified", "Universal", "confidence_intervals"]
