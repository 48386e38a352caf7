"""Workers who come into a pool whose runs go on: may they join them?"""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from selection.accounts import is_allowed
from selection.errors import Refused
from selection.models import Pool, Run
from selection.runs import previews, roster_opening

MOST_RUNS = 5


def offer_joining(request: HttpRequest, pool: Pool) -> None:
    """For each run of the pool that goes on: offer that the new ones join, or say why not.

    To those who may change runs: others do not learn from it which runs there are.
    """
    if not is_allowed(request, "selection.change_run", pool):
        return
    going = pool.runs.filter(status__in=[Run.Status.RUNNING, Run.Status.PAUSED])
    for run in going.order_by("-id")[:MOST_RUNS]:
        others = roster_opening.workers_not_in_run(run).count()
        if others:
            _offer_message(request, run, others)


def _offer_message(request: HttpRequest, run: Run, others: int) -> None:
    workers = "1 worker of this pool is" if others == 1 else f"{others} workers of this pool are"
    try:
        previews.join_others(run)
    except Refused as refusal:
        messages.info(request, f"{workers} not in the run “{run}”, which goes on: {refusal}")
        return
    url = reverse("admin:selection_run_do_change", args=[run.pk])
    words = "{} not in the run “{}”, which goes on. <a href='{}'>Let them join…</a>"
    messages.info(request, format_html(words, workers, run, url))
