"""Ways for workers into a run, on its page: the ways that fit the run come first."""

from typing import Any

from django.conf import settings
from django.db.models import Count, Q

from selection.accounts.docs_pages import docs_address
from selection.facts import Facts
from selection.model_workers.askable import has_models_only
from selection.model_workers.spending import has_models
from selection.models import Platform, Run
from selection.runs.roster import join_platforms
from selection.worker import links

MOST_COPIED = 200  # links behind a button; more of them only as a file


def entrance_facts(run: Run, may_change: bool, connected: bool) -> dict[str, Any]:
    """Build the context of the card; none without joiners, or for users without the right."""
    over = run.status == Run.Status.ENDED or run.recorded_only
    if over or not may_change or _asks_models_only(run):
        return {}
    people = run.candidates.filter(skill=0, gone="")
    counts = people.aggregate(
        present=Count("pk"),
        started=Count("pk", filter=~Q(seen=None, pulls=0)),
        reachable=Count("pk", filter=~Q(worker__mail_address="")),
    )
    platform = join_platforms.JOIN_PLATFORMS[Platform(run.platform)] if run.platform else None
    copies = not counts["started"] and counts["present"] <= MOST_COPIED
    entrance = Facts(
        ways=_order_ways(run, counts["present"], connected),
        copied=_list_links(run) if copies else "",
        steps=platform.steps if platform else (),
        guide=docs_address(platform.guide if platform else "platforms"),
        **counts,
    )
    return {"entrance": entrance, "https": settings.PUBLIC_URL.startswith("https:")}


def _asks_models_only(run: Run) -> bool:
    return not run.enrolling and has_models(run) and has_models_only(run.pool)


def _order_ways(run: Run, present: int, connected: bool) -> list[str]:
    possible = {
        "connection": connected,
        "platform": run.enrolling and bool(run.platform),
        "links": present > 0,
        "join": run.enrolling and not run.platform,
    }
    return [way for way, fits in possible.items() if fits]


def _list_links(run: Run) -> str:
    people = run.candidates.filter(skill=0, gone="").select_related("worker").order_by("worker")
    return "\n".join(
        f"{one.worker.key}\t{links.worker_url(one.pk, one.link_version)}" for one in people
    )
