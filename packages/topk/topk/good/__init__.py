"""Rules that find everybody who reaches a pass mark, up to K of them: docs/good-arms.md."""

from .by_intervals import APTG, LUCBG, HDoC
from .by_population import MarkAll, MarkShare
from .evalues import GoodByEValues

__all__ = ["APTG", "LUCBG", "GoodByEValues", "HDoC", "MarkAll", "MarkShare"]
