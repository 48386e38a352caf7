"""Fast replay of a recorded crowd in arrays, without a database, with the engine's results.

For the same seed all is the same: the workers that the engine would ask, the recorded answers it
would get, and its result. A replay of that seed therefore shows how any of these plays came about.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from selection.engine.best_guarantee import remember_guarantee
from selection.facts import Facts
from selection.models import Run
from selection.models.roster import Roster
from selection.reports import order_doubt
from selection.reports.selection import selected_by
from selection.simulation.crowd import number_of
from topk import BUDGET_SPENT, THIS_SET, Goal, Selector, question_order
from topk.selected_arms import SelectedArms

from .crowd import RecordedCrowd
from .settings import ReplaySettings, compute_regrets, most_draws, run_settings, slots_of

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
UNLIMITED = int(np.iinfo(np.int64).max)
ROUNDING = 1e-9


@dataclass(frozen=True)
class RecordedAnswers:
    """A crowd's answers as arrays: (a,) worker, question and grade, in file order.

    Workers are numbered as the file names them, questions as the gold file does.
    """

    crowd: RecordedCrowd

    @cached_property
    def _arm_rows(self) -> tuple[Counts, Counts, Floats]:
        worker = {key: i for i, key in enumerate(self.crowd.workers)}
        number = {key: i for i, key in enumerate(self.crowd.gold)}
        rows = [(worker[row.worker], number[row.question]) for row in self.crowd.answers]
        workers, questions = np.array(rows, np.int64).T
        return workers, questions, np.array(self.crowd.grades)

    @cached_property
    def numbers(self) -> NDArray[np.uint64]:
        return np.array([number_of(key) for key in self.crowd.workers], np.uint64)

    def draw_without_replacement(self, seed: int, place: Counts) -> "DrawnAnswers":
        """Draw each recorded answer once, in the order in which a run of this seed asks for it.

        place  (n,) the arm of each worker
        """
        workers, questions, grades = self._arm_rows
        arms = place[workers]
        order = np.lexsort((question_order.shuffle_ranks(seed, arms, questions), arms))
        return DrawnAnswers(grades[order], np.bincount(arms, minlength=place.size))

    def draw_with_replacement(self, seed: int, place: Counts, most: int) -> "DrawnAnswers":
        """Draw ``most`` times from each worker's recorded answers."""
        workers, _, grades = self._arm_rows
        arms = place[workers]
        order = np.argsort(arms, kind="stable")
        sizes, numbers = np.bincount(arms, minlength=place.size), np.empty_like(self.numbers)
        numbers[place] = self.numbers
        return RedrawnAnswers(grades[order], sizes, seed, numbers, most)


@dataclass
class DrawnAnswers:
    """Answers of the arms: ``right`` is (a,), arm by arm; ``sizes`` (n,) counts them per arm."""

    right: Floats
    sizes: Counts

    def __post_init__(self) -> None:
        self.first = np.cumsum(self.sizes) - self.sizes

    @property
    def room(self) -> Counts:
        return self.sizes

    def grade(self, arms: Counts, positions: Counts) -> Floats:
        graded: Floats = self.right[self.first[arms] + positions]
        return graded


@dataclass
class RedrawnAnswers(DrawnAnswers):
    seed: int
    numbers: NDArray[np.uint64]
    most: int

    @property
    def room(self) -> Counts:
        return np.full_like(self.sizes, self.most)

    def grade(self, arms: Counts, positions: Counts) -> Floats:
        keys = question_order.shuffle_ranks(self.seed, self.numbers[arms], positions)
        drawn: Counts = (keys % self.sizes[arms].astype(np.uint64)).astype(np.int64)
        return super().grade(arms, drawn)


