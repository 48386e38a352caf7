"""Every read that is more than a get: standings, progress, history, export rows."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from . import offers, quotas
from .bandit import ASSUMPTIONS, Goal, Selector, Standing, State, Verdict
from .errors import NotFound
from .models import Assignment, Candidate, Run, Skill, Step

WORDS = {Verdict.ACCEPTED: "accepted", Verdict.REJECTED: "rejected", Verdict.UNDECIDED: "undecided"}
SETTLED = {Verdict.ACCEPTED: "settled in", Verdict.REJECTED: "settled out"}


@dataclass(frozen=True)
class Line:
    """One worker in a run. Means and bounds are in [0, 1]; mean is None without an answer.

    rank     among the selected, from 1; None for the others
    verdict  accepted, rejected, undecided, or settled in / settled out by the present bounds
    group    the value of the attribute that quotas are about
    skill    in a run of several: its name; its number is 0 in others
    """

    candidate: int
    worker: str
    name: str
    answers: int
    out: int
    right: float
    mean: float | None
    lower: float
    upper: float
    verdict: str
    selected: bool
    decided_in: int | None
    why: str
    group: str = ""
    skill: str = ""
    number: int = 0


@dataclass(frozen=True)
class Progress:
    """Where a run stands as a whole.

    gap, wanted  the run stops when gap falls to wanted; both are differences of accuracy
    closed       how much of the way to the stop is behind, 0 to 1
    spent, left  assignments handed out, and what the budget still allows (None: no limit)
    counted      answers that count in the statistics
    out          assignments with the crowd
    rate         answers counted per minute over the last minutes
    """

    accepted: int
    rejected: int
    undecided: int
    gap: float
    wanted: float
    closed: float
    spent: int
    left: int | None
    counted: int
    out: int
    rate: float


def standings(run: Run) -> list[Line]:
    """Every worker's line, skill by skill: the selected first, best mean first."""
    selector, rows = _restored(run)
    standing, selected = selector.standing(), set(selector.selection().tolist())
    group = _groups(run)
    names = [str(skill) for skill in run.skills] if run.several else [""]
    lines = [
        replace(
            _line(row, standing, row.arm in selected),
            group=group(row.arm),
            skill=names[row.skill],
            number=row.skill,
        )
        for row in rows
    ]
    return sorted(lines, key=_merit)


def _merit(line: Line) -> tuple[int, bool, float, int]:
    return (
        line.number,
        not line.selected,
        -1.0 if line.mean is None else -line.mean,
        line.candidate,
    )


def _restored(run: Run) -> tuple[Selector, list[Candidate]]:
    rows = list(run.candidates.select_related("worker").order_by("arm"))
    state = State(
        np.array([row.pulls for row in rows], np.int64),
        np.array([row.rewards for row in rows], float),
        np.array([row.verdict for row in rows], np.int8),
        dict(run.memory),
    )
    return run.selector(state), rows


def _groups(run: Run) -> Callable[[int], str]:
    """The name of an arm's group; empty without quotas."""
    option = run.options.get("quotas")
    if not option:
        return lambda arm: ""
    return lambda arm: str(option["names"][option["groups"][arm]])


@dataclass(frozen=True)
class Quota:
    """How one group stands: workers selected of those wanted, and how many there are."""

    group: str
    selected: int
    wanted: str
    workers: int


def quota_lines(run: Run, lines: list[Line]) -> list[Quota]:
    """A line for each group of a run with quotas, those with limits first."""
    if not run.quotas:
        return []
    sizes = Counter(line.group for line in lines)
    selected = Counter(line.group for line in lines if line.selected)
    limits = run.quotas["limits"]
    names = [*sorted(limits), *sorted(set(sizes) - set(limits))]
    return [
        Quota(name, selected[name], _wanted_of(limits.get(name)), sizes[name]) for name in names
    ]


@dataclass(frozen=True)
class SkillLine:
    """How one skill of several stands."""

    name: str
    number: int
    k: int
    accepted: int
    rejected: int
    undecided: int
    answers: int


def skill_lines(run: Run, lines: list[Line]) -> list[SkillLine]:
    """A line for each skill of a run of several."""
    return [_skill_line(run, skill, lines) for skill in run.skills] if run.several else []


def _skill_line(run: Run, skill: Skill, lines: list[Line]) -> SkillLine:
    own = [line for line in lines if line.number == skill.number]
    verdicts = Counter(line.verdict for line in own)
    accepted, rejected = verdicts["accepted"], verdicts["rejected"]
    return SkillLine(
        name=str(skill),
        number=skill.number,
        k=skill.k,
        accepted=accepted,
        rejected=rejected,
        undecided=len(own) - accepted - rejected,
        answers=sum(line.answers for line in own),
    )


def _wanted_of(limit: list[int | None] | None) -> str:
    return quotas.words(limit) if limit else "any number"


