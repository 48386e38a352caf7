"""Rules that find everybody who reaches a pass mark, up to K of them: docs/good-arms.md."""

from .by_population import MarkAll, MarkShare
from .evalues import GoodByEValues

__all__ = ["GoodByEValues", "MarkAll", "MarkShare"]
