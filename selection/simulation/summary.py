"""Summary of a replay, in lines for people."""

from typing import Any

from selection import reports
from selection.models import Run
from selection.replays.crowd import RecordedCrowd
from selection.replays.settings import compute_regrets
from selection.texts import counted

from . import question_kinds


def summarise_run(run: Run, crowd: RecordedCrowd) -> list[str]:
    export = reports.export_run(run)
    return [
        f"Answers used   {export['answers_used']:,} {_recorded_clause(run, crowd)}",
        f"Ended          {export['ending'] or export['status']}",
        f"Promise        {export['promise']}",
        *(f"Mind           {warning}" for warning in export["warnings"]),
        *(_summarise_skills if run.several else _summarise_one_skill)(
            run, crowd, export["workers"]
        ),
    ]


def _summarise_one_skill(run: Run, crowd: RecordedCrowd, rows: list[dict[str, Any]]) -> list[str]:
    chosen = [row["worker"] for row in rows]
    regrets = compute_regrets(crowd.accuracy, chosen)
    return [
        f"Regret         {regrets.aggregate:.4f} aggregate (mean of the best {run.k} less mean of "
        "the selected, by recorded accuracy)",
        f"               {regrets.explore_k:.4f} explore-K (the K-th best less the worst selected)",
        f"Selected       {', '.join(chosen)}",
    ]


def _summarise_skills(run: Run, crowd: RecordedCrowd, rows: list[dict[str, Any]]) -> list[str]:
    names = [str(skill) for skill in run.skills]
    chosen = [[row["worker"] for row in rows if row["skill"] == name] for name in names]
    losses = question_kinds.compute_losses(run, crowd, chosen)
    allowed = ", nobody for two kinds" if run.one_kind_each else ""
    return [
        *(
            f"Mind           {count:,} of the workers have no recorded answer to a task of "
            f"“{name}” and count as never right there in what follows."
            for name, count in zip(names, losses.unknown, strict=True)
            if count
        ),
        f"Regret         {losses.overall:.4f} aggregate (mean of the best selection{allowed}, less "
        "mean of the selected, by recorded accuracy)",
        *(
            f"               {loss:.4f} in “{name}”"
            for name, loss in zip(names, losses.each, strict=True)
        ),
        *(
            f"Selected       {', '.join(workers)} for “{name}”"
            for name, workers in zip(names, chosen, strict=True)
        ),
    ]


def _recorded_clause(run: Run, crowd: RecordedCrowd) -> str:
    verb = "of" if run.recorded_only else "drawn with replacement from"
    parts = [f"{verb} {len(crowd.answers):,} recorded by {counted(len(crowd.workers), 'worker')}"]
    if crowd.left_out:
        parts.append(f"{crowd.left_out:,} to tasks without a known answer left out")
    if crowd.repeated:
        parts.append(f"{crowd.repeated:,} left out that answer a task again")
    if crowd.idle:
        parts.append(f"{counted(crowd.idle, 'worker')} left out who have no other")
    return "; ".join(parts)
