"""The order of questions: a seeded shuffle for each worker.

A shuffle is a keyed permutation (a balanced Feistel network over the next power of four, walked
until it lands inside), so any position of any worker is found in constant time and nothing is
stored. Luby, Rackoff: How to construct pseudorandom permutations from pseudorandom functions, SIAM
J. Comput. 17 (1988); Black, Rogaway: Ciphers with arbitrary finite domains, CT-RSA 2002.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDS = 8

Words = NDArray[np.uint64]


def questions_at(seed: int, arms: ArrayLike, positions: ArrayLike, size: int) -> NDArray[np.int64]:
    """Find the question numbers, 0 to size - 1, at these positions of these arms' decks.

    seed       the run's seed
    arms       (m,) arm numbers
    positions  (m,) each 0 to size - 1
    size       number of questions

    Raises ValueError for a position outside the deck.
    """
    arms = np.asarray(arms, np.uint64)
    values = np.asarray(positions, np.int64)
    if values.size and (values.min() < 0 or values.max() >= size):
        raise ValueError(f"A deck of {size} questions has positions 0 to {size - 1}.")
    keys = _cipher_keys(seed, arms)
    half = np.uint64(max(1, (int(size - 1).bit_length() + 1) // 2))
    walking = np.arange(values.size)
    numbers = values.astype(np.uint64)
    while walking.size:
        numbers[walking] = _permute_values(numbers[walking], keys[walking], half)
        walking = walking[numbers[walking] >= size]
    return numbers.astype(np.int64)


def decks_of(arms: NDArray[np.int64], common_order: bool) -> NDArray[np.int64]:
    """Find the (m,) arms of the decks that these meet: their own, or with a common order 0."""
    return np.zeros_like(arms) if common_order else arms


def questions_without(
    seed: int, arm: int, positions: NDArray[np.int64], size: int, met: Sequence[int]
) -> NDArray[np.int64]:
    """Find the question numbers at these positions of an arm's deck from which ``met`` are removed.

    positions  (m,) each 0 to size - 1 - len(met)
    """
    last = min(size, int(positions.max()) + 1 + len(met))
    order = questions_at(seed, np.full(last, arm), np.arange(last), size)
    questions: NDArray[np.int64] = order[~np.isin(order, met)][positions]
    return questions


def shuffle_ranks(seed: int, arms: ArrayLike, numbers: ArrayLike) -> NDArray[np.uint64]:
    """Draw a random key for each question of each arm; sorting by it shuffles part of a deck."""
    keys = _cipher_keys(seed, np.asarray(arms, np.uint64))
    return _mix_words(keys ^ _mix_words(np.asarray(numbers, np.uint64)))


def _cipher_keys(seed: int, arms: Words) -> Words:
    return _mix_words(_mix_words(np.full(arms.shape, seed, np.uint64)) + arms)


def _permute_values(values: Words, keys: Words, half: np.uint64) -> Words:
    mask = (np.uint64(1) << half) - np.uint64(1)
    high, low = values >> half, values & mask
    for number in range(ROUNDS):
        high, low = low, high ^ (_mix_words(keys + low + np.uint64(number << 40)) & mask)
    return (high << half) | low


def _mix_words(words: Words) -> Words:
    """Apply splitmix64's finaliser (Steele, Lea, Flood, OOPSLA 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
