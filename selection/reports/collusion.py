"""Signs that workers share answers, reported with their false-alarm rate and without a judgement.

``topk.collusion`` defines each sign and shows that it is wrong no more often than stated. Verdicts
do not depend on them.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import log
from typing import Annotated, Any

import numpy as np
from django.db.models import QuerySet, Sum

from selection.models import DELETED, Answer, Run, normalise_text
from selection.texts import count_noun
from selection.viewer_locale import format_fraction, format_percent
from topk.collusion import Pair, QuickWorker, compare, copying_power, too_quick

from .model_fit import GROWN, KEPT

FALSE_ALARMS = 0.01  # per look at one run, all kinds together
KINDS = ("identical", "speed")
TELLING_POWER = 0.8  # below it, finding nothing is no evidence
MOST = 100_000  # answers: read within a second
COLUMNS = ("candidate", "candidate__worker", "candidate__worker__key", "question", "shown")


@dataclass(frozen=True)
class CollusionSign:
    """A sign that workers share answers: identical or speed.

    candidates  the workers as rows of the run
    """

    kind: str
    workers: tuple[str, ...]
    candidates: tuple[int, ...]
    words: str
    chance: Annotated[
        float, "Of a sign at least as striking in the whole run if workers do not share."
    ]

    @property
    def people(self) -> list[tuple[str, int]]:
        return list(zip(self.workers, self.candidates, strict=True))

    @property
    def runs_per_false_alarm(self) -> int:
        """The sign comes by chance at most once in this many runs."""
        return max(1, int(min(1e9, 1 / max(self.chance, 1e-12))))


@dataclass(frozen=True)
class Power:
    """Probability of detecting collusion with the answers counted so far."""

    answers: Annotated[float, "Counted answers of a worker in a skill, median."]
    copying: Annotated[
        float, "Probability of reporting a worker that copies all answers of another."
    ]

    @property
    def words(self) -> str:
        caveat = " No signs therefore do not mean that workers share nothing."
        return (
            f"Detection rate with {count_noun(round(self.answers), 'answer')} per worker "
            f"(median): {_percent(self.copying)} for copying all answers of another worker. "
            "Workers who know the correct answers leave no sign."
            f"{caveat if self.copying < TELLING_POWER else ''}"
        )


@dataclass(frozen=True)
class CollusionSigns:
    """Signs, the most striking first. They have no effect on verdicts."""

    found: tuple[CollusionSign, ...] = ()
    answers: Annotated[int, "Number of counted answers examined."] = 0
    rate: Annotated[float, "False-alarm rate per check, at most."] = FALSE_ALARMS
    power: Power | None = None

    @property
    def cut(self) -> bool:
        return self.answers >= MOST


def find_signs(run: Run) -> CollusionSigns:
    sums = run.candidates.order_by().aggregate(answers=Sum("pulls"), right=Sum("rewards"))
    answers = sums["answers"] or 0
    if not answers:
        return CollusionSigns()
    active = run.status in {Run.Status.RUNNING, Run.Status.PAUSED}
    exactly = (answers, sums["right"], run.ended)
    return _compute_signs(run.pk, run.created, int(log(answers, GROWN)) if active else exactly)


@lru_cache(KEPT)
def _compute_signs(run_id: int, created: datetime, progress: Hashable) -> CollusionSigns:
    """Compute the signs of this run, cached.

    created, progress  identify the run behind this id, and its state: they are part of the cache
                       key
    """
    run = Run.objects.get(pk=run_id)
    rows = list(
        _list_counted_answers(run).values_list(
            *_prefixed_columns(COLUMNS), "right", "at", named=True
        )[:MOST]
    )
    rate = FALSE_ALARMS / len(KINDS)
    table = _AnswerTable(rows)
    pairs, copying = table.pairs(_wrong_answers(run), rate)
    signs = sorted([*pairs, *table.quick(rate)], key=lambda sign: sign.chance)
    power = Power(table.answers_per_worker, copying) if rows else None
    return CollusionSigns(tuple(signs), len(rows), power=power)


def _prefixed_columns(columns: Iterable[str]) -> list[str]:
    return [f"assignment__{column}" for column in columns]


def _list_counted_answers(run: Run) -> QuerySet[Answer]:
    answers = Answer.objects.filter(assignment__candidate__run=run, applied_in__isnull=False)
    return answers.filter(void=False, expired=False).order_by("pk")


def _wrong_answers(run: Run) -> list[tuple[int, int, str]]:
    columns = (*_prefixed_columns(("candidate__worker", "question")), "response")
    wrong = _list_counted_answers(run).filter(right=False).exclude(response=DELETED)
    return list(wrong.values_list(*columns)[:MOST])


class _AnswerTable:
    """The counted answers of a run as arrays (a,), and the candidates behind their numbers."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows
        self.candidate_of = {row.assignment__candidate__worker: row for row in reversed(rows)}

    def _build_sign(self, kind: str, ids: list[int], words: str, chance: float) -> CollusionSign:
        rows = [self.candidate_of[worker] for worker in ids]
        workers = tuple(row.assignment__candidate__worker__key for row in rows)
        return CollusionSign(
            kind, workers, tuple(row.assignment__candidate for row in rows), words, chance
        )

    @property
    def answers_per_worker(self) -> float:
        """Find the median over candidates with any answer."""
        return float(
            np.median(list(Counter(row.assignment__candidate for row in self.rows).values()))
        )

    def pairs(
        self, wrong: list[tuple[int, int, str]], rate: float
    ) -> tuple[list[CollusionSign], float]:
        """Find signs of two workers, in all their skills together, and the power to find them."""
        if not wrong:
            return [], 0.0
        workers, questions, responses = zip(*wrong, strict=True)
        number_of = {
            response: number for number, response in enumerate(map(normalise_text, responses))
        }
        answers = [number_of[normalise_text(response)] for response in responses]
        ids, numbers = np.unique(workers, return_inverse=True)
        pairs, comparable = compare(numbers, questions, answers, rate)
        signs = [
            self._build_sign("identical", [int(ids[i]) for i in members], sentence, chance)
            for members, sentence, chance in map(_describe_pair, pairs)
        ]
        correct = [row for row in self.rows if row.right]
        power = copying_power(
            [*workers, *(row.assignment__candidate__worker for row in correct)],
            [*questions, *(row.assignment__question for row in correct)],
            [*answers, *(-1 for _ in correct)],
            comparable,
            rate,
        )
        return signs, power

    def quick(self, rate: float) -> list[CollusionSign]:
        """Find signs of speed. Only answers that were shown here have a time."""
        timed = [row for row in self.rows if row.assignment__shown]
        workers = np.array([row.assignment__candidate__worker for row in timed], np.int64)
        ids, numbers = np.unique(workers, return_inverse=True)
        questions = np.array([row.assignment__question for row in timed], np.int64)
        took = [(row.at - row.assignment__shown).total_seconds() for row in timed]
        quick_workers = too_quick(numbers, np.unique(questions, return_inverse=True)[1], took, rate)
        return [
            self._build_sign(
                "speed", [int(ids[quick.worker])], _describe_quick(quick), quick.chance
            )
            for quick in quick_workers
        ]


def _percent(share: float) -> str:
    if share < 0.01:
        return f"less than {format_percent(0.01)}"
    return f"more than {format_percent(0.99)}" if share > 0.99 else f"about {format_percent(share)}"


def _describe_pair(pair: Pair) -> tuple[tuple[int, int], str, float]:
    sentence = (
        f"The same wrong answer to {pair.same} of {count_noun(pair.both, 'question')} that both "
        f"got wrong; about {format_fraction(pair.expected, 1)} are expected."
    )
    return (pair.one, pair.other), sentence, pair.chance


def _describe_quick(quick: QuickWorker) -> str:
    return (
        f"Takes about {format_percent(quick.pace)} of the other workers’ time for the same "
        f"questions, over {count_noun(quick.answers, 'answer')}."
    )
