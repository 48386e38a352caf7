"""The first page after signing in: the next step, with the runs that need attention first."""

from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from selection import reports
from selection.accounts import is_allowed, scoped
from selection.facts import Facts
from selection.model_workers.spending import with_models
from selection.models import SAMPLE_RUN, Pool, QuestionSet, Run, Watch
from selection.watches import overview

SHOWN = 6
SAMPLE = "Sample"  # the names of the sample run's pool and question sets begin so
# Active runs that are looked at; the list of runs has them all.
MOST_RUNS = 50
# The status of a run by its most urgent alert; all other alerts ask for a look.
WORDS = {"stuck": "Stuck", "waits": "Waiting", "quiet": "Waiting", "joins": "Waiting"}
WORDS |= {"paused": "Paused", "review": "Review"}
CHECK = "Check"


def add_dashboard_context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    if not is_allowed(request, "selection.view_run"):
        return context | {"title": "Overview", "shut_out": True}
    runs = scoped(Run, request).select_related("pool")
    size = Count("candidates", filter=Q(candidates__skill=0))
    runs = runs.annotate(size=size, with_models=with_models())
    active = runs.filter(status__in=[Run.Status.RUNNING, Run.Status.PAUSED])
    ended = runs.filter(status=Run.Status.ENDED).order_by("-ended")
    review, archived = ended.filter(archived=None), ended.exclude(archived=None)
    entries = [_active_entry(run) for run in active[:MOST_RUNS]]
    # A person stopped a paused run.
    urgent = [entry for entry in entries if entry.needs or entry.run.status == Run.Status.PAUSED]
    calm = [entry for entry in entries if entry not in urgent]
    return context | {
        "title": "Overview",
        "watches": _watches_with_alarms(request),
        "attention": [*_entries(review, "Review"), *urgent[:SHOWN]],
        "more_urgent": max(0, len(urgent) - SHOWN),
        "more_review": max(0, review.count() - SHOWN),
        "running": calm[:SHOWN],
        "more_running": max(0, active.count() - len(urgent) - SHOWN),
        "drafts": _entries(runs.filter(status=Run.Status.DRAFT), "Draft"),
        "archived": _entries(archived, "Archived"),
        "steps": _first_steps(request),
        "sample": runs.filter(name=SAMPLE_RUN).first(),
    }


def _watches_with_alarms(request: HttpRequest) -> QuerySet[Watch]:
    """Select the watches with an open alarm; a stopped one asks for nothing."""
    if not is_allowed(request, "selection.view_watch"):
        return scoped(Watch, request).none()
    watches: QuerySet[Any] = overview.with_counts(scoped(Watch, request).filter(stopped=None))
    return watches.filter(alarms__gt=0).order_by("-alarms", "pk")


def _entries(runs: QuerySet[Run], word: str) -> list[Facts]:
    return [Facts(run=run, word=word, needs=[], progress=None, percent=0) for run in runs[:SHOWN]]


def _active_entry(run: Run) -> Facts:
    """Fit and collusion take time, so only running runs have them."""
    running = run.status == Run.Status.RUNNING
    fit, signs = (reports.model_fit(run), reports.find_signs(run)) if running else (None, None)
    needs = reports.list_alerts(run, fit, signs)
    word = WORDS.get(needs[0].kind, CHECK) if needs else run.state.capitalize()
    progress = reports.read_progress(run)
    return Facts(
        run=run, word=word, needs=needs, progress=progress, percent=round(100 * progress.closed)
    )


def _first_steps(request: HttpRequest) -> dict[str, bool]:
    """Tell by name which of the first steps are done. The sample run is not the user's."""
    started = scoped(Run, request).exclude(status=Run.Status.DRAFT)
    pools = scoped(Pool, request).filter(workers__isnull=False)
    sets = scoped(QuestionSet, request).filter(questions__isnull=False)
    return {
        "pool": pools.exclude(name__startswith=SAMPLE).exists(),
        "questions": sets.exclude(name__startswith=SAMPLE).exists(),
        "run": started.exclude(name=SAMPLE_RUN).exists(),
    }
