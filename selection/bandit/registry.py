"""Every algorithm by the name it is stored under."""

from .certified import Certified
from .clucb import CLUCBPAC, LilCLUCB
from .credible import Credible
from .elimination import AdaptiveTopK, AdaptiveTopKBudget, ImprovedTopK
from .gape import GapE
from .halving import Halving, OptMAI, OptMAIBudget
from .kl import KLLUCB, KLRacing
from .lil import LilLUCB, LilRandLUCB, LilUCB, LUCBpp
from .lucb import LUCB
from .phases import CSAR, SAR, SR, Uniform
from .racing import BatchRacing
from .selector import Selector
from .ugape import UGapEb, UGapEc, UGapEV

_CONFIDENCE: tuple[type[Selector], ...] = (
    Certified,
    AdaptiveTopK,
    ImprovedTopK,
    LUCB,
    KLLUCB,
    KLRacing,
    UGapEc,
    UGapEV,
    Halving,
    OptMAI,
    CLUCBPAC,
    LilUCB,
    LilLUCB,
    LUCBpp,
    LilRandLUCB,
    LilCLUCB,
    BatchRacing,
)
_AVERAGE: tuple[type[Selector], ...] = (Credible,)
_BUDGET: tuple[type[Selector], ...] = (
    Uniform,
    SR,
    SAR,
    CSAR,
    GapE,
    UGapEb,
    AdaptiveTopKBudget,
    OptMAIBudget,
)

SELECTORS: dict[str, type[Selector]] = {
    selector.name: selector for selector in (*_CONFIDENCE, *_AVERAGE, *_BUDGET)
}


def selector_named(name: str) -> type[Selector]:
    """The algorithm of this name. Raises KeyError, with the names there are."""
    if name not in SELECTORS:
        raise KeyError(f"There is no algorithm {name!r}; there are {', '.join(SELECTORS)}.")
    return SELECTORS[name]
