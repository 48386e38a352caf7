"""The join link: it adds its visitor to a run's open roster and leads to their own page."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from selection.errors import Conflict, Refused
from selection.models import Platform, Run
from selection.runs import worker_texts
from selection.runs.roster import enrolment, join_platforms
from selection.runs.roster.join_platforms import Visit

from . import links
from .attendance import ACTED, open_to_people
from .busy_page import excuse_busy
from .caching import never_cached
from .end_texts import return_label
from .languages import worker_language
from .rate_limit import limit_per_visitor
from .views import render_lost

# Amazon Mechanical Turk opens a link as a preview before the worker accepts the task.
PREVIEWED = ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE")
NO_ID = gettext_lazy("A worker's id has 1 to 200 characters, all of which can be seen.")
PROLIFIC_ID = gettext_lazy("An id of Prolific has 24 characters: digits, and the letters a to f.")
UNKNOWN = gettext_lazy(
    "The link does not contain a readable worker id. Go back to the page with the link and open "
    "it there again; nothing was stored."
)
TAKEN = gettext_lazy(
    "This id takes part already. If it is yours, open your earlier link; otherwise choose another "
    "id."
)


@csrf_exempt  # no login: the secret is in the address
@never_cached
@require_http_methods(["GET", "HEAD", "POST"])
@worker_language
@limit_per_visitor
@open_to_people
@excuse_busy
def join_run(request: HttpRequest, token: str) -> HttpResponse:
    run = links.find_run(token)
    if run is None:
        return render_lost(request)
    key = join_platforms.read_worker(run, request.GET)
    previewed = request.GET.get(PREVIEWED[0]) == PREVIEWED[1]
    if key and request.method != "POST" and not previewed:
        # Before the check for the end: known workers get their completion code even then.
        return _enter_from_platform(request, run, key)
    if run.status == Run.Status.ENDED:
        return render_closed(request, run)
    if request.method == "POST":
        return _enter_typed_key(request, run)
    try:
        enrolment.refuse_closed(run)
    except Conflict:
        return render_closed(request, run)
    if previewed:
        return _render_join(request, previewed=True)
    if join_platforms.names_worker(request.GET, run):
        return _render_join(request, 422, problem=UNKNOWN)
    return _render_join(request)


def _enter_from_platform(request: HttpRequest, run: Run, key: str) -> HttpResponse:
    """Enrol the platform's worker, or lead a known one back to their page.

    The platform vouches for the id.
    """
    try:
        source = join_platforms.find_source(run, request.GET)
        candidate, _ = enrolment.enrol_worker(run, key, source=source)
    except Conflict:
        return render_closed(request, run)
    except Refused:
        return _render_join(request, 422, problem=UNKNOWN)
    return redirect("work", links.worker_token(candidate.pk, candidate.link_version))


def _enter_typed_key(request: HttpRequest, run: Run) -> HttpResponse:
    """Enrol a worker by a typed id, which is unverified: never lead to the page of an existing one.

    A worker from a platform that put no id into its link gets back there all the same.
    """
    key = request.POST.get("worker", "")
    try:
        candidate, new = enrolment.enrol_worker(run, key)
    except Conflict:
        return render_closed(request, run)
    except Refused:
        problem = PROLIFIC_ID if run.platform == Platform.PROLIFIC else NO_ID
        return _render_join(request, 422, key=key, problem=problem)
    if not new:
        return _render_join(request, 409, key=key, problem=TAKEN)
    join_platforms.find_source(run, request.GET).note(candidate)
    own = reverse("work", args=[links.worker_token(candidate.pk, candidate.link_version)])
    return redirect(f"{own}?{ACTED}")


def _render_join(request: HttpRequest, status: int = 200, **context: Any) -> HttpResponse:
    """Render the form; the platform's parameters stay in its address, in any language."""
    context["keep"] = request.GET.urlencode()
    return render(request, "work/join.html", context, status=status)


def render_closed(request: HttpRequest, run: Run) -> HttpResponse:
    over = run.status == Run.Status.ENDED
    soon = run.status == Run.Status.DRAFT
    context: dict[str, Any] = {"over": over, "soon": soon, "keep": request.GET.urlencode()}
    source = join_platforms.find_source(run, request.GET)
    visit = Visit(source.platform, join_platforms.read_worker(run, request.GET), source.task)
    code = worker_texts.completion_code(run, "nothing")
    context["back"] = join_platforms.return_address(run, visit, code, done=False)
    context["back_label"] = return_label(source.platform)
    return render(request, "work/closed.html", context, status=410 if over else 409)
