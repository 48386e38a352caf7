"""The inner loop of every algorithm that looks at each answer: one definition, compiled.

``look`` returns the arms an algorithm would pull and how far it is from stopping. The live
selectors (``look_ahead``) and the simulator (``run``) call the same ``look``, so simulated and live
runs cannot differ. Every pass over the arms is plain arithmetic without branches, which the
compiler turns into vector instructions; sets such as "the K best means" are kept from call to call
and mended if they no longer hold.

layout      the board, and the parameters of one algorithm (Strategy)
extremes    minimum and maximum, for the vectoriser
sets        the K arms of largest key
divergence  bounds of Bernoulli rewards
radii       all other bounds
looks       the arms that keep an algorithm from stopping, and the gap
loops       looking ahead for a crowd, and playing a whole run
near        the arms that a look-ahead may pull

Comments name papers by their first author: Kalyanakrishnan 2012 (LUCB1), Gabillon 2012 (UGapE),
Kaufmann 2013 (KL-LUCB), Chen 2014 (CLUCB), Jamieson 2014 (lil'), Jiang 2017 (lil'RandLUCB).
"""

# mypy: implicit-reexport
# ruff: noqa: F401 (the names that other modules use)

from .divergence import kl_bounds, mixture_costs
from .layout import (
    ADAPTIVE,
    BERNSTEIN,
    BEST,
    CHOSEN,
    CLOCK,
    COIN,
    DIVERGENCE,
    EXPLORATION,
    GAP_INDEX,
    GAPS,
    HIGH,
    INDEX,
    INNER,
    ITERATED,
    KL,
    LOWER,
    MEAN,
    MIXTURE,
    PAIR,
    PAIRS,
    PULLS,
    RECORD,
    REWARDS,
    SETS,
    SHUT,
    TOTAL,
    UPPER,
    Arms,
    Memo,
    Strategy,
    build_board,
)
from .looks import look
from .loops import PORTIONS, is_kept, look_ahead, remember, run
from .near import find_near_ends, narrow_board
from .radii import count, hardness, log_term, refresh_all, spread
