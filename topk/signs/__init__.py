"""Signs that workers share answers: each with how often chance alone shows it, none with a verdict.

A sign is what hardly ever happens to workers who answer by themselves. It has other causes than
sharing, too, which a person has to weigh: so nothing here goes into a verdict.
"""

from .identical import Pair, identical
from .jumps import Jump, jumps
from .speed import Quick, too_quick

__all__ = ["Jump", "Pair", "Quick", "identical", "jumps", "too_quick"]
