"""Offer to let a pool's new workers join its active runs."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from selection.accounts import is_allowed
from selection.errors import Refused
from selection.models import Pool, Run
from selection.runs.roster import previews, roster_opening
from selection.texts import count_noun

MOST_RUNS = 5


def offer_joining(request: HttpRequest, pool: Pool) -> None:
    """Show a message for each active run of the pool: an offer to join, or the reason against it.

    Shown only with the permission to change runs: other users must not learn of them.
    """
    if not is_allowed(request, "selection.change_run", pool):
        return
    active = pool.runs.filter(status__in=[Run.Status.RUNNING, Run.Status.PAUSED])
    for run in active.order_by("-id")[:MOST_RUNS]:
        count = roster_opening.workers_not_in_run(run).count()
        if count:
            _offer_message(request, run, count)


def _offer_message(request: HttpRequest, run: Run, count: int) -> None:
    workers = f"{count_noun(count, 'worker')} of this pool {'is' if count == 1 else 'are'}"
    try:
        previews.join_others(run)
    except Refused as refusal:
        messages.info(request, f"{workers} not in the run “{run}”, which goes on: {refusal}")
        return
    url = reverse("admin:selection_run_do_change", args=[run.pk])
    template = "{} not in the run “{}”, which goes on. <a href='{}'>Let them join…</a>"
    messages.info(request, format_html(template, workers, run, url))
