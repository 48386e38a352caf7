"""``credible``: a population fitted to the pool, and a promise on average over such pools."""

from .goodness_of_fit import DOUBT
from .population import summary
from .selector import Credible

__all__ = ["DOUBT", "Credible", "summary"]
