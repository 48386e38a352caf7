"""The first page after signing in: runs that go on, or how to begin."""

from typing import Any

from django.http import HttpRequest

from selection import reports
from selection.models import Pool, QuestionSet, Run

SHOWN = 6


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the index page's context what its template shows."""
    active = Run.objects.filter(status__in=[Run.Status.RUNNING, Run.Status.PAUSED])
    ended = Run.objects.filter(status=Run.Status.ENDED).order_by("-ended")
    return context | {
        "title": "Overview",
        "cards": [_card(run) for run in active.select_related("pool")[:SHOWN]],
        "more": max(0, active.count() - SHOWN),
        "drafts": Run.objects.filter(status=Run.Status.DRAFT)[:SHOWN],
        "ended": reports.with_counts(ended.select_related("pool"))[:SHOWN],
        "steps": _steps(),
    }


def _card(run: Run) -> dict[str, Any]:
    progress = reports.progress(run)
    return {"run": run, "progress": progress, "percent": round(100 * progress.closed)}


def _steps() -> dict[str, bool]:
    """Which of the first steps are done."""
    return {
        "pool": Pool.objects.filter(workers__isnull=False).exists(),
        "questions": QuestionSet.objects.filter(questions__isnull=False).exists(),
        "run": Run.objects.exclude(status=Run.Status.DRAFT).exists(),
    }
