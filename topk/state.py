"""All that a selector remembers, as arrays and numbers that go to JSON and back."""

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
    """

    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    verdict: NDArray[np.int8]
    memory: Memory = field(default_factory=dict)
    out: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

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
