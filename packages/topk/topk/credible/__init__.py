"""``credible``: a population fitted to the pool, and a guarantee on average over such pools."""

from .goodness_of_fit import DOUBT
from .means import posterior_means
from .selector import Credible

__all__ = ["DOUBT", "Credible", "posterior_means"]
