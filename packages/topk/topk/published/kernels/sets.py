"""The K arms of largest key, kept from call to call and mended if they no longer hold."""

# mypy: disable-error-code="no-any-return"
# (numba has no types: what a compiled function calls is Any.)

import numpy as np

from topk.compiled import compiled

from .extremes import larger, smaller
from .layout import Floats, Sides

MOST_SWAPS = 8  # repairs of a set that cost about as much as sorting it anew


@compiled
def ends(key: Floats, sides: Sides) -> tuple[float, float]:
    """Find the least key inside and the greatest outside."""
    least, greatest = np.inf, -np.inf
    for i in range(key.size):
        # max(key, side) is the key inside and +inf outside; min(key, side) the other way round.
        least = smaller(least, larger(key[i], sides[i]))
        greatest = larger(greatest, smaller(key[i], sides[i]))
    return least, greatest


@compiled
def first(key: Floats, value: float, sides: Sides, side: float) -> int:
    """Find the first arm of this key on this side, or -1.

    It is the least number, with all other arms made infinite.
    """
    towards, best = -1.0 if side > 0 else 1.0, np.inf
    for i in range(key.size):
        # The arm's own number if the key is this one, otherwise far beyond any number of arms; the
        # side then makes an arm of the other side infinite.
        number = i + abs(key[i] - value) * 1e300
        best = smaller(best, larger(number, towards * sides[i]))
    return int(best) if best < key.size else -1


@compiled
def last(key: Floats, value: float, sides: Sides, side: float) -> int:
    for i in range(key.size - 1, -1, -1):
        if key[i] == value and sides[i] == side:
            return i
    return -1


@compiled
def first_above(key: Floats, value: float) -> int:
    """Find the first arm whose key is at least this, or -1."""
    for i in range(key.size):
        if key[i] >= value:
            return i
    return -1


@compiled
def mend(key: Floats, sides: Sides, least: float, greatest: float) -> bool:
    """Exchange the worst inside for the best outside if it is better; ties go by number."""
    if least > greatest:
        return False
    worst, best = last(key, least, sides, -np.inf), first(key, greatest, sides, np.inf)
    # Of equal keys the lower number is to be inside: exchange only while it is not.
    if least == greatest and worst < best:
        return False
    sides[worst], sides[best] = np.inf, -np.inf
    return True


@compiled
def around(key: Floats, point: float) -> tuple[int, float, float]:
    """Count the keys that are at least this, and find the least of them, and the greatest of the
    rest.
    """
    above, least, greatest = 0, np.inf, -np.inf
    for i in range(key.size):
        value = key[i]
        above += value >= point
        least = smaller(least, value if value >= point else np.inf)
        greatest = larger(greatest, -np.inf if value >= point else value)
    return above, least, greatest


@compiled
def kth_largest(key: Floats, k: int) -> float:
    """Find the K-th largest key by bisection between keys: a few passes instead of a sort.

    Both ends move to existing keys, so it ends exactly on one.
    """
    # At least k keys lie at or above low, fewer at or above high; greatest is the last below high.
    _, low, _ = around(key, -np.inf)
    _, _, greatest = around(key, np.inf)
    while greatest > low:
        middle = low + (greatest - low) / 2
        # Halving two neighbouring numbers may give the lower again: then try the upper itself.
        middle = middle if middle > low else greatest
        above, least, below = around(key, middle)
        if above >= k:
            low = least
        else:
            greatest = below
    return low


@compiled
def sort_out(key: Floats, sides: Sides, k: int) -> None:
    """Choose the K arms of largest key from scratch; of equal keys the first."""
    # All keys above the K-th are in; the places they leave go to the first keys that equal it.
    kth = kth_largest(key, k)
    places = k
    for i in range(key.size):
        sides[i] = -np.inf if key[i] > kth else np.inf
        places -= key[i] > kth
    for i in range(key.size):
        if places > 0 and key[i] == kth:
            sides[i] = -np.inf
            places -= 1


@compiled
def settle(key: Floats, sides: Sides, k: int) -> tuple[float, float]:
    """Make ``sides`` the K arms of largest key; return the K-th and the next key."""
    swaps = 0
    least, greatest = ends(key, sides)
    while mend(key, sides, least, greatest):
        swaps += 1
        if swaps == MOST_SWAPS:
            sort_out(key, sides, k)
        least, greatest = ends(key, sides)
    return least, greatest