def _line(row: Candidate, standing: Standing, selected: bool) -> Line:
    arm, verdict = row.arm, Verdict(row.verdict)
    word = WORDS[verdict]
    if verdict == Verdict.UNDECIDED:
        word = SETTLED.get(Verdict(int(standing.settled[arm])), word)
    return Line(
        candidate=row.pk,
        worker=row.worker.key,
        name=row.worker.name,
        answers=row.pulls,
        out=row.asked - row.pulls,
        right=row.rewards,
        mean=row.rewards / row.pulls if row.pulls else None,
        lower=float(standing.lower[arm]),
        upper=float(standing.upper[arm]),
        verdict=word,
        selected=selected,
        decided_in=row.decided_in,
        why=row.decided_why,
    )


def candidates_of(run: Run, worker: str) -> list[Candidate]:
    """The candidate of this worker key in each skill. Raises NotFound."""
    found = list(run.candidates.filter(worker__key=worker))
    if not found:
        raise NotFound(f"There is no worker “{worker}” in this run.")
    return found


def open_assignments(run: Run, worker: str | None, limit: int, after: int) -> list[dict[str, Any]]:
    """Open assignments, oldest first: those with an id above ``after``, at most ``limit``.

    Raises NotFound for a worker who is not in the run.
    """
    if run.status == Run.Status.ENDED:
        return []
    candidates = {"candidate__in": candidates_of(run, worker)} if worker else {}
    rows = (
        Assignment.objects.answerable()
        .filter(candidate__run=run, id__gt=after, **candidates)
        .order_by("id")
        .values(
            "id",
            "due",
            worker=F("candidate__worker__key"),
            question_key=F("question__key"),
            number=F("candidate__skill"),
            prompt=F("question__prompt"),
            choices=F("question__choices"),
        )[:limit]
    )
    names = [str(skill) for skill in run.skills]
    return [{**row, "question": row["question_key"], "skill": names[row["number"]]} for row in rows]


def progress(run: Run) -> Progress:
    last = run.history.order_by("-number").first()
    sums = run.candidates.aggregate(
        asked=Sum("asked", default=0), pulls=Sum("pulls", default=0), n=Count("id")
    )
    accepted, rejected = (last.accepted, last.rejected) if last else (0, 0)
    gap, wanted = (last.gap, last.wanted) if last else (1.0, _wanted(run))
    unanswered = Assignment.objects.filter(candidate__run=run).open().count()
    return Progress(
        accepted=accepted,
        rejected=rejected,
        undecided=sums["n"] - accepted - rejected,
        gap=gap,
        wanted=wanted,
        closed=_closed(run, last),
        spent=sums["asked"],
        left=None if run.budget is None else run.budget - sums["asked"],
        counted=sums["pulls"],
        out=0 if run.status == Run.Status.ENDED else unanswered,
        rate=_rate(run),
    )


def _wanted(run: Run) -> float:
    return run.epsilon if "epsilon" in run.rule.needs else 0.0


def _closed(run: Run, last: Step | None) -> float:
    """With a fixed budget the gap is the share of it that is left."""
    if run.finished:
        return 1.0
    if last is None:
        return 0.0
    return 1 - last.gap if run.fixed_budget else last.closed


def _rate(run: Run, minutes: float = 2) -> float:
    since = timezone.now() - timedelta(minutes=minutes)
    steps = run.history.filter(at__gte=since).order_by("number")
    counted: int = steps.aggregate(total=Sum("applied", default=0))["total"]
    return counted / minutes


