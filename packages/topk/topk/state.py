"""The state of a selector, as arrays and numbers that go to JSON and back."""

import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Memory: TypeAlias = dict[str, Any]


class Verdict(IntEnum):
    REJECTED = -1
    UNDECIDED = 0
    ACCEPTED = 1


@dataclass
class State:
    """The tallies of all arms, and the further memory of an algorithm.

    pulls    int64 (n,), answers counted
    rewards  float64 (n,), their sum
    verdict  int8 (n,), a Verdict each; once decided it stays
    memory   JSON-ready numbers and lists, or numpy arrays, by name
    out      int64 (n,), outstanding answers; not stored, but set anew
    gone     float64 (3, g), rewards, pulls and outstanding answers of arms that were withdrawn
             after their first question; not stored, but set anew
    gone_groups  (g,) the labels of their groups, for an algorithm that takes groups
    """

    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    verdict: NDArray[np.int8]
    memory: Memory = field(default_factory=dict)
    out: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    gone: NDArray[np.float64] = field(default_factory=lambda: np.zeros((3, 0)))
    gone_groups: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not self.out.size:
            self.out = np.zeros_like(self.pulls)

    @classmethod
    def fresh(cls, n: int) -> "State":
        return cls(np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int8))


def pack_memory(memory: Memory) -> Memory:
    """Convert every numpy array in the memory to a list and every numpy number to Python's."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in memory.items()
    }


# The form for a database: an array is one text, which takes a tenth of the time of as many numbers.
# "array" is its type, "stored" the type in which it was written.

NARROW = (np.int8, np.int16, np.int32)


def compact_memory(memory: Memory) -> Memory:
    """Convert every numpy array (n,) in the memory to a text, which ``expand_memory`` reads."""
    arrays = {name: _array_to_text(a) for name, a in memory.items() if isinstance(a, np.ndarray)}
    return pack_memory(memory | arrays)


def expand_memory(memory: Memory) -> Memory:
    """Restore the memory that ``compact_memory`` got."""
    return {
        name: _array_from_text(value) if _is_text(value) else value
        for name, value in memory.items()
    }


def _array_to_text(array: NDArray[Any]) -> dict[str, str]:
    narrow = _narrow_array(array)
    text = b64encode(zlib.compress(narrow.tobytes(), level=1)).decode()
    return {"array": array.dtype.str, "stored": narrow.dtype.str, "zlib": text}


def _narrow_array(array: NDArray[Any]) -> NDArray[Any]:
    """Store small counts in a narrow type, even floats, if it restores exactly the same bits."""
    with np.errstate(invalid="ignore"):
        for kind in NARROW:
            small = array.astype(kind)
            if small.astype(array.dtype).tobytes() == array.tobytes():
                return small
    return array


def _is_text(value: Any) -> bool:
    return isinstance(value, dict) and "zlib" in value


def _array_from_text(text: dict[str, str]) -> NDArray[Any]:
    stored = zlib.decompress(b64decode(text["zlib"]))
    return np.frombuffer(stored, text["stored"]).astype(text["array"])
