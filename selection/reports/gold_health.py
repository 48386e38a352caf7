"""Quality of the gold: questions that good workers get wrong, and questions without a wrong answer.

It rests on all given answers, including those that wait to be counted or to be asked for.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import scipy
from django.db.models import Count, Q, QuerySet

from selection.facts import Facts
from selection.grading.recognition import find_notation, recognise_comparison
from selection.grading.rules import describe_grading, is_match
from selection.models import (
    DELETED,
    Answer,
    Assignment,
    Question,
    QuestionSet,
    RecordedAnswer,
    Run,
    exposure,
    normalise_text,
)

from .model_fit import restore_selector
from .right_shares import RightShare, ShareDifference
from .selection import name_tested

ENOUGH = 20  # answers that NEVER_WRONG needs at least
FEW = 3  # answers of the likely best that DISAGREE needs at least
CHUNK = 500
UNLIKELY = 0.05  # a share of right answers less probable than this is reported

SELDOM = "right less often than the other questions"
DISAGREE = "most of the likely best answer otherwise"
BACKWARDS = "the likely best are right less often than the rest"
NEVER_WRONG = "nobody is ever wrong"
FORM = "answers differ from the key in form only: compare them as "


@dataclass(frozen=True)
class GoldLine:
    """Statistics of one question. Answers that came too late are not counted.

    asked       times it was handed out; answers made elsewhere may be more
    every       share right of all; best: of the currently selected workers; rest: of the others
    difference  of best less rest; None if one group has not answered
    flags       suspicions, in words
    other       the commonest answer that is not accepted; given: how many of the best give it,
                given_by_all: how many in all
    chance      the probability of so few right answers if the question were like the others
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
        """Tell if the other answer is common enough to suggest accepting it.

        That is among all that gave it or an accepted one, or among the likely best of these.
        """
        return _outnumbers(self.given_by_all, self.every.right) or _outnumbers(
            self.given, self.best.right
        )

    @property
    def possible(self) -> bool:
        return bool(self.other) and self.question.allows(self.other)

    @property
    def acceptable(self) -> bool:
        """True if it could be accepted as well and a wrong answer would still be possible."""
        question = self.question
        if question.kind in {"multiple", "order"}:
            return False  # accepted has the parts of a single answer there
        wider = [*question.accepted, self.other]
        rest = [
            choice
            for choice in question.choices
            if not is_match(wider, choice, question.grading, question.choices)
        ]
        return self.possible and (not question.choices or bool(rest))

    @property
    def matters(self) -> tuple[bool, bool, float, int, int]:
        """Sort key: suspicious questions first, and among these the least likely by chance."""
        quiet = not set(self.flags) - {NEVER_WRONG}
        wrong = self.best.answers - self.best.right
        number = self.question.number
        return self.question.retired is not None, quiet, self.chance, -wrong, number


def gold_health(question_set: QuestionSet, run: Run | None = None) -> list[GoldLine]:
    """Describe each question that was asked, the most suspicious first.

    run  only the assignments of this run
    """
    started = Run.objects.exclude(status=Run.Status.DRAFT)
    of_set = Q(question_set=question_set) | Q(further__question_set=question_set)
    runs = [run] if run else list(started.filter(of_set).distinct())
    best = [pk for one in runs for pk in _likely_best(one)]
    questions = {question.pk: question for question in question_set.questions.all()}
    dealt = Assignment.objects.filter(candidate__run__in=runs).order_by()
    question_counts = dict(dealt.values_list("question").annotate(count=Count("pk")))
    # Lapsed answers, and those of questions retired while open, have no response.
    answers = Answer.objects.filter(assignment__candidate__run__in=runs).exclude(response="")
    waiting = RecordedAnswer.objects.filter(candidate__run__in=runs)
    all_tallies = _tally(questions, [answers], [waiting])
    parts = [best[start : start + CHUNK] for start in range(0, len(best), CHUNK)]
    of_best = _tally(
        questions,
        [answers.filter(assignment__candidate__in=part) for part in parts],
        [waiting.filter(candidate__in=part) for part in parts],
    )
    total = RightShare(
        sum(tally.share.right for tally in all_tallies.values()),
        sum(tally.share.answers for tally in all_tallies.values()),
    )
    lines = [
        _question_line(question, question_counts.get(pk, 0), all_tallies[pk], of_best[pk], total)
        for pk, question in questions.items()
        if pk in question_counts or all_tallies[pk].share.answers
    ]
    return sorted(lines, key=lambda line: line.matters)


def _likely_best(run: Run) -> list[int]:
    rows = list(run.candidates.order_by("arm"))
    if not rows:
        return []
    return [
        rows[arm].pk for arm in name_tested(run, rows, *restore_selector(run, rows)).arms.tolist()
    ]


