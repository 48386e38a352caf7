"""Helpers for the tests of topk: small problems, reward tables, and stepping a selector."""

import json
from math import comb

import numpy as np

from topk import SELECTORS, Problem, Selector, State, pack_memory

from .parameters import mostly_slow

NAMES = sorted(SELECTORS)
FIXED_BUDGET = [name for name in NAMES if SELECTORS[name].guarantee.fixed == "budget"]
FIXED_CONFIDENCE = [name for name in NAMES if name not in FIXED_BUDGET]
# One of each base class; the others ask and stop by the same code, and ``--full`` plays them.
FAMILIES = ["adaptive-top-k", "certified", "clucb-pac", "credible", "each-good", "gap-e"]
FAMILIES += ["good-e-bh", "lil-lucb", "lucb", "mark-all", "opt-mai-budget", "sar", "universal"]
MOST_ROUNDS = 20_000
# Error probabilities that a certificate is tried at. The largest is spent most and shows most.
DELTAS = mostly_slow((0.05, 0.2, 0.5), ordinary=(0.5,))


def places(name, k=3):
    return 1 if name == "lil-ucb" else k


def problem(name, n=8, k=3, epsilon=0.25, delta=0.1, budget=400):
    known = budget if "budget" in SELECTORS[name].needs else None
    return Problem(n, places(name, k), epsilon, delta, known)


def build(name, given=None, state=None, **options):
    return SELECTORS[name](problem(name) if given is None else given, state, **options)


def stored(state):
    """The state as the app keeps it: arrays as lists, and nothing that JSON does not know."""
    return json.loads(
        json.dumps(vars(state) | {"memory": pack_memory(state.memory)}, default=np.ndarray.tolist)
    )


def restored(kept):
    """Return a state from its stored form."""
    pulls, verdict = np.array(kept["pulls"], np.int64), np.array(kept["verdict"], np.int8)
    return State(pulls, np.array(kept["rewards"]), verdict, kept["memory"])


def again(selector: Selector) -> Selector:
    """The same selector, rebuilt from its state as it would be stored."""
    state = restored(stored(selector.state))
    return type(selector)(selector.problem, state, **selector.options)


def as_if_made(selector, pending):
    """The selector as it would be had these pulls been made: counts up, means unchanged."""
    other = again(selector)
    means = np.nan_to_num(other.means, nan=0.5)
    other.tell(np.arange(pending.size), means * pending, pending)
    return other


class Table:
    """Rewards drawn beforehand: the s-th answer of an arm is the same at any time."""

    def __init__(self, means, rng, noise=False):
        self.means, self.rng, self.noise = np.asarray(means, float), rng, noise
        self.rewards = np.zeros((self.means.size, 0))

    def next(self, pulls, counts):
        """Arms and rewards, one entry a pull, of the next ``counts`` pulls after ``pulls``."""
        while (pulls + counts).max() > self.rewards.shape[1]:
            shape = (self.means.size, max(64, self.rewards.shape[1]))
            drawn = self.rng.random(shape)
            fresh = (
                np.clip(self.means[:, None] + 0.2 * (drawn - 0.5), 0, 1)
                if self.noise
                else drawn < self.means[:, None]
            )
            self.rewards = np.hstack([self.rewards, fresh])
        arms = np.repeat(np.arange(counts.size), counts)
        order = np.concatenate([np.arange(p, p + c) for p, c in zip(pulls, counts, strict=True)])
        return arms, self.rewards[arms, order.astype(int)]


def steps(selector, table, slots=None, seed=0):
    """Play to the end, yielding the arms and rewards of each step before they are told."""
    for number in range(MOST_ROUNDS):
        if selector.stop():
            return
        counts = selector.ask(slots, rng=np.random.default_rng([seed, number]))
        arms, rewards = table.next(selector.state.pulls, counts)
        assert arms.size, "it neither stops nor asks"
        yield arms, rewards
        selector.tell(arms, rewards)
    raise AssertionError("it does not stop")


def finish(selector, table, slots=None, seed=0):
    for _ in steps(selector, table, slots, seed):
        pass
    return selector


def too_many(failures, runs, rate, level=1e-4):
    """Return True if so many failures have probability below ``level`` at this rate, exactly."""
    tail = sum(
        comb(runs, f) * rate**f * (1 - rate) ** (runs - f) for f in range(failures, runs + 1)
    )
    return tail < level


def answer_from(decks, selector, slots):
    """Give (n, questions) decks of answers in order, asked by so many slots, until it stops."""
    while not selector.stop():
        pulls = selector.state.pulls.copy()
        asked = selector.ask(slots)
        assert asked.sum() > 0
        for arm in np.repeat(np.arange(asked.size), asked):
            selector.tell([arm], [decks[arm, pulls[arm]]])
            pulls[arm] += 1
