"""How the gold itself does: which questions the good workers disagree with, or all get right."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from selection.models import DELETED, Answer, Assignment, Question, QuestionSet, Run, plain
from selection.models.grading import matches

from .fit import restored
from .named import name_tested

Z = 1.959964  # of the normal law, for 95 %
ENOUGH = 20  # answers before "nobody is ever wrong" says anything
FEW = 3  # of the likely best, before their disagreement says anything
CHUNK = 500

DISAGREE = "most of the likely best answer otherwise"
BACKWARDS = "the likely best are right less often than the rest"
NEVER_WRONG = "nobody is ever wrong"
COLUMNS = [
    "question",
    "accepted",
    "asked",
    "answered",
    "right",
    "right_best",
    "answered_best",
    "right_rest",
    "answered_rest",
    "difference",
    "lower",
    "upper",
    "flags",
    "other_answer",
    "given_by_best",
    "retired",
    "kind",
]


@dataclass(frozen=True)
class Share:
    """So many right of so many answers."""

    right: int
    answers: int

    @property
    def value(self) -> float | None:
        return self.right / self.answers if self.answers else None

    def wilson(self) -> tuple[float, float]:
        """Wilson's interval of 95 % for the probability behind it. J. Am. Stat. Assoc. 22 (1927)"""
        n, p = self.answers, self.right / self.answers
        middle = p + Z * Z / (2 * n)
        half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


@dataclass(frozen=True)
class Difference:
    """Share right of the likely best less that of the rest, with an interval of 95 %.

    The hybrid of two Wilson intervals: Newcombe, Statistics in Medicine 17 (1998), method 10.
    """

    value: float
    lower: float
    upper: float

    @classmethod
    def of(cls, best: Share, rest: Share) -> "Difference | None":
        if not best.answers or not rest.answers:
            return None
        one, other = best.right / best.answers, rest.right / rest.answers
        (low, high), (other_low, other_high) = best.wilson(), rest.wilson()
        value = one - other
        return cls(
            value,
            value - math.hypot(one - low, other_high - other),
            value + math.hypot(high - one, other - other_low),
        )


@dataclass(frozen=True)
class GoldLine:
    """How one question does. Answers that came too late are not among those counted.

    asked       times it was handed out
    every       of all who answered; best: of those who are selected by now; rest: of the others
    difference  how much oftener the best are right; None while one group has not answered
    flags       what is suspicious about it, in words
    other       the answer that the best give most often of those not accepted, and how many do
    """

    question: Question
    asked: int
    every: Share
    best: Share
    rest: Share
    difference: Difference | None
    flags: tuple[str, ...]
    other: str
    given: int

    @property
    def possible(self) -> bool:
        """Whether the other answer could be right: with choices, whether it is one of them."""
        return bool(self.other) and self.question.allows(self.other)

    @property
    def acceptable(self) -> bool:
        """Whether it could be accepted too, so that somebody could still be wrong."""
        question = self.question
        if question.kind in {"multiple", "order"}:
            return False  # what is accepted there is one answer
        wider = [*question.accepted, self.other]
        rest = [one for one in question.choices if not matches(wider, one, question.grading)]
        return self.possible and (not question.choices or bool(rest))

    @property
    def matters(self) -> tuple[bool, int, float, int]:
        """To sort by: what is suspicious first, and what costs good workers most."""
        rank = [DISAGREE, BACKWARDS, NEVER_WRONG]
        severity = min((rank.index(flag) for flag in self.flags), default=len(rank))
        weight = self.best.answers - self.best.right
        if severity == rank.index(NEVER_WRONG):
            weight = self.every.answers
        return self.question.retired is not None, severity, -weight, self.question.number


