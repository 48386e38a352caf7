"""How each worker stands in a run, and how groups and skills stand with them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Count

from selection.models import NOT_TESTED, Candidate, Run, Skill, status_of
from selection.models.answers import has_waiting_answers
from selection.models.roster import Roster
from selection.models.status import WORDS
from selection.runs import quotas
from topk import Selector, Standing, Verdict
from topk.selected_arms import SelectedArms

from .model_fit import ModelFit, restore_selector
from .selection import name_tested

GONE = {value: str(words) for value, words in Candidate.Gone.choices}
COLUMNS = [
    *("id", "arm", "skill", "asked", "pulls", "void", "rewards", "seen", "gone", "verdict"),
    *("by_hand", "by_hand_why", "decided_in", "decided_why", "worker__key", "worker__name"),
]


@dataclass(frozen=True)
class WorkerStanding:
    """One worker in a run. Means and bounds are in [0, 1]; mean is None without an answer.

    verdict  accepted, rejected, undecided, not tested, or settled in / settled out by the present
             bounds: what ``status_of`` decides. Nobody who is not tested is selected by the
             algorithm, has a reason for a verdict, or bounds other than 0 and 1
    presence invited (nothing was seen of them yet), active, or why they are gone
    lapsed   answers, of those counted, that were shown and not given in time
    selected by the algorithm, but where the requester's own verdict says otherwise
    by_hand  that verdict, if she gave one
    by_algorithm  whether the algorithm itself selects them: the promise is about these
    group    the value of the attribute that quotas are about
    skill    in a run of several: its name; its number is 0 in others
    expected  where a run ended early: the accuracy that all answers make likely
    elsewhere  the kind of task that the worker is selected for instead, who is for one at most
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
    presence: str = "active"
    lapsed: int = 0
    by_hand: str = ""
    by_hand_why: str = ""
    by_algorithm: bool = False
    group: str = ""
    skill: str = ""
    number: int = 0
    expected: float | None = None
    elsewhere: str = ""

    @property
    def wrong(self) -> int:
        """Answers that were given in time and not right."""
        return self.answers - round(self.right) - self.lapsed

    @property
    def judged(self) -> bool:
        """Whether an answer was counted or the requester gave a verdict: platforms hear of no
        others."""
        return bool(self.answers or self.by_hand)


@dataclass(frozen=True)
class RunStandings:
    """A run as its algorithm sees it: every worker's line, how well it fits, and whom it names."""

    lines: list[WorkerStanding]
    fit: ModelFit
    named: SelectedArms | None = None


def run_standings(run: Run) -> RunStandings:
    """Lines come skill by skill: the selected, the others, the not tested; best mean first.

    A draft has none.
    """
    # Named tuples, because objects of ten thousand candidates and workers take a second to make.
    rows = list(run.candidates.order_by("arm").values_list(*COLUMNS, named=True))
    if not rows:
        return RunStandings([], ModelFit())
    roster, selector = restore_selector(run, rows)
    who = name_tested(run, rows, roster, selector)
    lines = _build_lines(run, rows, roster, selector, who)
    return RunStandings(lines, ModelFit.of(run, selector) if selector else ModelFit(), who)


def worker_standings(run: Run) -> list[WorkerStanding]:
    """Every worker's line alone."""
    return run_standings(run).lines


def _build_lines(
    run: Run, rows: list[Any], roster: Roster, selector: Selector | None, who: SelectedArms
) -> list[WorkerStanding]:
    standing = selector.standing() if selector else _nothing_known(roster)
    lower = roster.spread(standing.lower, 0.0).tolist()
    upper = roster.spread(standing.upper, 1.0).tolist()
    settled = roster.spread(standing.settled, 0).tolist()
    chosen, expected = set(who.arms.tolist()), who.expected or {}
    group, lapsed = _group_names(run), _count_lapsed(run)
    waiting = set(run.candidates.filter(has_waiting_answers(run)).values_list("id", flat=True))
    names = [str(skill) for skill in run.skills] if run.several else [""]
    lines = [
        WorkerStanding(
            candidate=row.id,
            worker=row.worker__key,
            name=row.worker__name,
            answers=row.pulls,
            out=row.asked - row.pulls - row.void,
            right=row.rewards,
            mean=row.rewards / row.pulls if row.pulls else None,
            lower=lower[row.arm] if row.pulls else 0.0,
            upper=upper[row.arm] if row.pulls else 1.0,
            verdict=status_of(row, settled[row.arm]),
            selected=row.arm in chosen if row.by_hand is None else row.by_hand == Verdict.ACCEPTED,
            by_algorithm=row.arm in chosen,
            decided_in=row.decided_in if row.pulls else None,
            why=row.decided_why if row.pulls else "",
            presence=presence_of(row, row.id in waiting),
            lapsed=lapsed.get(row.id, 0),
            by_hand="" if row.by_hand is None else WORDS[Verdict(row.by_hand)],
            by_hand_why=row.by_hand_why,
            group=group(row.arm),
            skill=names[row.skill],
            number=row.skill,
            expected=expected.get(row.arm) if row.pulls else None,
        )
        for row in rows
    ]
    return sorted(_add_places(run, lines), key=_merit_key)


