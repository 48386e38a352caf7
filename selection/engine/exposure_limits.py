"""Gold that only so many workers may be given: who gets which of what is left.

Everybody gets the first questions of their own order that they were not given yet and that are
left. So nothing is stored besides: the assignments say what was given, in this run and in others,
and a question that is used up is passed over. Where nothing is, it is the order of every run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from selection.models import Assignment, Question, QuestionSet, RecordedAnswer, Run, exposure
from topk import question_order

Counts = NDArray[np.int64]
AT_ONCE = 1_000_000  # places of decks that are looked at together


@dataclass
class ExposureLimits:
    """What is left of a run's limited question sets, by the number of the skill.

    left    (questions,) how many more workers each may be given to; ids are the questions'
    closed  (n,) by arm, how many questions it was not asked and cannot be any more
    given   by arm, ids of the questions that it gets in this step
    """

    run: Run
    left: dict[int, Counts]
    ids: dict[int, Counts]
    closed: Counts
    given: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> "ExposureLimits | None":
        """None where nothing is limited, or nobody is asked.

        The sets are held until the step is written down, so that runs that share one take turns.
        They are locked in order, after the run, by whoever locks both.
        """
        sets = {skill.question_set_id: skill for skill in run.skills}
        held = QuestionSet.objects.filter(pk__in=sets).select_for_update(no_key=True)
        limits = exposure.limits_of(held)
        if not limits or run.recorded_only:
            return None
        if not run.rationed:
            run.rationed = True
            Run.objects.filter(pk=run.pk).update(rationed=True)
        so_far, left, ids = exposure.count_met(limits), {}, {}
        for pk, most in limits.items():
            skill = sets[pk]
            rows = Question.objects.filter(question_set=pk, number__lt=skill.deck_size)
            own = list(rows.order_by("number").values_list("pk", flat=True))
            ids[skill.number] = np.array(own, np.int64)
            left[skill.number] = np.array([most - so_far.get(one, 0) for one in own], np.int64)
        return cls(run, left, ids, exposure.closed_to(run))

    def share(self, skill: Counts, counts: Counts) -> Counts:
        """(n,) how many of ``counts`` each gets, and which they are, into ``given``.

        skill  (n,) of each arm

        First come, first served, by arm: arms were dealt at random.
        """
        shared = counts.copy()
        for number in self.left:
            arms = np.flatnonzero((skill == number) & (counts > 0))
            known, waiting = self._met_questions(arms)
            for start, rows in self._deck_orders(number, arms):
                for arm, order in zip(arms[start:].tolist(), rows, strict=False):
                    own = min(int(counts[arm]), waiting.get(arm, 0))
                    fresh = int(counts[arm]) - own
                    self.given[arm] = self._take(number, order, known.get(arm, ()), fresh)
                    shared[arm] = own + len(self.given[arm])
        return shared

    def _met_questions(self, arms: Counts) -> tuple[dict[int, list[int]], dict[int, int]]:
        """By arm, the numbers of the questions that it had, met in another run, or answered
        elsewhere; and how many of the last wait: they are asked for first.
        """
        mine = {"candidate__run": self.run, "candidate__arm__in": arms.tolist()}
        columns = ("candidate__arm", "question__number")
        known: dict[int, list[int]] = {}
        waiting: dict[int, int] = {}
        for arm, number in Assignment.objects.filter(**mine).order_by().values_list(*columns):
            known.setdefault(arm, []).append(number)
        own = self.run.candidates.filter(arm__in=arms.tolist(), skipped__gt=0).order_by()
        for arm, met in own.values_list("arm", "met"):
            known.setdefault(arm, []).extend(met)
        if self.run.has_recorded:
            for arm, number in (
                RecordedAnswer.objects.askable().filter(**mine).values_list(*columns)
            ):
                known.setdefault(arm, []).append(number)
                waiting[arm] = waiting.get(arm, 0) + 1
        return known, waiting

    def _deck_orders(self, number: int, arms: Counts) -> Iterable[tuple[int, Counts]]:
        """Where a part of the arms begins, and (part, size) their decks: the numbers in order."""
        size = self.ids[number].size
        part = max(1, AT_ONCE // max(1, size))
        for start in range(0, arms.size, part):
            own = arms[start : start + part]
            places = np.tile(np.arange(size), own.size)
            found = question_order.questions_at(self.run.seed, np.repeat(own, size), places, size)
            yield start, found.reshape(own.size, size)

    def _take(self, number: int, order: Counts, known: Sequence[int], many: int) -> list[int]:
        left = self.left[number]
        open_ = left[order] > 0
        if known:
            open_ &= ~np.isin(order, known)
        chosen = order[open_][:many]
        left[chosen] -= 1
        own: list[int] = self.ids[number][chosen].tolist()
        return own