@dataclass
class _Tally:
    """The answers to one question: the share right, and the count of each wrong one."""

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
    answer_parts: Iterable[QuerySet[Answer]],
    recorded_parts: Iterable[QuerySet[RecordedAnswer]],
) -> dict[int, _Tally]:
    tallies = {pk: _Tally(RightShare(0, 0), defaultdict(int), {}) for pk in questions}
    for part in answer_parts:
        rows = part.order_by().values_list("assignment__question", "response")
        counts = rows.annotate(won=Count("pk", filter=Q(right=True)), n=Count("pk"))
        for pk, response, won, n in counts:
            if pk in tallies:
                tallies[pk].add(response, won, n)
    for recorded in recorded_parts:
        pairs = recorded.order_by().values_list("question", "response").annotate(n=Count("pk"))
        for pk, response, n in pairs:
            if pk in tallies:
                tallies[pk].add(response, n if questions[pk].grade(response) else 0, n)
    return tallies


def _question_line(
    question: Question, asked: int, overall: _Tally, best: _Tally, total: RightShare
) -> GoldLine:
    correct, n = overall.share.right, overall.share.answers
    rest = RightShare(correct - best.share.right, n - best.share.answers)
    # One right and one wrong answer are added, so that it is never 0 or 1.
    elsewhere = (total.right - correct + 1) / (total.answers - n + 2)
    chance = float(scipy.special.bdtr(correct, n, elsewhere)) if n else 1.0
    difference = ShareDifference.compare(best.share, rest)
    flags = _suspicions(overall.share, best.share, difference, chance)
    commonest = max(overall.wrong, key=lambda key: (overall.wrong[key], key), default="")
    return GoldLine(
        question,
        asked,
        overall.share,
        best.share,
        rest,
        difference,
        (*flags, *_find_other_forms(question, overall)),
        overall.written.get(commonest, ""),
        best.wrong.get(commonest, 0),
        overall.wrong.get(commonest, 0),
        chance,
    )


def _find_other_forms(question: Question, tally: _Tally) -> list[str]:
    """Find a comparison by which answers counted as wrong would be right, as 24.3.2025 is."""
    if question.kind != "text":
        return []
    grading, accepted = recognise_comparison(question.accepted, find_notation(question.accepted))
    alike = grading and any(is_match(accepted, text, grading) for text in tally.written.values())
    return [f"{FORM}{describe_grading(grading)}"] if alike else []


def _outnumbers(other: int, accepted: int) -> bool:
    """Tell if the share of the other answer is above one half, with its whole interval."""
    return other > 0 and RightShare(other, other + accepted).exact()[0] > 0.5


def _suspicions(
    overall: RightShare, best: RightShare, difference: ShareDifference | None, chance: float = 1.0
) -> tuple[str, ...]:
    flags = []
    if chance < UNLIKELY and 2 * overall.right < overall.answers:
        flags.append(SELDOM)
    if best.answers >= FEW and 2 * best.right < best.answers:
        flags.append(DISAGREE)
    if difference is not None and difference.upper < 0:
        flags.append(BACKWARDS)
    if overall.answers >= ENOUGH and overall.right == overall.answers:
        flags.append(NEVER_WRONG)
    return tuple(flags)


def _round_share(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)


def _format_moment(at: datetime | None) -> str:
    return at.isoformat(" ", "seconds") if at else ""


# Of a file, by name.
GOLD_COLUMNS: dict[str, Callable[[GoldLine], Any]] = {
    "question": lambda line: line.question.key,
    "accepted": lambda line: " | ".join(line.question.accepted),
    "asked": lambda line: line.asked,
    "answered": lambda line: line.every.answers,
    "right": lambda line: _round_share(line.every.value),
    "right_best": lambda line: _round_share(line.best.value),
    "answered_best": lambda line: line.best.answers,
    "right_rest": lambda line: _round_share(line.rest.value),
    "answered_rest": lambda line: line.rest.answers,
    "difference": lambda line: _round_share(getattr(line.difference, "value", None)),
    "lower": lambda line: _round_share(getattr(line.difference, "lower", None)),
    "upper": lambda line: _round_share(getattr(line.difference, "upper", None)),
    "flags": lambda line: "; ".join(line.flags),
    "other_answer": lambda line: line.other,
    "given_by_best": lambda line: line.given or "",
    "retired": lambda line: _format_moment(line.question.retired),
    "kind": lambda line: line.question.kind,
    "right_lower": lambda line: _round_share(line.every.exact()[0] if line.every.answers else None),
    "right_upper": lambda line: _round_share(line.every.exact()[1] if line.every.answers else None),
    "given_by_all": lambda line: line.given_by_all or "",
}


def gold_rows(lines: Sequence[GoldLine]) -> Iterator[list[Any]]:
    return ([value(line) for value in GOLD_COLUMNS.values()] for line in lines)


# -- exposure


NEAR = 0.9  # share of its limit


def count_exposure(question_set: QuestionSet) -> Facts:
    """Count the exposure of all questions in use, the most exposed first."""
    so_far, most = exposure.count_met([question_set.pk]), question_set.most_workers
    questions = question_set.questions.filter(retired=None)
    lines = []
    for question in questions:
        workers = so_far.get(question.pk, 0)
        used_up = most is not None and workers >= most
        nearly = most is not None and not used_up and workers >= NEAR * most
        lines.append(Facts(question=question, workers=workers, used_up=used_up, nearly=nearly))
    return Facts(
        most=most,
        lines=sorted(lines, key=lambda line: -line.workers),
        used_up=sum(line.used_up for line in lines),
        nearly=sum(line.nearly for line in lines),
        met=sum(line.workers > 0 for line in lines),
    )
