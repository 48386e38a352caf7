"""A run: its ends, its figures, and the problem for its algorithm."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from django.db import models
from django.db.models import Count, Q, Sum
from numpy.typing import NDArray

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.errors import NotFound
from topk import THIS_SET, Goal, Problem, Selector, build_selector, roster

from .run_columns import RunColumns
from .skills import Skill
from .status import status_counts
from .teams import unique_name

SAMPLE_RUN = "Sample: best 6 of 24"  # its crowd is simulated


class RunQuerySet(models.QuerySet["Run"]):
    def running(self) -> "RunQuerySet":
        return self.filter(status=Run.Status.RUNNING)

    def locked(self, pk: int, wait: bool = True) -> "Run | None":
        """Lock the run against every other writer of it until the transaction ends.

        It is None if it does not exist, and without ``wait`` also if it is locked elsewhere.
        Answers may still be inserted meanwhile: their foreign key takes only a key-share lock,
        which does not conflict.
        """
        rows = self.select_for_update(no_key=True, of=("self",), skip_locked=not wait)
        return rows.filter(pk=pk).first()

    def lock(self, pk: int) -> "Run":
        if (run := self.locked(pk)) is None:
            raise NotFound("This run does not exist any more.")
        return run


class Run(RunColumns):
    """A selection: the best k of a pool, by one algorithm, on one question set."""

    REPLACED = "replace"  # kind of event: selected workers were replaced after its end

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            unique_name("run"),
            models.CheckConstraint(
                condition=Q(epsilon__gte=0, epsilon__lt=1), name="run_epsilon_in_range"
            ),
            models.CheckConstraint(
                condition=Q(delta__gt=0, delta__lt=1), name="run_delta_in_range"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        super().clean()
        self._follow_pool()

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._follow_pool()
        super().save(*args, **kwargs)

    def _follow_pool(self) -> None:
        """Set the team of a new run to its pool's team."""
        if self._state.adding and self.pool_id:
            self.team = self.pool.team

    @property
    def ended_by_guarantee(self) -> bool:
        return self.ending == Run.Ending.GUARANTEE

    @property
    def selector_class(self) -> type[Selector]:
        return ALGORITHMS[self.algorithm]

    @property
    def reopens(self) -> bool:
        """Tell if it may go on after its end, because a gold correction cost its guarantee.

        The verdicts at its end held for the earlier key; only if the algorithm's bounds hold at all
        times may it continue.
        """
        return self._has_lost_guarantee and self.affords_more

    @property
    def may_be_raised(self) -> bool:
        """Tell if it would go on after its end with a higher budget."""
        if self.budget is None or self.fixed_budget or self.status != Run.Status.ENDED:
            return False
        spent = self.ending == Run.Ending.BUDGET and self.regraded is None
        return spent or self._has_lost_guarantee

    @property
    def _has_lost_guarantee(self) -> bool:
        loss = (
            self.regraded is not None
            and not self.ended_by_guarantee
            and self.ending != Run.Ending.ROSTER
        )
        return loss and self.status == Run.Status.ENDED and self.holds_at_all_times

    @property
    def holds_at_all_times(self) -> bool:
        """Tell if workers may come back and the run go on after its end, as rounds may not."""
        return self.selector_class.open_roster or self.selector_class.common_order

    def tally(self) -> dict[str, int]:
        """Count the run's workers, answers and assignments, by name.

        ``arms``, ``counted`` answers, and assignments ``spent``: all that were handed out,
        including those whose question was retired later, except unseen ones; and the number of arms
        ``accepted``, ``rejected`` and ``not_tested``.
        """
        sums = self.candidates.aggregate(
            arms=Count("id"),
            **status_counts(),
            counted=Sum("pulls", default=0),
            asked=Sum("asked", default=0),
            void=Sum("void", default=0),
        )
        void = sums.pop("void") or self._void_waits()
        free = self.answers.closed_unseen().count() if void else 0
        return {**sums, "spent": sums["asked"] - free}

    @property
    def has_void(self) -> bool:
        """Tell if any answer is void; only then are the void ones of a million searched."""
        return self.candidates.filter(void__gt=0).exists() or self._void_waits()

    def _void_waits(self) -> bool:
        return self.answers.filter(applied_in=None, void=True).exists()

    def count_wasted(self) -> int:
        """Count the spent assignments to questions retired later."""
        return self.answers.wasted().count() if self.has_void else 0

    def count_spent(self) -> int:
        return self.tally()["spent"]

    @property
    def affords_more(self) -> bool:
        return self.budget is None or self.count_spent() < self.budget

    @property
    def fixed_budget(self) -> bool:
        """Tell if the algorithm spends its budget and has no other end."""
        return self.selector_class.guarantee.fixed == "budget"

    @property
    def finished(self) -> bool:
        return self.ended_by_guarantee or (self.fixed_budget and self.ending == Run.Ending.BUDGET)

    @property
    def guarantee_lost(self) -> bool:
        """Tell if changes of its roster cost the guarantee (absence.md of topk, section 3)."""
        if self.pk is None or not self.selector_class.roster_fixed:
            return False
        pulls = list(self.candidates.exclude(gone="").values_list("pulls", flat=True))
        events = self.events.filter(kind=roster.OPENED).values_list("step", flat=True)
        everybody = np.ones(len(pulls), bool)
        return roster.is_guarantee_lost(
            self.selector_class,
            everybody,
            np.array(pulls, np.int64),
            events if self.joined else (),
            not any(pulls) or self.covers_withdrawal,  # counts rows, so only if it matters
        )

    @cached_property
    def has_replaced(self) -> bool:
        """Return True if selected workers were replaced after its end."""
        return self.events.filter(kind=self.REPLACED).exists()

    @property
    def covers_withdrawal(self) -> bool:
        """Tell if its guarantee holds although workers are withdrawn after answers."""
        return self._start_of_roster().covers_withdrawal

    @property
    def judges_anew(self) -> bool:
        """Tell if its early end may be judged among the workers that answered alone."""
        return self._start_of_roster().judges_anew

    def _start_of_roster(self) -> roster.RunStart:
        ks, workers = [skill.k for skill in self.skills], self.candidates.count()
        limits, options = (self.epsilon, self.delta), self.effective_options()
        return roster.RunStart(self.selector_class, workers, ks, limits, options)

    @property
    def certified(self) -> bool:
        """Tell if it ended with a guarantee.

        Some algorithms have none, and some options and changes of the roster cost it.
        """
        if not self.ended_by_guarantee or self.guarantee_lost:
            return False
        options = self.hand_set | self._set_size()
        smallest = build_selector(self.algorithm, Problem(2, 1, 0.5), **options)
        return smallest.guarantee.goal is not Goal.NONE

    @property
    def hand_set(self) -> dict[str, Any]:
        names = {option.name for option in algorithms.algorithm_options(self.algorithm)}
        return {name: value for name, value in self.options.items() if name in names}

    @property
    def why_ended(self) -> str:
        """Return the reason of its end; ``reports.guarantee`` judges the guarantee."""
        if self.ended_by_guarantee:
            return "its rule to stop was met"
        if self.ending == Run.Ending.REGRADED and self.has_replaced:
            return "its rule to stop was met, before a selected worker was replaced"
        return self.get_ending_display()

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        """Reload the skills as well: the start fixes their numbers of questions."""
        super().refresh_from_db(*args, **kwargs)
        self.__dict__.pop("skills", None)

    @cached_property
    def skills(self) -> list[Skill]:
        """List the run's own question set as a skill, then the further ones."""
        first = Skill(
            run=self, question_set_id=self.question_set_id, k=self.k, deck_size=self.deck_size
        )
        if Run.question_set.is_cached(self):
            first.question_set = self.question_set
        several = self.pk is not None and self.selector_class.takes_skills
        return [first, *(self.further.select_related("question_set") if several else ())]

    @property
    def state(self) -> str:
        if self.status == Run.Status.RUNNING and self.enrolling:
            return "enrolling"
        if self.status == Run.Status.ENDED:
            return "archived" if self.archived else "ready for review"
        return self.status

    @property
    def several(self) -> bool:
        return len(self.skills) > 1

    @property
    def total(self) -> int:
        return sum(skill.k for skill in self.skills)

    def problem(self, workers: int, share: float = 1.0) -> Problem:
        """State the problem for the algorithm. Arms are numbered skill by skill.

        share  of δ that is left to the workers still to be chosen from
        """
        ks, multi = [skill.k for skill in self.skills], self.selector_class.several_skills
        delta = self.delta * share
        return roster.build_problem(ks, workers, multi, self.epsilon, delta, self.budget)

    def selector(self, workers: int) -> Selector:
        """Build the algorithm before its first question. Raises ProblemError if it cannot run."""
        everybody = np.tile(np.arange(workers), len(self.skills))
        options = self.effective_options() | self.kind_quota_option(everybody)
        return build_selector(self.algorithm, self.problem(workers), **options)

    def effective_options(self) -> dict[str, Any]:
        """Combine the options with those that the question set and the roster's history decide."""
        return {
            **self.options,
            **self._set_size(),
            **self._opening_option(),
            **self._mark_option(),
        }

    def _mark_option(self) -> dict[str, Any]:
        if self.pass_mark is None or not self.selector_class.takes_mark:
            return {}
        return {"mark": self.pass_mark}

    def _opening_option(self) -> dict[str, Any]:
        kinds = (roster.OPENED, roster.CLOSED)
        changes: Iterable[tuple[str, int]] = ()
        if self.pk and self.selector_class.weighs_start:
            events = self.events.filter(kind__in=kinds).order_by("id")
            changes = events.values_list("kind", "step")
        return roster.opening_option(self.selector_class, changes, self.enrolling, self.joined)

    def kind_quota_option(self, workers: NDArray[np.int64]) -> dict[str, Any]:
        """Pass K of each skill, as an option of algorithms that take any family of sets.

        workers  (n,) the worker of each arm, numbered from 0; arms are numbered skill by skill
        """
        ks, multi = [skill.k for skill in self.skills], self.selector_class.several_skills
        return roster.quotas_per_kind(ks, workers, multi, self.one_kind_each)

    def _set_size(self) -> dict[str, Any]:
        if self.options.get("accuracy") != THIS_SET:
            return {}
        size = self.deck_size
        if not size and self.question_set_id:
            size = self.question_set.questions.count()
        if self.selector_class.common_order and self.question_set_id:
            # Pairs of workers are compared on the questions that stay.
            deck = self.question_set.questions.filter(number__lt=size)
            size -= deck.exclude(retired=None).count()
        return {"questions": size or 1}

    def step_rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.steps])
