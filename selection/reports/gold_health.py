"""How the gold itself does: which questions the good workers disagree with, or all get right.

It rests on all answers that were given, also those that wait to be counted or to be asked for.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from scipy.special import bdtr, betaincinv

from selection.grading.rules import is_match
from selection.models import (
    DELETED,
    Answer,
    Assignment,
    Question,
    QuestionSet,
    RecordedAnswer,
    Run,
    normalise_text,
)

from .model_fit import restore_selector
from .selection import name_tested

Z = 1.959964  # of the normal law, for 95 %
ENOUGH = 20  # answers before "nobody is ever wrong" says anything
FEW = 3  # of the likely best, before their disagreement says anything
CHUNK = 500
UNLIKELY = 0.05  # a probability below which a share right is no chance find

SELDOM = "right less often than the other questions"
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
    "right_lower",
    "right_upper",
    "given_by_all",
]


@dataclass(frozen=True)
class RightShare:
    """So many right of so many answers."""

    right: int
    answers: int

    @property
    def value(self) -> float | None:
        return self.right / self.answers if self.answers else None

    def exact(self) -> tuple[float, float]:
        """Return the interval of 95 % of Clopper and Pearson, Biometrika 26 (1934)."""
        n, right = self.answers, self.right
        lower = float(betaincinv(right, n - right + 1, 0.025)) if right else 0.0
        upper = float(betaincinv(right + 1, n - right, 0.975)) if right < n else 1.0
        return lower, upper

    @property
    def in_words(self) -> str:
        """As "0 of 3 right; 95 % interval 0–71 %"."""
        if not self.answers:
            return "no answers"
        low, high = (round(100 * bound) for bound in self.exact())
        return f"{self.right} of {self.answers} right; 95 % interval {low}–{high} %"

    def wilson(self) -> tuple[float, float]:
        """Wilson's interval of 95 % for the probability behind it. J. Am. Stat. Assoc. 22 (1927)"""
        n, p = self.answers, self.right / self.answers
        middle = p + Z * Z / (2 * n)
        half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


