"""What is said of a replay at its end."""

from typing import Any

from selection import reports
from selection.models import Run

from . import question_kinds, replay
from .crowd import RecordedCrowd


def summarise_run(run: Run, past: RecordedCrowd) -> list[str]:
    export = reports.export_run(run)
    return [
        f"Answers used   {export['answers_used']:,} {_recorded_clause(run, past)}",
        f"Ended          {export['ending'] or export['status']}",
        f"Promise        {export['promise']}",
        *(f"Mind           {warning}" for warning in export["warnings"]),
        *(_summarise_skills if run.several else _summarise_one_skill)(run, past, export["workers"]),
    ]


def _summarise_one_skill(run: Run, past: RecordedCrowd, rows: list[dict[str, Any]]) -> list[str]:
    chosen = [row["worker"] for row in rows]
    regrets = replay.compute_regrets(past.accuracy, chosen)
    return [
        f"Regret         {regrets.aggregate:.4f} aggregate (mean of the best {run.k} less mean of "
        "the selected, by recorded accuracy)",
        f"               {regrets.explore_k:.4f} explore-K (the K-th best less the worst selected)",
        f"Selected       {', '.join(chosen)}",
    ]


def _summarise_skills(run: Run, past: RecordedCrowd, rows: list[dict[str, Any]]) -> list[str]:
    names = [str(skill) for skill in run.skills]
    chosen = [[row["worker"] for row in rows if row["skill"] == name] for name in names]
    lost = question_kinds.compute_losses(run, past, chosen)
    allowed = ", nobody for two kinds" if run.one_kind_each else ""
    return [
        *(
            f"Mind           {count:,} of the workers have no recorded answer to a task of "
            f"“{name}” and count as never right there in what follows."
            for name, count in zip(names, lost.unknown, strict=True)
            if count
        ),
        f"Regret         {lost.overall:.4f} aggregate (mean of the best selection{allowed}, less "
        "mean of the selected, by recorded accuracy)",
        *(
            f"               {each:.4f} in “{name}”"
            for name, each in zip(names, lost.each, strict=True)
        ),
        *(
            f"Selected       {', '.join(own)} for “{name}”"
            for name, own in zip(names, chosen, strict=True)
        ),
    ]


def _recorded_clause(run: Run, past: RecordedCrowd) -> str:
    verb = "of" if run.recorded_only else "drawn with replacement from"
    parts = [f"{verb} {len(past.answers):,} recorded by {len(past.workers):,} workers"]
    if past.left_out:
        parts.append(f"{past.left_out:,} to tasks without a known answer left out")
    if past.repeated:
        parts.append(f"{past.repeated:,} left out that answer a task again")
    if past.idle:
        parts.append(f"{past.idle:,} workers left out who have no other")
    return "; ".join(parts)
