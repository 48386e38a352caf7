"""The worker's page: one question at a time, without JavaScript, cookies or a login."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from selection import intake
from selection.errors import Conflict, NotFound, OutsideChoices, Refused, TooLate
from selection.models import Candidate
from selection.setup import roster

from . import links, page
from .forms import WorkForm
from .pace import each_link

NOTICES = {
    "late": "Too late: the time for that question was up, so it counts as not answered in time.",
    "ended": "This test ended before your answer came in, so that answer was not kept.",
    "choices": "That is none of the answers to choose from; it was not taken. Please choose one.",
    "order": "Each answer has one place, and each place one answer. Please put them in order.",
    "number": "That is not a number; it was not taken. Please give a number.",
    "empty": "Please give an answer first (at most 10,000 characters).",
}
# Answers are taken in together, about half a second after the first: then new questions are out.
WAIT_SECONDS = {"wait": 3, "paused": 20}
DAY = 24 * 3600


@csrf_exempt  # the secret is in the address, not in a cookie, so nobody else can make it be sent
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@each_link
def work(request: HttpRequest, token: str) -> HttpResponse:
    if request.method != "POST":
        return _show(request, token)
    candidate_id = links.candidate_id(token)
    if candidate_id is None:
        return _lost(request)
    if request.POST.get("leave") == "yes":
        return _leave(request, token, candidate_id)
    return _take(request, token, candidate_id)


def _show(request: HttpRequest, token: str) -> HttpResponse:
    named = links.named(token)
    found = page.visit(*named) if named else None
    if found is None:
        return _lost(request)
    if "leave" in request.GET and found.may_leave:
        return render(request, "work/leave.html")
    context = {
        "page": found,
        "notice": NOTICES.get(request.GET.get("notice", "")),
        "refresh": _refresh(found),
        "time_left": _time_left(found.question.seconds_left) if found.question else "",
    }
    return render(request, "work/page.html", context, status=410 if found.state == "over" else 200)


def _refresh(found: page.WorkPage) -> int | None:
    """Seconds after which the page loads itself anew: when waiting, and when time is up."""
    if found.question:
        # Browsers count in 32-bit milliseconds: weeks would come out as "at once".
        return min(found.question.seconds_left + 1, DAY)
    return WAIT_SECONDS.get(found.state)


def _time_left(seconds: int) -> str:
    for unit, size in (("day", DAY), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s left to answer"
    return "Less than 2 minutes left to answer"


def _take(request: HttpRequest, token: str, candidate_id: int) -> HttpResponse:
    form = WorkForm.of(request.POST)
    if not form.is_valid():
        return _back(token, "empty")
    try:
        intake.record(form.cleaned_data["assignment"], form.cleaned_data["response"], candidate_id)
    except NotFound:
        return _lost(request)
    except TooLate:
        return _back(token, "late")
    except Conflict:
        return _back(token, "ended")
    except OutsideChoices as refusal:
        return _back(token, refusal.wanted)
    except Refused:
        return _back(token, "empty")
    return _back(token)


def _leave(request: HttpRequest, token: str, candidate_id: int) -> HttpResponse:
    """The worker wants no more questions. Where the run is over there is nothing to leave."""
    candidate = Candidate.objects.select_related("run").filter(pk=candidate_id).first()
    if candidate is None:
        return _lost(request)
    with suppress(Conflict):
        roster.leave(candidate.run, candidate.worker_id)
    return _back(token)


def _back(token: str, notice: str = "") -> HttpResponseRedirect:
    """To the page itself, so that a reload asks for a question and does not send an answer."""
    response = redirect("work", token)
    if notice:
        response["Location"] += f"?notice={notice}"
    return response


def _lost(request: HttpRequest) -> HttpResponse:
    return render(request, "work/lost.html", status=404)
