"""Exposure limits: gold questions that only so many workers may see, shared out in each step.

A worker gets the first questions of their own order that they have not seen and that have uses
left. Nothing is stored besides: the assignments show which questions were given, in this run and in
others, and a question that is used up is passed over. Without limits it is the order of every run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from selection.models import Assignment, Question, QuestionSet, RecordedAnswer, Run, exposure
from topk import question_order

Counts = NDArray[np.int64]
AT_ONCE = 1_000_000  # places of decks that are computed together


@dataclass
class ExposureLimits:
    """Remaining uses of a run's limited questions, by the number of the skill.

    remaining  (questions,) how many more workers may get each; ids are the questions'
    closed     (n,) by arm, the number of questions that it was not asked and can no longer be
    dealt      by arm, ids of the questions that it gets in this step
    """

    run: Run
    remaining: dict[int, Counts]
    ids: dict[int, Counts]
    closed: Counts
    dealt: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def load(cls, run: Run) -> "ExposureLimits | None":
        """Load the limits of a run, or None if it has none or asks no workers.

        The sets stay locked until the step is saved, so that runs sharing one take turns. They are
        locked in order of id and after the run, by all code that locks both.
        """
        sets = {skill.question_set_id: skill for skill in run.skills}
        locked = QuestionSet.objects.filter(pk__in=sets).select_for_update(no_key=True)
        limits = exposure.limits_of(locked)
        if not limits or run.recorded_only:
            return None
        if not run.rationed:
            run.rationed = True
            Run.objects.filter(pk=run.pk).update(rationed=True)
        uses, remaining, ids = exposure.count_met(limits), {}, {}
        for pk, most in limits.items():
            skill = sets[pk]
            rows = Question.objects.filter(question_set=pk, number__lt=skill.deck_size)
            pks = list(rows.order_by("number").values_list("pk", flat=True))
            ids[skill.number] = np.array(pks, np.int64)
            unused = [most - uses.get(question, 0) for question in pks]
            remaining[skill.number] = np.array(unused, np.int64)
        return cls(run, remaining, ids, exposure.closed_to(run))

    def share(self, skill: Counts, counts: Counts) -> Counts:
        """Decide (n,) how many of ``counts`` each arm gets; ``dealt`` gets the questions.

        skill  (n,) of each arm

        First come, first served, by arm: arms were dealt at random.
        """
        shared = counts.copy()
        for number in self.remaining:
            arms = np.flatnonzero((skill == number) & (counts > 0))
            met, waiting = self._met_questions(arms)
            for start, rows in self._deck_orders(number, arms):
                for arm, order in zip(arms[start:].tolist(), rows, strict=False):
                    recorded = min(int(counts[arm]), waiting.get(arm, 0))
                    fresh = int(counts[arm]) - recorded
                    self.dealt[arm] = self._take(number, order, met.get(arm, ()), fresh)
                    shared[arm] = recorded + len(self.dealt[arm])
        return shared

    def _met_questions(self, arms: Counts) -> tuple[dict[int, list[int]], dict[int, int]]:
        """Find, by arm, the questions it cannot get, and count its recorded answers.

        The former are assigned already, met in another run or answered elsewhere; the latter
        wait, and are asked for first.
        """
        filters = {"candidate__run": self.run, "candidate__arm__in": arms.tolist()}
        columns = ("candidate__arm", "question__number")
        met_numbers: dict[int, list[int]] = {}
        waiting: dict[int, int] = {}
        for arm, number in Assignment.objects.filter(**filters).order_by().values_list(*columns):
            met_numbers.setdefault(arm, []).append(number)
        skipping = self.run.candidates.filter(arm__in=arms.tolist(), skipped__gt=0).order_by()
        for arm, met in skipping.values_list("arm", "met"):
            met_numbers.setdefault(arm, []).extend(met)
        if self.run.has_recorded:
            recorded = RecordedAnswer.objects.askable().filter(**filters)
            for arm, number in recorded.values_list(*columns):
                met_numbers.setdefault(arm, []).append(number)
                waiting[arm] = waiting.get(arm, 0) + 1
        return met_numbers, waiting

    def _deck_orders(self, number: int, arms: Counts) -> Iterable[tuple[int, Counts]]:
        """Yield the first index of each part of the arms, and (part, size) their decks in order."""
        size = self.ids[number].size
        part = max(1, AT_ONCE // max(1, size))
        for start in range(0, arms.size, part):
            chunk = arms[start : start + part]
            places = np.tile(np.arange(size), chunk.size)
            numbers = question_order.questions_at(
                self.run.seed, np.repeat(chunk, size), places, size
            )
            yield start, numbers.reshape(chunk.size, size)

    def _take(self, number: int, order: Counts, met: Sequence[int], many: int) -> list[int]:
        remaining = self.remaining[number]
        open_ = remaining[order] > 0
        if met:
            open_ &= ~np.isin(order, met)
        chosen = order[open_][:many]
        remaining[chosen] -= 1
        ids: list[int] = self.ids[number][chosen].tolist()
        return ids
