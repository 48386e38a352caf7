"""The first page after signing in: decisions to take, active runs, or the first steps."""

from typing import Any

from django.http import HttpRequest

from selection import reports
from selection.accounts import is_allowed, scoped
from selection.models import Pool, QuestionSet, Run

SHOWN = 6
# Active runs that get a card at most; the list of runs has them all.
MOST_RUNS = 50


def add_dashboard_context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the index page's context with the cards and lists for this user."""
    if not is_allowed(request, "selection.view_run"):
        return context | {"title": "Overview", "shut_out": True}
    runs = scoped(Run, request)
    active = runs.filter(status__in=[Run.Status.RUNNING, Run.Status.PAUSED])
    ended = runs.filter(status=Run.Status.ENDED).order_by("-ended").select_related("pool")
    cards = [_run_card(run) for run in active.select_related("pool")[:MOST_RUNS]]
    cards.sort(key=lambda card: not card["needs"])  # stable: the newest first among equals
    return context | {
        "title": "Overview",
        "cards": cards[:SHOWN],
        "more": max(0, active.count() - SHOWN),
        "review": ended.filter(concluded=None)[:SHOWN],
        "more_review": max(0, ended.filter(concluded=None).count() - SHOWN),
        "drafts": runs.filter(status=Run.Status.DRAFT)[:SHOWN],
        "ended": ended.exclude(concluded=None)[:SHOWN],
        "steps": _first_steps(request),
    }


def _run_card(run: Run) -> dict[str, Any]:
    """Return a card's context. Fit and collusion take time, so only running runs have them."""
    progress = reports.read_progress(run)
    running = run.status == Run.Status.RUNNING
    fit, signs = (reports.model_fit(run), reports.find_signs(run)) if running else (None, None)
    return {
        "run": run,
        "progress": progress,
        "percent": round(100 * progress.closed),
        "needs": reports.list_alerts(run, fit, signs),
    }


def _first_steps(request: HttpRequest) -> dict[str, bool]:
    """Return which of the first steps are done, by name."""
    return {
        "pool": scoped(Pool, request).filter(workers__isnull=False).exists(),
        "questions": scoped(QuestionSet, request).filter(questions__isnull=False).exists(),
        "run": scoped(Run, request).exclude(status=Run.Status.DRAFT).exists(),
    }