def history(run: Run, most: int = 200) -> list[Step]:
    """The run's steps, thinned evenly to at most ``most``, the last one included."""
    every = max(1, -(-run.steps // most))
    thinned = run.history.alias(phase=(F("number") - run.steps) % every).filter(phase=0)
    return list(thinned.order_by("number"))


def promise(run: Run) -> str:
    """What this run promises: in full if it ended so, else what can be said by now."""
    n = workers_in(run)
    if run.status == Run.Status.DRAFT and (refusals := offers.refusals(run, n)):
        return " ".join(refusals.values())
    rule = offers.selector(run, n).promise
    if run.status != Run.Status.ENDED or run.finished:
        return offers.sentence(run, rule, n)
    if run.fixed_budget:
        return f"The {run.total} workers that looked best when it ended early; no promise."
    last = run.history.order_by("-number").first()
    if last is None or last.gap >= 1:
        return "Not certified: there were too few answers to promise anything about these workers."
    reached = math.ceil(last.gap * 1000) / 1000  # upwards, so that what is said still holds
    aim = f"as the best {run.k}" if rule.goal is Goal.EXACT else f"for ε = {run.epsilon:g}"
    return f"Not certified {aim}. {offers.sentence(run, rule, n, reached)}"


def workers_in(run: Run) -> int:
    """How many workers there are to choose from."""
    return run.candidates.filter(skill=0).count() or run.pool.workers.count()


def assumptions() -> str:
    """What every promise rests on, in words."""
    return ASSUMPTIONS


# -- export

COLUMNS = ["rank", "worker", "name", "verdict", "answers", "right", "mean", "lower", "upper"]


def export(run: Run) -> dict[str, Any]:
    """The selection, with all that is needed to understand and repeat it."""
    lines = standings(run)
    chosen = [line for line in lines if line.selected]
    return {
        "run": run.name,
        "pool": run.pool.name,
        "question_set": run.question_set.name,
        "status": run.status,
        "ending": run.why_ended,
        "certified": run.certified,
        "promise": promise(run),
        "assumptions": ASSUMPTIONS,
        "algorithm": run.algorithm,
        "options": run.hand_set,
        "quotas": _quotas_of(run, lines),
        "k": run.total,
        "skills": _skills_of(run, lines),
        "epsilon": run.epsilon,
        "delta": run.delta,
        "budget": run.budget,
        "seed": run.seed,
        "answers_used": run.candidates.aggregate(total=Sum("pulls", default=0))["total"],
        "workers": [_export_row(run, rank, line) for rank, line in _ranked(chosen)],
    }


def _ranked(chosen: list[Line]) -> Iterator[tuple[int, Line]]:
    """Each line with its place in its own skill."""
    places: Counter[int] = Counter()
    for line in chosen:
        places[line.number] += 1
        yield places[line.number], line


def _skills_of(run: Run, lines: list[Line]) -> list[dict[str, Any]] | None:
    if not run.several:
        return None
    return [
        {"skill": skill.name, "k": skill.k, "answers_used": skill.answers}
        for skill in skill_lines(run, lines)
    ]


def _quotas_of(run: Run, lines: list[Line]) -> dict[str, Any] | None:
    if not run.quotas:
        return None
    groups = [asdict(quota) for quota in quota_lines(run, lines)]
    return {"attribute": run.quotas["attribute"], "groups": groups}


def columns(run: Run) -> list[str]:
    """What there is to say of each worker of this run."""
    skill, group = (["skill"] if run.several else []), (["group"] if run.quotas else [])
    return [*COLUMNS, *group, *skill]


def _export_row(run: Run, rank: int, line: Line) -> dict[str, Any]:
    row = asdict(line) | {"rank": rank, "right": round(line.right)}
    for column in ("mean", "lower", "upper"):
        row[column] = None if row[column] is None else round(row[column], 4)
    return {column: row[column] for column in columns(run)}


def export_table(run: Run) -> list[dict[str, Any]]:
    """The same as flat rows for a spreadsheet: each worker's line ends with the run's own facts."""
    document = export(run)
    facts = {
        "certified": "certified" if document["certified"] else "not certified",
        "promise": document["promise"],
        "ending": document["ending"] or document["status"],
    } | {
        name: document[name]
        for name in ("run", "algorithm", "k", "epsilon", "delta", "budget", "seed", "answers_used")
    }
    return [row | facts for row in document["workers"]]


def with_counts(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Runs with ``accepted`` and ``rejected`` as of their last step, and ``workers``."""
    last = Step.objects.filter(run=OuterRef("pk"), number=OuterRef("steps"))
    return runs.annotate(
        accepted=Coalesce(Subquery(last.values("accepted")), 0),
        rejected=Coalesce(Subquery(last.values("rejected")), 0),
        workers=Count("candidates"),
    )


# -- answers

ANSWER_COLUMNS = ["worker", "question", "position", "response", "outcome", "at", "counted_in"]


def answer_columns(run: Run) -> list[str]:
    return [*ANSWER_COLUMNS, *(["skill"] if run.several else [])]


def answer_rows(run: Run) -> Iterator[list[Any]]:
    """Every answer of the run as a row, read piece by piece: there may be a million."""
    rows = run.answers.order_by("assignment").values_list(
        "assignment__candidate__worker__key",
        "assignment__question__key",
        "assignment__position",
        "response",
        "right",
        "expired",
        "at",
        "applied_in",
        "assignment__candidate__skill",
    )
    names = [[str(skill)] if run.several else [] for skill in run.skills]
    for row in rows.iterator(5000):
        worker, question, position, response, right, expired, at, step, skill = row
        outcome = "too late" if expired else "right" if right else "not right"
        when = at.isoformat(" ", "seconds")
        yield [worker, question, position, response, outcome, when, step, *names[skill]]


# -- answering elsewhere

OPEN_COLUMNS = ["worker", "question", "prompt", "choices", "assignment", "due"]


def open_columns(run: Run) -> list[str]:
    return [*OPEN_COLUMNS, *(["skill"] if run.several else [])]


def open_table(run: Run) -> list[dict[str, Any]]:
    """The questions that wait for an answer, by worker, to be answered elsewhere.

    With a column ``response`` added, the file can be imported into the run.
    """
    if run.status == Run.Status.ENDED:
        return []
    rows = (
        Assignment.objects.answerable()
        .filter(candidate__run=run)
        .order_by("candidate__worker__key", "position")
        .values_list(
            "candidate__worker__key",
            "question__key",
            "question__prompt",
            "question__choices",
            "id",
            "due",
            "candidate__skill",
        )
    )
    names = [str(skill) for skill in run.skills]
    table = [dict(zip([*OPEN_COLUMNS, "skill"], row, strict=True)) for row in rows]
    return [
        row
        | {
            "skill": names[row["skill"]],
            "choices": "|".join(row["choices"]),
            "due": row["due"].isoformat(" ", "seconds"),
        }
        for row in table
    ]
