"""The selection as a document and as a table, with all that is needed to repeat the run.

What is made of it for files, and for platforms, is in the room ``exports``.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db.models import Sum

from selection.models import Run
from selection.runs import priors

from .guarantee_status import KEPT, ON_AVERAGE, WEAKENED, interval_meaning, promise_status
from .selection import ended_early
from .standings import RunStandings, WorkerStanding, quota_lines, run_standings, skill_lines

COLUMNS = [
    "rank",
    "worker",
    "name",
    "verdict",
    "answers",
    "right",
    "mean",
    "lower",
    "upper",
]
# What happened to each besides: answers not given in time, whether they came, her own verdict
# with its reason, and whether the algorithm selects them or she does.
LIFE = ["lapsed", "presence", "by_hand", "by_hand_why", "selected_by"]


def export_run(run: Run) -> dict[str, Any]:
    """The selection, with all that is needed to understand and repeat it."""
    seen = run_standings(run)
    return run_facts(run, seen) | {
        "workers": selected_rows(run, seen),
        "taken_out_by_hand": [
            _selected_row(run, None, line) for line in seen.lines if _is_overruled(line)
        ],
    }


def run_facts(run: Run, seen: RunStandings) -> dict[str, Any]:
    """What is true of the run as a whole: its settings, what it promises, what it took."""
    lines, fit, promised = seen.lines, seen.fit, promise_status(run, seen.named, seen.fit)
    return {
        "run": run.name,
        "pool": run.pool.name,
        "question_set": run.question_set.name,
        "status": run.status,
        "ending": run.why_ended,
        "regraded": _format_moment(run.regraded),
        "certified": run.certified and promised.verdict == KEPT,
        "verdict": promised.verdict,
        "promise": promised.sentence,
        "named_by": seen.named.by if seen.named else "",
        "epsilon_reached": promised.epsilon,
        "holds": promised.holds,
        "over": promised.over,
        "by_hand": promised.by_hand,
        "warnings": list(fit.warnings),
        "population": fit.numbers(),
        "assumptions": promised.assumes,
        "algorithm": run.algorithm,
        "options": run.hand_set | _prior_of(run),
        "learned_from": priors.prior_numbers(run),
        "quotas": _quotas_of(run, lines),
        "k": run.total,
        "skills": _skills_of(run, lines),
        "one_kind_each": run.several and run.one_kind_each,
        "epsilon": run.epsilon,
        "delta": run.delta,
        "budget": run.budget,
        "price": None if run.price is None else float(run.price),
        "currency": run.currency,
        "seed": run.seed,
        "answers_used": run.candidates.aggregate(total=Sum("pulls", default=0))["total"],
        "assignments": run.count_spent(),
        "started": _format_moment(run.started),
        "ended": _format_moment(run.ended),
        "interval": interval_meaning(run),
    }


def selected_rows(run: Run, seen: RunStandings) -> list[dict[str, Any]]:
    """A row for each worker selected, of ``columns``: by skill, the best first."""
    chosen = [line for line in seen.lines if line.selected]
    return [_selected_row(run, rank, line) for rank, line in _ranked_lines(chosen)]


def _format_moment(at: datetime | None) -> str | None:
    return at.isoformat(" ", "seconds") if at else None


def _is_overruled(line: WorkerStanding) -> bool:
    """Selected by the algorithm, and rejected by the requester."""
    return line.by_algorithm and not line.selected


def _certified_word(document: dict[str, Any]) -> str:
    """An average over pools is not to be taken for a promise about this one."""
    if document["verdict"] == WEAKENED:
        return WEAKENED
    if not document["certified"]:
        return "not certified"
    return "on average" if document["holds"] == ON_AVERAGE else "certified"


def _prior_of(run: Run) -> dict[str, Any]:
    """It is needed to repeat the run."""
    return {"prior": run.options["prior"]} if "prior" in run.options else {}


def _ranked_lines(chosen: list[WorkerStanding]) -> Iterator[tuple[int, WorkerStanding]]:
    """Each line with its place in its own skill."""
    places: Counter[int] = Counter()
    for line in chosen:
        places[line.number] += 1
        yield places[line.number], line


def _skills_of(run: Run, lines: list[WorkerStanding]) -> list[dict[str, Any]] | None:
    if not run.several:
        return None
    return [
        {"skill": skill.name, "k": skill.k, "answers_used": skill.answers}
        for skill in skill_lines(run, lines)
    ]


def _quotas_of(run: Run, lines: list[WorkerStanding]) -> dict[str, Any] | None:
    if not run.quotas:
        return None
    groups = [asdict(quota) for quota in quota_lines(run, lines)]
    return {"attribute": run.quotas["attribute"], "groups": groups}


def export_columns(run: Run) -> list[str]:
    """What there is to say of each worker of this run."""
    skill, group = (["skill"] if run.several else []), (["group"] if run.quotas else [])
    expected = ["expected"] if ended_early(run) else []
    return [*COLUMNS, *group, *skill, *LIFE, *expected]


def _selected_row(run: Run, rank: int | None, line: WorkerStanding) -> dict[str, Any]:
    by = "algorithm" if line.by_algorithm else "hand"
    row = asdict(line) | {"rank": rank, "right": round(line.right), "selected_by": by}
    for column in ("mean", "lower", "upper", "expected"):
        row[column] = None if row[column] is None else round(row[column], 4)
    return {column: row[column] for column in export_columns(run)}


def export_table(run: Run) -> list[dict[str, Any]]:
    """The same as flat rows for a spreadsheet: each worker's line ends with the run's own facts."""
    document = export_run(run)
    said = (
        {
            "certified": _certified_word(document),
            "promise": document["promise"],
            "named_by": document["named_by"],
            "epsilon_reached": document["epsilon_reached"],
            "holds": document["holds"],
            "by_hand_note": document["by_hand"],
            "warnings": " ".join(document["warnings"]),
            "ending": document["ending"] or document["status"],
        }
        | {name: document[name] for name in ("run", "algorithm", "k", "epsilon", "delta", "budget")}
        | {name: document[name] for name in ("price", "currency", "seed", "answers_used")}
    )
    return [row | said for row in document["workers"]]