def gold(question_set: QuestionSet, run: Run | None = None) -> list[GoldLine]:
    """A line for each question that was asked, what matters most first.

    run  only what was asked in this one
    """
    begun = Run.objects.exclude(status=Run.Status.DRAFT)
    own = Q(question_set=question_set) | Q(further__question_set=question_set)
    runs = [run] if run else list(begun.filter(own).distinct())
    best = [pk for one in runs for pk in _likely_best(one)]
    questions = {question.pk: question for question in question_set.questions.all()}
    dealt = Assignment.objects.filter(candidate__run__in=runs).order_by()
    asked = dict(dealt.values_list("question").annotate(count=Count("pk")))
    # Without a response are those that lapsed and those of questions that were retired.
    given = Answer.objects.filter(assignment__candidate__run__in=runs).exclude(response="")
    every = _shares([given])
    of_best = [
        given.filter(assignment__candidate__in=best[start : start + CHUNK])
        for start in range(0, len(best), CHUNK)
    ]
    right, others = _shares(of_best), _others(of_best)
    nothing = Share(0, 0)
    lines = [
        _line(
            questions[pk],
            count,
            every.get(pk, nothing),
            right.get(pk, nothing),
            others.get(pk, ("", 0)),
        )
        for pk, count in asked.items()
        if pk in questions
    ]
    return sorted(lines, key=lambda line: line.matters)


def _likely_best(run: Run) -> list[int]:
    """The candidates who are selected by now."""
    rows = list(run.candidates.order_by("arm"))
    if not rows:
        return []
    return [rows[arm].pk for arm in name_tested(run, rows, *restored(run, rows)).arms.tolist()]


def _shares(parts: Iterable[QuerySet[Answer]]) -> dict[int, Share]:
    """By question, of all the parts together."""
    found: dict[int, Share] = {}
    for part in parts:
        rows = part.order_by().values_list("assignment__question")
        for pk, won, n in rows.annotate(won=Count("pk", filter=Q(right=True)), n=Count("pk")):
            so_far = found.get(pk, Share(0, 0))
            found[pk] = Share(so_far.right + won, so_far.answers + n)
    return found


def _others(parts: Iterable[QuerySet[Answer]]) -> dict[int, tuple[str, int]]:
    """By question, the commonest answer that is not accepted, and how many gave it."""
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    written: dict[tuple[int, str], str] = {}
    for part in parts:
        wrong = part.filter(right=False).exclude(response=DELETED).order_by()
        rows = wrong.values_list("assignment__question", "response")
        for pk, response, n in rows.annotate(n=Count("pk")):
            counts[pk][plain(response)] += n
            written.setdefault((pk, plain(response)), response)
    return {
        pk: (written[pk, said], n)
        for pk, own in counts.items()
        for said, n in [max(own.items(), key=lambda pair: (pair[1], pair[0]))]
    }


def _line(
    question: Question, asked: int, every: Share, best: Share, other: tuple[str, int]
) -> GoldLine:
    rest = Share(every.right - best.right, every.answers - best.answers)
    difference = Difference.of(best, rest)
    flags = _flags(every, best, difference)
    return GoldLine(question, asked, every, best, rest, difference, flags, *other)


def _flags(every: Share, best: Share, difference: Difference | None) -> tuple[str, ...]:
    flags = []
    if best.answers >= FEW and 2 * best.right < best.answers:
        flags.append(DISAGREE)
    if difference is not None and difference.upper < 0:
        flags.append(BACKWARDS)
    if every.answers >= ENOUGH and every.right == every.answers:
        flags.append(NEVER_WRONG)
    return tuple(flags)


def gold_rows(lines: Sequence[GoldLine]) -> Iterable[list[Any]]:
    """For a file, in the order of COLUMNS."""
    for line in lines:
        question, apart = line.question, line.difference
        bounds = (apart.value, apart.lower, apart.upper) if apart else (None, None, None)
        yield [
            question.key,
            " | ".join(question.accepted),
            line.asked,
            line.every.answers,
            _rounded(line.every.value),
            _rounded(line.best.value),
            line.best.answers,
            _rounded(line.rest.value),
            line.rest.answers,
            *map(_rounded, bounds),
            "; ".join(line.flags),
            line.other,
            line.given or "",
            question.retired.isoformat(" ", "seconds") if question.retired else "",
            question.kind,
        ]


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)
