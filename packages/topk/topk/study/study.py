"""A study: pairs of a candidate and an item to ask, and their results, kept in a file."""

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary, finalize

import numpy as np

from topk.problem import Problem, ProblemError
from topk.selector import UNLIMITED, Counts
from topk.water_filling import fill_level

from .counting import Counting
from .names import StudyError, key_of, label_of, number_things
from .result import Selected, describe_result
from .rule import choose_rule
from .storage import Result, Storage
from .told import NO_MORE, QUIET, read_results, read_value

Pair = tuple[Any, Any]
OPEN: WeakValueDictionary[Path, "Study"] = WeakValueDictionary()  # by file


class Study:
    """Choose the k best candidates, with as few results as the guarantee needs.

    Iterating gives batches of (candidate, item) pairs until the guarantee holds or nothing is left
    to ask; ``tell`` takes the results. No pair is handed out twice, except to a new loop or process
    those that were handed out before and not told. Threads may share a study.

    names      candidates: texts, numbers or functions
    items      what each is asked, in a random order of its own (the same for all with the algorithm
               same-questions); None: 0, 1, 2, … without end
    epsilon    how far the mean of the selected may be below that of the k best
    delta      the probability that it is further below
    path       file that keeps all told results, or None. It admits one process at a time; a second
               Study of this process closes the first
    algorithm  a name of ``SELECTORS`` or ``COMMON_ORDER_SELECTORS``; ``prices``, ``groups`` and
               ``options`` are its own
    accuracy   THIS_SET: that on the items. LIKE_THESE: on any such items. None: on the items,
               except of scores and of more than 1,000 items
    budget     most results in all; it may be changed when a file is opened again
    scores     True if results may lie between 0 and 1
    batch      most pairs in a batch; None: what the algorithm would ask next
    set_aside_after  failures in a row after which a candidate is asked no more
    retry      True: ask again for results that were missing when the file was last open
    seed       of the order of items

    Raises ProblemError for settings that are out of range, and StudyError for a file that is in
    use, belongs to another study, or cannot be opened.
    """

    def __init__(
        self,
        names: Iterable[Any],
        items: Iterable[Any] | None = None,
        *,
        k: int,
        epsilon: float = 0.05,
        delta: float = 0.05,
        path: str | PathLike[str] | None = None,
        algorithm: str = "certified",
        accuracy: str | None = None,
        budget: int | None = None,
        prices: Any = None,
        groups: Any = None,
        scores: bool = False,
        batch: int | None = 32,
        set_aside_after: int = 10,
        retry: bool = False,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.names, self.items = list(names), None if items is None else list(items)
        self.batch, self.ended, self.calls = batch, False, 0
        self._candidate_numbers = number_things(self.names, "candidate", path is not None)
        self._item_numbers = number_things(self.items or [], "item", path is not None)
        size = None if self.items is None else len(self.items)
        problem = Problem(len(self.names), k, epsilon, delta, budget)
        options |= {"prices": prices, "groups": groups}
        self._rule = choose_rule(algorithm, problem, size, accuracy, scores, options)
        self._counting = Counting(
            problem.n, size, seed, set_aside_after, self._rule.kind.common_order
        )
        self._told: dict[tuple[int, int], tuple[float | None, str]] = {}
        self._given_up: dict[int, str] = {}
        self._out: dict[tuple[int, int], None] = {}  # handed out, in this order
        self._unsaved: list[Result] = []
        self._lock, self._rng_seed = RLock(), seed
        self._place = np.random.default_rng(seed).permutation(problem.n)  # ties go by number
        self._restart()
        self._storage: Storage | None = self._open(path)
        self._load(retry)

    # -- the file

    def _open(self, path: str | PathLike[str] | None) -> Storage:
        file = None if path is None else Path(path).resolve()
        if file is not None and file in OPEN:
            OPEN[file].close()
        rule = self._rule
        storage = Storage(
            path,
            {
                "candidates": [label_of(name) for name in self.names],
                "items": [label_of(item) for item in self.items or []],
                **{name: getattr(rule.problem, name) for name in ("k", "epsilon", "delta")},
                **{name: getattr(rule, name) for name in ("algorithm", "scores", "options")},
                "seed": self._rng_seed,
            },
        )
        finalize(self, storage.close)  # the lock must not outlive the study
        if file is not None:
            OPEN[file] = self
        return storage

    def _load(self, retry: bool) -> None:
        storage = self._opened()
        end = storage.read_end()
        self.ended = end is not None
        if retry and not self.ended:
            storage.forget_absences(QUIET)
        self._given_up = storage.read_given_up()
        self._counting.failed[list(self._given_up)] = True
        for candidate, count in storage.read_dealt().items():
            items = self._counting.deal_items(candidate, count)
            self._out |= dict.fromkeys((candidate, item) for item in items)
        results = storage.read_results()
        self._keep(result for number, result in results if end is None or number <= end)
        self._count()
        self._keep(result for number, result in results if end is not None and number > end)

    def _opened(self) -> Storage:
        if self._storage is None:
            raise StudyError("The study is closed: open it again with its path.")
        return self._storage

    def close(self) -> None:
        """Release the file. Results can still be read."""
        with self._lock:
            if self._storage is not None:
                self._storage.close()
                self._storage = None

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- asking

    def __iter__(self) -> Iterator[list[Pair]]:
        waiting = self.outstanding
        while pairs := waiting[: self.batch] or self.ask(self.batch):
            waiting = waiting[len(pairs) :]
            yield pairs
        if self.outstanding and not self.ended:
            raise StudyError(
                f"{len(self._out)} pairs were handed out and not told, for example "
                f"{self._describe_pair(next(iter(self._out)))}: tell their results, or None if "
                "there are none."
            )

    def ask(self, most: int | None = None) -> list[Pair]:
        """Hand out at most so many pairs, besides the outstanding ones.

        Returns no pair if the study has ended, or waits for outstanding pairs. Raises StudyError if
        too many candidates were set aside.
        """
        with self._lock:
            if not self.ended:
                self._check_candidates_left()
                self._judge()
            if self.ended:
                return []
            counts, dealt = self._choose_counts(most), self._counting.dealt
            chosen = [(int(self._roster[arm]), int(counts[arm])) for arm in np.flatnonzero(counts)]
            self._opened().store_dealt((each, len(dealt[each]) + count) for each, count in chosen)
            pairs = [
                (each, item)
                for each, count in chosen
                for item in self._counting.deal_items(each, count)
            ]
            self._out |= dict.fromkeys(pairs)
            self._selector.wait_for(self._counting.outstanding[self._roster])
            return [self._name_pair(pair) for pair in pairs]

    def _choose_counts(self, most: int | None) -> Counts:
        """Choose (r,) how many items each candidate of the roster is to be asked."""
        pending, room = self._counting.outstanding[self._roster], self._counting.room[self._roster]
        budget = self._rule.budget
        rest = UNLIMITED if budget is None else max(0, budget - self.calls - len(self._out))
        slots = None if most is None else min(most, rest)
        rng = np.random.default_rng([self._rng_seed, len(self._told)])
        return fill_level(self._selector.ask(slots, pending, room, rng), rest)

    def _check_candidates_left(self) -> None:
        rest = len(self.names) - len(self.set_aside)
        if rest <= self._rule.problem.k:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self.set_aside.items())
            raise StudyError(
                f"Only {rest} candidates are left to choose {self._rule.problem.k} from: the "
                f"others failed too often ({reasons}). What was told is kept; retry=True with the "
                "same path asks again for what is missing."
            )

    def order_items(self, name: Any) -> list[Any]:
        """List all items in the random order in which this candidate meets them."""
        if self.items is None:
            raise StudyError("The study has items without end: they are in order.")
        order = self._counting.order_of(self._candidate_numbers[key_of(name)])
        return [self.items[item] for item in order]

    @property
    def outstanding(self) -> list[Pair]:
        """Pairs handed out and not told yet, of candidates that are not set aside."""
        with self._lock:
            failed = self._counting.failed
            return [self._name_pair(pair) for pair in self._out if not failed[pair[0]]]

    # -- telling

    def tell(self, results: Mapping[Pair, Any] | Iterable[Any]) -> None:
        """Keep results of pairs that were handed out; they are committed when the call returns.

        results  values by pair, or tuples (pair, value) or (candidate, item, value). A value is
                 True, False, a number from 0 to 1, or an absence: None, NaN or an exception, whose
                 text is kept as the reason. StopIteration: the candidate has no more items

        A repeated result changes nothing. Raises ProblemError that names the first pair with
        another value than before, without a valid one, or not handed out; all others are kept.
        """
        with self._lock:
            self._opened()
            errors: list[ProblemError] = []
            for pair, value in read_results(results):
                try:
                    self._take_result(pair, value)
                except ProblemError as error:
                    errors.append(error)
            if self._unsaved:
                self._opened().add_results(self._unsaved)
                self._keep(self._unsaved)
                self._unsaved = []
                if not self.ended:
                    self._count()
            if errors:
                raise errors[0]

    def give_up(self, name: Any, reason: str) -> None:
        """Set a candidate aside, for example one that cannot answer; the file keeps it."""
        with self._lock:
            number = self._number_candidate(name)
            self._opened().store_given_up(number, reason)
            self._given_up[number] = reason
            self._counting.failed[number] = True
            if not self.ended:
                self._count()

    def keeps_guarantee_without(self, names: Iterable[Any]) -> bool:
        """Tell if the guarantee would still hold if these candidates were given up."""
        leavers = [self._number_candidate(name) for name in names]
        roster = self._roster[~np.isin(self._roster, leavers)]
        return not self._rule.loses_guarantee(roster, self._counting.pulls)

    def take_back(self, name: Any) -> None:
        """Ask a candidate again that was set aside; its outstanding pairs are asked first."""
        with self._lock:
            number = self._number_candidate(name)
            self._opened().forget_given_up(number)
            self._given_up.pop(number, None)
            self._counting.failed[number] = False
            if not self.ended:
                self._restart()
                self._count()

    def _take_result(self, pair: Pair, value: Any) -> None:
        key = self._number_pair(pair)
        try:
            number, reason = read_value(value, self._rule.scores)
        except ProblemError as error:
            raise ProblemError(f"The result of {self._describe_pair(key)} {error}") from None
        if key not in self._told:
            if key not in self._out:
                raise ProblemError(f"The pair {self._describe_pair(key)} was not handed out.")
            self._told[key] = number, reason
            self._unsaved.append(Result(*key, number, reason))
        elif self._told[key][0] != number:
            raise ProblemError(
                f"The result of {self._describe_pair(key)} was told as {self._told[key][0]} before "
                f"and is {number} now: the first one is kept."
            )

    def _keep(self, results: Iterable[Result]) -> None:
        for candidate, item, value, reason in results:
            self._told[candidate, item] = value, reason
            self._out.pop((candidate, item), None)
            self.calls += reason not in QUIET
            self._counting.exhausted[candidate] |= reason == NO_MORE

    # -- counting

    def _count(self) -> None:
        """Tell the algorithm what comes next in order."""
        failed = np.flatnonzero(self._counting.failed)
        if len(self.names) - failed.size <= self._rule.problem.k:
            return  # ask refuses
        if self._take_values(failed)[1] or self._roster.size + failed.size > len(self.names):
            self._restart()
        while not self._counting.failed[self._roster].any():
            arms, values = self._take_values(self._roster, self._selector.takes())
            if not values:
                return
            self._selector.tell(arms, values)
        self._count()

    def _restart(self) -> None:
        """Count anew without the candidates set aside: the rounds of an algorithm may change."""
        counting = self._counting
        counting.restart()
        self._take_values(np.flatnonzero(counting.failed))
        self._roster = self._place[~counting.failed[self._place]]  # candidates by arm
        self._selector = self._rule.build(
            self._roster, counting.pulls, counting.rewards, counting.outstanding
        )

    def _take_values(self, candidates: Counts, most: Any = UNLIMITED) -> tuple[Counts, list[float]]:
        """Take the values that come next, and the places of their candidates among these."""
        limits = np.broadcast_to(most, candidates.shape).tolist()
        rows = [
            self._counting.take_values(candidate, self._told, limit)
            for candidate, limit in zip(candidates.tolist(), limits, strict=True)
        ]
        places = np.repeat(np.arange(candidates.size), [len(values) for values in rows])
        return places, [value for values in rows for value in values]

    def _judge(self) -> None:
        """End the study if the algorithm would stop, whatever the outstanding results are."""
        self._selector.wait_for(self._counting.outstanding[self._roster])
        storage = self._opened()
        if self._selector.stop():
            storage.store_end()
            self.ended = True

    # -- the result

    @property
    def best(self) -> Selected:
        """The selection that the results so far allow, and its guarantee."""
        with self._lock:
            missing = sum(
                value is None and reason != NO_MORE for value, reason in self._told.values()
            )
            facts = self.names, self.calls, missing, self.unreadable, self.set_aside
            return describe_result(self._rule, self._selector, self._roster, self._counting, *facts)

    @property
    def results(self) -> list[tuple[Any, Any, float | None]]:
        """All told results as (candidate, item, value); the value of an absence is None."""
        with self._lock:
            return [(*self._name_pair(pair), value) for pair, (value, _) in self._told.items()]

    @property
    def unreadable(self) -> dict[Any, dict[str, int]]:
        """How many results are missing, by candidate and reason."""
        with self._lock:
            missing: dict[Any, dict[str, int]] = {}
            for (candidate, _), (value, reason) in self._told.items():
                if value is None and reason not in QUIET:
                    counts = missing.setdefault(self.names[candidate], {})
                    counts[reason] = counts.get(reason, 0) + 1
            return missing

    @property
    def set_aside(self) -> dict[Any, str]:
        """The candidates given up, or that failed too often, with the most frequent reason."""
        failed = np.flatnonzero(self._counting.failed).tolist()
        reasons = self.unreadable if failed else {}
        return {
            self.names[number]: self._given_up.get(number)
            or max(reasons[self.names[number]], key=reasons[self.names[number]].__getitem__)
            for number in failed
        }

    # -- names and numbers

    def _name_pair(self, pair: tuple[int, int]) -> Pair:
        return self.names[pair[0]], pair[1] if self.items is None else self.items[pair[1]]

    def _number_pair(self, pair: Pair) -> tuple[int, int]:
        try:
            candidate, item = map(key_of, pair)
            number = self._candidate_numbers[candidate]
            return number, item if self.items is None else self._item_numbers[item]
        except (KeyError, TypeError, ValueError):
            raise ProblemError(f"{pair!r} is no pair of a candidate and an item.") from None

    def _number_candidate(self, name: Any) -> int:
        try:
            return self._candidate_numbers[key_of(name)]
        except KeyError:
            raise ProblemError(f"{name!r} is no candidate of the study.") from None

    def _describe_pair(self, key: tuple[int, int]) -> str:
        candidate, item = self._name_pair(key)
        return f"({label_of(candidate)}, {label_of(item)})"