def play_record(record: RecordedAnswers, settings: ReplaySettings) -> Facts:
    """Play these settings on this crowd to the end; ``check_replay`` validates them.

    ``ending`` is guarantee, budget or questions, or empty if it waits for answers that never come.
    ``epsilon`` is that of the guarantee at the end, None without one; ``true`` tells if it holds by
    the recorded accuracies. ``counts`` has the answers of each worker, in the crowd's order.
    """
    crowd, n = record.crowd, len(record.crowd.workers)
    run = Run(**run_settings(settings), deck_size=len(crowd.gold), slots=slots_of(crowd, settings))
    place = np.random.default_rng(settings.seed).permutation(n)
    answers = (
        record.draw_with_replacement(settings.seed, place, most_draws(settings, n))
        if settings.redraw
        else record.draw_without_replacement(settings.seed, place)
    )
    playing = SimulatedRun(run, run.selector(n), answers)
    playing.play()
    selected = selected_by(run, playing.roster, playing.selector)
    chosen = [crowd.workers[i] for i in np.argsort(place)[selected.arms].tolist()]
    regrets, (epsilon, goal) = (
        compute_regrets(crowd.accuracy, chosen),
        _final_guarantee(run, playing.selector, selected),
    )
    loss = regrets.explore_k if goal is Goal.EXPLORE_K else regrets.aggregate
    true = None if epsilon is None else loss <= epsilon + ROUNDING
    doubts = playing.selector.warnings()
    if run.options.get("accuracy") == THIS_SET and (answers.sizes < len(crowd.gold)).any():
        doubts = (*doubts, order_doubt(len(crowd.gold)))
    counts = tuple(playing.told[place].tolist())
    return Facts(
        seed=run.seed,
        answers=sum(counts),
        ending=run.ending,
        epsilon=epsilon,
        regrets=regrets,
        true=true,
        doubts=doubts,
        selected=tuple(chosen),
        counts=counts,
    )


def _final_guarantee(
    run: Run, selector: Selector, selected: SelectedArms
) -> tuple[float | None, Goal]:
    """Compute the epsilon guaranteed at the end, as a run states it, and the regret it bounds."""
    if run.status == Run.Status.ENDED and not run.finished:
        return selected.rounded_epsilon, (selected.guarantee or selector.guarantee).goal
    goal = selector.guarantee.goal
    if not run.certified:
        return None, goal
    return (0.0 if goal is Goal.EXACT else run.epsilon), goal


@dataclass
class SimulatedRun:
    """A run that is not stored, with its columns set as the engine would set them.

    asked, told  (n,) by arm, answers asked for and counted
    """

    run: Run
    selector: Selector
    hand: DrawnAnswers

    def __post_init__(self) -> None:
        n = self.selector.problem.n
        self.asked, self.told = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.roster = Roster.build(self.run, self.asked, np.zeros(n, bool), self.told)

    def play(self) -> None:
        """Play until the run ends. A turn is a step of the engine, which counts before it asks."""
        run = self.run
        while run.status != Run.Status.ENDED:
            progress = self._tell_ready()
            reasons = self.selector.stop()
            counts = np.zeros_like(self.asked) if reasons else self._ask()
            ending = "".join(reasons[-1:]) if reasons or counts.any() else self._reason_stuck()
            if not (progress or counts.any() or ending):
                return  # it waits for answers that never come
            run.steps += 1
            remember_guarantee(run, self.selector, self.selector.standing(), self.roster)
            self.asked = self.asked + counts
            if ending:
                run.ending, run.status = ending, Run.Status.ENDED

    def _tell_ready(self) -> bool:
        """Count the answers that the algorithm takes now. Return True if there were any."""
        progress = False
        while (ready := np.minimum(self.asked - self.told, self.selector.takes())).any():
            arms = np.repeat(np.arange(ready.size), ready)
            turn = np.arange(arms.size) - np.repeat(np.cumsum(ready) - ready, ready)
            self.selector.tell(arms, self.hand.grade(arms, self.told[arms] + turn))
            self.told = self.told + ready
            progress = True
        return progress

    def _ask(self) -> Counts:
        rest = self.hand.room - self.asked
        return self.selector.ask(
            slots=min(self.run.slots, self._budget_left()),
            pending=self.asked - self.told,
            room=np.minimum(rest, self.run.slots),
            rng=self.run.step_rng(),
        )

    def _reason_stuck(self) -> str:
        if (self.asked > self.told).any():
            return ""
        if self._budget_left() <= 0:
            return BUDGET_SPENT
        room = self.hand.room - self.asked
        askable = self.selector.ask(room=room, rng=self.run.step_rng()).any()
        return "" if askable else Run.Ending.QUESTIONS.value

    def _budget_left(self) -> int:
        if self.run.budget is None:
            return UNLIMITED
        return self.run.budget - int(self.asked.sum())
