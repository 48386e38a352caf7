"""Runs: state, lifecycle, changes."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

from django.db import transaction
from django.http import HttpRequest

from selection import reports
from selection.api.base import api, find_object, may_manage, requester_name
from selection.api.fields import Id
from selection.models import Run
from selection.runs import changes, lifecycle, void_budget
from selection.runs.roster import previews, roster_opening
from selection.worker import links

from .schemas import ChangedOut, ChangeIn, MoveIn, RunHead, RunOut


@api.get("/runs/{run_id}", response=RunOut)
def show_run(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return a run's current state."""
    run = find_object(request, Run, run_id)
    return describe_run(run, links.join_address(run) if may_manage(request) else "")


def describe_run(run: Run, join_link: str = "") -> dict[str, Any]:
    fit, signs = reports.model_fit(run), reports.find_signs(run)
    guarantee = reports.guarantee_of_run(run, doubts=fit, signs=signs)
    progress = reports.read_progress(run)
    ahead, void = reports.forecast_remaining(run, progress), void_budget.void_budget_of(run)
    return {
        **read_columns(run, RunOut),
        "join_link": join_link,
        "options": run.hand_set,
        "quotas": run.quotas or None,
        "skills": [{"skill": str(skill), "k": skill.k} for skill in run.skills],
        "guarantee": guarantee.text,
        "target": guarantee.target,
        "assumptions": guarantee.assumptions,
        "verdict": guarantee.verdict,
        "epsilon_reached": guarantee.epsilon,
        "weakenings": [each.build_row() for each in guarantee.weakenings],
        "warnings": list(fit.warnings),
        "population": fit.numbers(),
        "progress": vars(progress),
        "uncounted": [vars(each) for each in reports.count_uncounted(run)],
        "wasted": None if void is None else vars(void),
        "forecast": None if ahead is None else asdict(ahead),
        "needs": [vars(need) for need in reports.list_alerts(run, fit, signs)],
    }


def read_columns(run: Run, schema: type[RunHead]) -> dict[str, Any]:
    """Read the attributes of the run that the schema names; its pool and question set as ids."""
    ids = {"pool": run.pool_id, "question_set": run.question_set_id}
    names = {field.alias or name for name, field in schema.model_fields.items()} - ids.keys()
    return {name: getattr(run, name) for name in names if hasattr(run, name)} | ids


MOVES: dict[str, Callable[[Run, str, str], object]] = {
    **lifecycle.MOVES,
    "join-others": roster_opening.join_others,
}


@api.post("/runs/{run_id}/transitions/{transition}", response=RunOut, summary="Change run state")
def move_run(
    request: HttpRequest,
    run_id: Id,
    transition: Literal["start", "pause", "resume", "stop", "reopen", "join-others"],
    payload: MoveIn | None = None,
) -> dict[str, Any]:
    """Start, pause, resume or stop a run.

    Also reopen one that lost its guarantee by a correction, or let all other workers of its pool
    join.
    """
    run = find_object(request, Run, run_id)
    MOVES[transition](run, requester_name(request), payload.reason if payload else "")
    return show_run(request, run_id)


@api.patch("/runs/{run_id}", response=ChangedOut)
def change_run(request: HttpRequest, run_id: Id, payload: ChangeIn) -> dict[str, Any]:
    """Change a run that has started: all of the changes are made, or none."""
    run = find_object(request, Run, run_id)
    settings = payload.dict(exclude_unset=True)
    moves: dict[str, bool] = {
        name: settings.pop(name) for name in ("enrolling", "archived") if name in settings
    }
    why, preview = settings.pop("reason", ""), settings.pop("preview", False)
    with transaction.atomic():
        changed = (
            changes.apply_changes(run, settings, requester_name(request), why) if settings else {}
        )
        changed |= _apply_moves(run, moves, requester_name(request), why)
        if preview:
            transaction.set_rollback(True)
    return {"changed": changed, "run": show_run(request, run_id)}


def _apply_moves(run: Run, moves: dict[str, bool], by: str, why: str) -> dict[str, str]:
    """Open or close the roster, archive or reopen the run, unless that is its state already."""
    run.refresh_from_db()
    effects = {}
    if "enrolling" in moves and moves["enrolling"] != run.enrolling:
        opens = moves["enrolling"]
        effects["enrolling"] = (previews.open_roster if opens else previews.close_roster)(run)
        (roster_opening.open_roster if opens else roster_opening.close_roster)(run, by, why)
    if "archived" in moves and moves["archived"] != bool(run.archived):
        (lifecycle.archive_run if moves["archived"] else lifecycle.unarchive_run)(run, by, why)
        effects["archived"] = "The guarantee stays as it is."
    return effects
