"""Runs: how they stand, their life, what may be changed."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from selection import reports
from selection.access import scoped
from selection.models import Run
from selection.setup import changes, joining, previews, priors, runs

from .base import ERRORS, api, who
from .schemas import ChangedOut, ChangeIn, EventOut, HistoryOut, RunOut, StepOut


@api.get("/runs/{run_id}", response={200: RunOut, **ERRORS}, tags=["runs"])
def show_run(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """How a run stands."""
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    fit, promised = reports.fit(run), reports.promise_status(run)
    progress = reports.progress(run)
    ahead = reports.ahead(run, progress)
    return {
        **{field: getattr(run, field) for field in RunOut.model_fields if hasattr(run, field)},
        "options": run.hand_set,
        "learned_from": priors.as_numbers(run),
        "skills": [{"skill": str(skill), "k": skill.k} for skill in run.skills],
        "promise": promised.sentence,
        "over": promised.over,
        "by_hand": promised.by_hand,
        "epsilon_reached": promised.epsilon,
        "warnings": list(fit.warnings),
        "population": fit.numbers(),
        "progress": vars(progress),
        "forecast": None if ahead is None else asdict(ahead),
        "needs": [vars(need) for need in reports.needs(run, fit, reports.signs(run))],
    }


MOVES: dict[str, Callable[[Run, str], None]] = {
    "start": runs.start,
    "pause": runs.pause,
    "resume": runs.resume,
    "stop": runs.stop,
}


@api.post("/runs/{run_id}/moves/{move}", response={200: RunOut, **ERRORS}, tags=["runs"])
def move_run(
    request: HttpRequest, run_id: int, move: Literal["start", "pause", "resume", "stop"]
) -> dict[str, Any]:
    """Start, pause, resume or stop a run."""
    MOVES[move](get_object_or_404(scoped(Run, request), pk=run_id), who(request))
    return show_run(request, run_id)


@api.get("/runs/{run_id}/standings", response={200: list[dict[str, Any]], **ERRORS}, tags=["runs"])
def show_standings(request: HttpRequest, run_id: int) -> list[dict[str, Any]]:
    """Every worker's answers, mean, bounds and verdict."""
    return [
        vars(line) for line in reports.standings(get_object_or_404(scoped(Run, request), pk=run_id))
    ]


@api.get("/runs/{run_id}/selection", response={200: dict[str, Any], **ERRORS}, tags=["runs"])
def show_selection(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """The workers selected, with the run's parameters and what it promises."""
    return reports.export(get_object_or_404(scoped(Run, request), pk=run_id))


@api.patch("/runs/{run_id}", response={200: ChangedOut, **ERRORS}, tags=["runs"])
def change_run(request: HttpRequest, run_id: int, payload: ChangeIn) -> dict[str, Any]:
    """Change a run that has started: all of what is asked, or nothing."""
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    given = payload.dict(exclude_unset=True)
    moves: dict[str, bool] = {
        name: given.pop(name) for name in ("enrolling", "concluded") if name in given
    }
    why, preview = given.pop("why", ""), given.pop("preview", False)
    with transaction.atomic():
        changed = changes.apply(run, given, who(request), why) if given else {}
        changed |= _moved(run, moves, who(request), why)
        if preview:
            transaction.set_rollback(True)
    return {"changed": changed, "run": show_run(request, run_id)}


def _moved(run: Run, moves: dict[str, bool], by: str, why: str) -> dict[str, str]:
    """Open or close the roster, put aside or take up, where that is not so already."""
    run.refresh_from_db()
    said = {}
    if "enrolling" in moves and moves["enrolling"] != run.enrolling:
        opens = moves["enrolling"]
        said["enrolling"] = (previews.open_roster if opens else previews.close_roster)(run)
        (joining.open_roster if opens else joining.close_roster)(run, by, why)
    if "concluded" in moves and moves["concluded"] != bool(run.concluded):
        (runs.conclude if moves["concluded"] else runs.take_up)(run, by, why)
        said["concluded"] = "The promise stays as it is."
    return said


@api.get("/runs/{run_id}/history", response={200: HistoryOut, **ERRORS}, tags=["runs"])
def show_history(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """What was done to a run by whom, and its steps."""
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    steps = [
        {name: getattr(step, name) for name in StepOut.model_fields}
        for step in reports.history(run)
    ]
    events = [
        {name: getattr(event, name) for name in EventOut.model_fields} for event in run.events.all()
    ]
    return {"events": events, "steps": steps}
