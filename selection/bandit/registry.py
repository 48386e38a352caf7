"""Every algorithm by the name it is stored under."""

from .elimination import AdaptiveTopK
from .lucb import LUCB
from .selector import Selector
from .ugape import UGapEc

SELECTORS: dict[str, type[Selector]] = {
    selector.name: selector for selector in (AdaptiveTopK, LUCB, UGapEc)
}
