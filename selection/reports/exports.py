"""A run's selection as a document and as a table, with everything needed to repeat the run.

The room ``exports`` turns both into files and into the formats of the platforms.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db.models import Sum

from selection.models import Run

from .end_claims import claims_at_end
from .guarantee import KEPT, guarantee_of_run, interval_meaning
from .standings import RunStandings, quota_lines, run_standings, skill_lines
from .worker_columns import WorkerStanding, cell_value, selected_columns


def export_run(run: Run) -> dict[str, Any]:
    standings, columns = run_standings(run), selected_columns(run)
    return run_facts(run, standings) | {
        "workers": selected_rows(run, standings),
        "taken_out_by_hand": [
            _selected_row(columns, None, line)
            for line in standings.lines
            if line.by_algorithm and not line.selected
        ],
    }


def run_facts(run: Run, standings: RunStandings) -> dict[str, Any]:
    lines = standings.lines
    fit = standings.fit
    guarantee = guarantee_of_run(run, standings.selection, standings.fit)
    return {
        "run": run.name,
        "pool": run.pool.name,
        "question_set": run.question_set.name,
        "status": run.status,
        "ending": run.why_ended,
        "regraded_at": _format_moment(run.regraded),
        "certified": run.certified and guarantee.verdict == KEPT,
        "verdict": guarantee.verdict,
        "guarantee": guarantee.text,
        "target": guarantee.target,
        "assumptions": guarantee.assumptions,
        "named_by": standings.selection.by if standings.selection else "",
        "epsilon_reached": guarantee.epsilon,
        "scope": guarantee.scope,
        "pass_mark": run.pass_mark,
        **vars(claims_at_end(run, lines)),
        "weakenings": [each.build_row() for each in guarantee.weakenings],
        "warnings": list(fit.warnings),
        "population": fit.numbers(),
        "algorithm": run.algorithm,
        "options": run.hand_set,
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
        "started_at": _format_moment(run.started),
        "ended_at": _format_moment(run.ended),
        "interval": interval_meaning(run),
    }


def selected_rows(run: Run, standings: RunStandings) -> list[dict[str, Any]]:
    """Build a row of ``selected_columns`` for each selected worker: by skill, the best first."""
    columns = selected_columns(run)
    chosen = [line for line in standings.lines if line.selected]
    return [_selected_row(columns, rank, line) for rank, line in _ranked_lines(chosen)]


def _format_moment(at: datetime | None) -> str | None:
    return at.isoformat(" ", "seconds") if at else None


def _ranked_lines(chosen: list[WorkerStanding]) -> Iterator[tuple[int, WorkerStanding]]:
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


def _selected_row(columns: Sequence[str], rank: int | None, line: WorkerStanding) -> dict[str, Any]:
    return {column: rank if column == "rank" else cell_value(line, column) for column in columns}