def _add_places(run: Run, lines: list[WorkerStanding]) -> list[WorkerStanding]:
    """Where each worker is selected for one kind of task: for which, on their other lines."""
    if not (run.several and run.one_kind_each):
        return lines
    place = {line.worker: line.skill for line in lines if line.selected}
    return [
        line if line.selected else replace(line, elsewhere=place.get(line.worker, ""))
        for line in lines
    ]


def _nothing_known(roster: Roster) -> Standing:
    size = roster.arms.size
    nobody = np.zeros(size, np.int8)
    return Standing(
        mean=np.full(size, np.nan),
        lower=np.zeros(size),
        upper=np.ones(size),
        verdict=nobody,
        settled=nobody,
        gap=1.0,
        wanted=0.0,
    )


def _count_lapsed(run: Run) -> dict[int, int]:
    """By candidate, the answers that were not given in time."""
    rows = run.answers.filter(expired=True, void=False).order_by()
    found = rows.values_list("assignment__candidate").annotate(count=Count("pk"))
    return dict(found)


def presence_of(row: Any, waiting: bool = False) -> str:
    """Return the presence of a candidate, or of a row of COLUMNS.

    waiting  whether an answer of the worker waits: it was given, so the worker is active
    """
    if row.gone:
        return GONE[row.gone]
    return "active" if row.seen or row.pulls or waiting else "invited"


def _merit_key(line: WorkerStanding) -> tuple[int, bool, bool, bool, float, int]:
    return (
        line.number,
        not line.selected,
        line.verdict == NOT_TESTED,
        line.presence in GONE.values(),
        1.0 if line.mean is None else -line.mean,
        line.candidate,
    )


def _group_names(run: Run) -> Callable[[int], str]:
    """The name of an arm's group; empty without quotas."""
    option = run.options.get("quotas")
    if not option:
        return lambda arm: ""
    return lambda arm: str(option["names"][option["groups"][arm]])


# -- groups and skills


@dataclass(frozen=True)
class QuotaStanding:
    """How one group stands: workers selected of those wanted, and how many there are."""

    group: str
    selected: int
    wanted: str
    workers: int


def quota_lines(run: Run, lines: list[WorkerStanding]) -> list[QuotaStanding]:
    """A line for each group of a run with quotas, those with limits first."""
    if not run.quotas:
        return []
    sizes = Counter(line.group for line in lines)
    selected = Counter(line.group for line in lines if line.selected)
    limits = run.quotas["limits"]
    names = [*sorted(limits), *sorted(set(sizes) - set(limits))]
    return [
        QuotaStanding(name, selected[name], _limit_text(limits.get(name)), sizes[name])
        for name in names
    ]


def _limit_text(limit: list[int | None] | None) -> str:
    return quotas.describe_limit(limit) if limit else "any number"


@dataclass(frozen=True)
class SkillStanding:
    """How one skill of several stands."""

    name: str
    number: int
    k: int
    accepted: int
    rejected: int
    undecided: int
    not_tested: int
    answers: int


def skill_lines(run: Run, lines: list[WorkerStanding]) -> list[SkillStanding]:
    """A line for each skill of a run of several."""
    return [_skill_line(run, skill, lines) for skill in run.skills] if run.several else []


def _skill_line(run: Run, skill: Skill, lines: list[WorkerStanding]) -> SkillStanding:
    own = [line for line in lines if line.number == skill.number]
    verdicts = Counter(line.verdict for line in own)
    accepted, rejected = verdicts["accepted"], verdicts["rejected"]
    not_tested = verdicts[NOT_TESTED]
    return SkillStanding(
        name=str(skill),
        number=skill.number,
        k=skill.k,
        accepted=accepted,
        rejected=rejected,
        undecided=len(own) - accepted - rejected - not_tested,
        not_tested=not_tested,
        answers=sum(line.answers for line in own),
    )
