"""All that a selector remembers, as arrays and numbers that go to JSON and back."""

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
    """One entry per arm, and what an algorithm must remember besides.

    pulls    int64 (n,), answers counted
    rewards  float64 (n,), their sum
    verdict  int8 (n,), a Verdict each; once decided it stays
    memory   JSON-ready numbers and lists, or numpy arrays, by name
    out      int64 (n,), answers asked and not counted yet; it is not remembered, but told anew
    gone     float64 (2, g), right answers and answers of workers who gave some and are not among
             the arms any more; not remembered either
    """

    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    verdict: NDArray[np.int8]
    memory: Memory = field(default_factory=dict)
    out: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    gone: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, 0)))

    def __post_init__(self) -> None:
        if not self.out.size:
            self.out = np.zeros_like(self.pulls)

    @classmethod
    def fresh(cls, n: int) -> "State":
        return cls(np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int8))


def pack(memory: Memory) -> Memory:
    """The memory with every numpy array as a list and every numpy number as Python's."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in memory.items()
    }


# As a database keeps it: an array is one text, which takes it a tenth of the time that as many
# numbers do. "array" is its type, "stored" that in which it was written down.

NARROW = (np.int8, np.int16, np.int32)


def compact(memory: Memory) -> Memory:
    """The memory with every numpy array (n,) as a text, from which ``expand`` makes the same."""
    arrays = {name: _text(a) for name, a in memory.items() if isinstance(a, np.ndarray)}
    return pack(memory | arrays)


def expand(memory: Memory) -> Memory:
    """The memory that ``compact`` was given; one that holds lists, as older ones do, stays so."""
    return {name: _array(value) if _is_text(value) else value for name, value in memory.items()}


def _text(array: NDArray[Any]) -> dict[str, str]:
    kept = _narrowed(array)
    written = b64encode(zlib.compress(kept.tobytes(), level=1)).decode()
    return {"array": array.dtype.str, "stored": kept.dtype.str, "zlib": written}


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Counts are small, also where they are kept as floats: what comes back is the same bits."""
    with np.errstate(invalid="ignore"):
        for kind in NARROW:
            small = array.astype(kind)
            if small.astype(array.dtype).tobytes() == array.tobytes():
                return small
    return array


def _is_text(value: Any) -> bool:
    return isinstance(value, dict) and "zlib" in value


def _array(text: dict[str, str]) -> NDArray[Any]:
    written = zlib.decompress(b64decode(text["zlib"]))
    return np.frombuffer(written, text["stored"]).astype(text["array"])
