"""Standings of the workers in a run, and of its groups and skills."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Count

from selection.facts import Facts
from selection.models import NOT_TESTED, Candidate, Run, Skill, status_of
from selection.models.answers import has_waiting_answers
from selection.models.roster import Roster
from selection.models.status import WORDS
from selection.runs.roster import quotas
from topk import Selector, Standing, Verdict
from topk.selected_arms import SelectedArms

from .marked_selection import marks_of
from .model_fit import ModelFit, assess_fit, restore_selector
from .selection import name_tested
from .worker_columns import WorkerStanding

GONE = {value: str(words) for value, words in Candidate.Gone.choices}
COLUMNS = [
    *("id", "arm", "skill", "asked", "pulls", "void", "rewards", "seen", "gone", "verdict"),
    *("by_hand", "by_hand_why", "decided_in", "decided_why", "worker__key", "worker__name"),
]


@dataclass(frozen=True)
class RunStandings:
    """A run as its algorithm sees it: every worker's line, the model fit, and the selected arms."""

    lines: list[WorkerStanding]
    fit: ModelFit
    selection: SelectedArms | None = None


def run_standings(run: Run) -> RunStandings:
    """List the lines skill by skill: the selected, the others, the not tested; best mean first.

    A draft has none.
    """
    # Named tuples, because objects of ten thousand candidates and workers take a second to make.
    rows = list(run.candidates.order_by("arm").values_list(*COLUMNS, named=True))
    if not rows:
        return RunStandings([], ModelFit())
    roster, selector = restore_selector(run, rows)
    selected = name_tested(run, rows, roster, selector)
    lines = _build_lines(run, rows, roster, selector, selected)
    return RunStandings(lines, assess_fit(run, rows, selector), selected)


def worker_standings(run: Run) -> list[WorkerStanding]:
    return run_standings(run).lines


def _build_lines(
    run: Run, rows: list[Any], roster: Roster, selector: Selector | None, selected: SelectedArms
) -> list[WorkerStanding]:
    standing = selector.standing() if selector else _nothing_known(roster)
    lower = roster.spread(standing.lower, 0.0).tolist()
    upper = roster.spread(standing.upper, 1.0).tolist()
    settled = roster.spread(standing.settled, 0).tolist()
    chosen, expected = set(selected.arms.tolist()), selected.expected or {}
    group, lapsed = _group_names(run), _count_lapsed(run)
    marks = dict(zip((row.id for row in rows), marks_of(run, rows), strict=True))
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
            mark=marks[row.id],
        )
        for row in rows
    ]
    return sorted(_add_places(run, lines), key=_merit_key)


def _add_places(run: Run, lines: list[WorkerStanding]) -> list[WorkerStanding]:
    if not (run.several and run.one_kind_each):
        return lines
    place = {line.worker: line.skill for line in lines if line.selected}
    return [
        line if line.selected else replace(line, elsewhere=place.get(line.worker, ""))
        for line in lines
    ]


def _nothing_known(roster: Roster) -> Standing:
    size = roster.arms.size
    undecided = np.zeros(size, np.int8)
    return Standing(
        mean=np.full(size, np.nan),
        lower=np.zeros(size),
        upper=np.ones(size),
        verdict=undecided,
        settled=undecided,
        gap=1.0,
        wanted=0.0,
    )


def _count_lapsed(run: Run) -> dict[int, int]:
    rows = run.answers.filter(expired=True, void=False).order_by()
    counts = rows.values_list("assignment__candidate").annotate(count=Count("pk"))
    return dict(counts)


def presence_of(row: Any, waiting: bool = False) -> str:
    """Name the presence of a candidate, or of a row of COLUMNS.

    waiting  True if an answer of the worker waits to be counted: then the worker is active
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
    option = run.options.get("quotas")
    if not option:
        return lambda arm: ""
    return lambda arm: str(option["names"][option["groups"][arm]])


# -- groups and skills


@dataclass(frozen=True)
class QuotaStanding:
    """Standing of one group: workers selected of those required, and the size of the group."""

    group: str
    selected: int
    wanted: str
    workers: int


def quota_lines(run: Run, lines: list[WorkerStanding]) -> list[QuotaStanding]:
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


def skill_lines(run: Run, lines: list[WorkerStanding]) -> list[Facts]:
    return [_skill_line(run, skill, lines) for skill in run.skills] if run.several else []


def _skill_line(run: Run, skill: Skill, lines: list[WorkerStanding]) -> Facts:
    skill_lines = [line for line in lines if line.number == skill.number]
    verdicts = Counter(line.verdict for line in skill_lines)
    accepted, rejected = verdicts["accepted"], verdicts["rejected"]
    not_tested = verdicts[NOT_TESTED]
    return Facts(
        name=str(skill),
        number=skill.number,
        k=skill.k,
        accepted=accepted,
        rejected=rejected,
        undecided=len(skill_lines) - accepted - rejected - not_tested,
        not_tested=not_tested,
        answers=sum(line.answers for line in skill_lines),
    )