@dataclass(frozen=True)
class ShareDifference:
    """Share right of the likely best less that of the rest, with an interval of 95 %.

    The hybrid of two Wilson intervals: Newcombe, Statistics in Medicine 17 (1998), method 10.
    """

    value: float
    lower: float
    upper: float

    @classmethod
    def of(cls, best: RightShare, rest: RightShare) -> "ShareDifference | None":
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

    asked       times it was handed out; answers made elsewhere may be more
    every       of all who answered; best: of those who are selected by now; rest: of the others
    difference  how much oftener the best are right; None while one group has not answered
    flags       what is suspicious about it, in words
    other       the commonest answer that is not accepted; given: how many of the best give it,
                given_by_all: how many in all
    chance      the probability of so few right answers if the question were as the others
    """

    question: Question
    asked: int
    every: RightShare
    best: RightShare
    rest: RightShare
    difference: ShareDifference | None
    flags: tuple[str, ...]
    other: str
    given: int
    given_by_all: int = 0
    chance: float = 1.0

    @property
    def suggested(self) -> bool:
        """Whether the other answer is so common that accepting it is suggested: among all who gave
        it or an accepted one, or among the likely best of these."""
        return _outnumbers(self.given_by_all, self.every.right) or _outnumbers(
            self.given, self.best.right
        )

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
        rest = [one for one in question.choices if not is_match(wider, one, question.grading)]
        return self.possible and (not question.choices or bool(rest))

    @property
    def matters(self) -> tuple[bool, bool, float, int, int]:
        """To sort by: what is suspicious first, and among these what chance explains least."""
        quiet = not set(self.flags) - {NEVER_WRONG}
        wrong = self.best.answers - self.best.right
        number = self.question.number
        return self.question.retired is not None, quiet, self.chance, -wrong, number


def gold_health(question_set: QuestionSet, run: Run | None = None) -> list[GoldLine]:
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
    waiting = RecordedAnswer.objects.filter(candidate__run__in=runs)
    every = _tally(questions, [given], [waiting])
    parts = [best[start : start + CHUNK] for start in range(0, len(best), CHUNK)]
    of_best = _tally(
        questions,
        [given.filter(assignment__candidate__in=part) for part in parts],
        [waiting.filter(candidate__in=part) for part in parts],
    )
    total = RightShare(
        sum(tally.share.right for tally in every.values()),
        sum(tally.share.answers for tally in every.values()),
    )
    lines = [
        _question_line(question, asked.get(pk, 0), every[pk], of_best[pk], total)
        for pk, question in questions.items()
        if pk in asked or every[pk].share.answers
    ]
    return sorted(lines, key=lambda line: line.matters)


def _likely_best(run: Run) -> list[int]:
    """The candidates who are selected by now."""
    rows = list(run.candidates.order_by("arm"))
    if not rows:
        return []
    return [
        rows[arm].pk for arm in name_tested(run, rows, *restore_selector(run, rows)).arms.tolist()
    ]


@dataclass
class _Tally:
    """The answers to one question: how many are right, and how often each other one was given."""

    share: RightShare
    wrong: dict[str, int]
    written: dict[str, str]

    def add(self, response: str, right: int, answers: int) -> None:
        self.share = RightShare(self.share.right + right, self.share.answers + answers)
        if answers > right and response != DELETED:
            key = normalise_text(response)
            self.written.setdefault(key, response)
            self.wrong[key] += answers - right


def _tally(
    questions: dict[int, Question],
    given: Iterable[QuerySet[Answer]],
    waiting: Iterable[QuerySet[RecordedAnswer]],
) -> dict[int, _Tally]:
    """Return a tally of each question, by its id, of all the parts together."""
    tallies = {pk: _Tally(RightShare(0, 0), defaultdict(int), {}) for pk in questions}
    for part in given:
        rows = part.order_by().values_list("assignment__question", "response")
        counts = rows.annotate(won=Count("pk", filter=Q(right=True)), n=Count("pk"))
        for pk, response, won, n in counts:
            if pk in tallies:
                tallies[pk].add(response, won, n)
    for recorded in waiting:
        pairs = recorded.order_by().values_list("question", "response").annotate(n=Count("pk"))
        for pk, response, n in pairs:
            if pk in tallies:
                tallies[pk].add(response, n if questions[pk].grade(response) else 0, n)
    return tallies


def _question_line(
    question: Question, asked: int, every: _Tally, best: _Tally, total: RightShare
) -> GoldLine:
    right, n = every.share.right, every.share.answers
    rest = RightShare(right - best.share.right, n - best.share.answers)
    # With one right and one wrong answer more, so that it is never 0 or 1.
    elsewhere = (total.right - right + 1) / (total.answers - n + 2)
    chance = float(bdtr(right, n, elsewhere)) if n else 1.0
    difference = ShareDifference.of(best.share, rest)
    commonest = max(every.wrong, key=lambda key: (every.wrong[key], key), default="")
    return GoldLine(
        question,
        asked,
        every.share,
        best.share,
        rest,
        difference,
        _suspicions(every.share, best.share, difference, chance),
        every.written.get(commonest, ""),
        best.wrong.get(commonest, 0),
        every.wrong.get(commonest, 0),
        chance,
    )


def _outnumbers(other: int, accepted: int) -> bool:
    """Return whether the share of the other answer is above one half, with its whole interval."""
    return other > 0 and RightShare(other, other + accepted).exact()[0] > 0.5


def _suspicions(
    every: RightShare, best: RightShare, difference: ShareDifference | None, chance: float = 1.0
) -> tuple[str, ...]:
    flags = []
    if chance < UNLIKELY and 2 * every.right < every.answers:
        flags.append(SELDOM)
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
            _round_share(line.every.value),
            _round_share(line.best.value),
            line.best.answers,
            _round_share(line.rest.value),
            line.rest.answers,
            *map(_round_share, bounds),
            "; ".join(line.flags),
            line.other,
            line.given or "",
            question.retired.isoformat(" ", "seconds") if question.retired else "",
            question.kind,
            *(map(_round_share, line.every.exact()) if line.every.answers else ("", "")),
            line.given_by_all or "",
        ]


def _round_share(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)
