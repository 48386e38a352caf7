"""How each worker stands in a run, and how groups and skills stand with them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from selection.models import Candidate, Run, Skill
from selection.setup import quotas
from topk import Selector, Standing, Verdict

from .fit import Fit, restored

WORDS = {Verdict.ACCEPTED: "accepted", Verdict.REJECTED: "rejected", Verdict.UNDECIDED: "undecided"}
SETTLED = {Verdict.ACCEPTED: "settled in", Verdict.REJECTED: "settled out"}


@dataclass(frozen=True)
class Line:
    """One worker in a run. Means and bounds are in [0, 1]; mean is None without an answer.

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
class Look:
    """A run as its algorithm sees it: every worker's line, and how well the algorithm fits."""

    lines: list[Line]
    fit: Fit


def look(run: Run) -> Look:
    """Lines come skill by skill: the selected first, best mean first. A draft has none."""
    rows = list(run.candidates.select_related("worker").order_by("arm"))
    if not rows:
        return Look([], Fit())
    selector = restored(run, rows)
    return Look(_lines(run, rows, selector), Fit.of(selector))


def standings(run: Run) -> list[Line]:
    """Every worker's line alone."""
    return look(run).lines


def _lines(run: Run, rows: list[Candidate], selector: Selector) -> list[Line]:
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


def _merit(line: Line) -> tuple[int, bool, float, int]:
    return (
        line.number,
        not line.selected,
        -1.0 if line.mean is None else -line.mean,
        line.candidate,
    )


def _groups(run: Run) -> Callable[[int], str]:
    """The name of an arm's group; empty without quotas."""
    option = run.options.get("quotas")
    if not option:
        return lambda arm: ""
    return lambda arm: str(option["names"][option["groups"][arm]])


# -- groups and skills


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


def _wanted_of(limit: list[int | None] | None) -> str:
    return quotas.words(limit) if limit else "any number"


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
