"""Amazon Mechanical Turk's ExternalQuestion: a run's questions in a frame of the platform's page.

The platform opens the entry with ``assignmentId``, ``hitId``, ``workerId`` and ``turkSubmitTo``.
The worker answers on their own page inside the frame, and when there is nothing to answer hands the
task in by a form that posts to the platform. Only these addresses may be framed, by the platform's
hosts alone, and post to them alone (crowdselect/web/security_headers.py).
"""

import re
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from selection.errors import Conflict, Refused
from selection.models import Candidate
from selection.questions.sanitize import QuestionTexts
from selection.runs.roster import enrolment

from . import join, links, views
from .attendance import open_to_people
from .busy_page import excuse_busy
from .caching import never_cached
from .languages import worker_language
from .rate_limit import limit_per_link, limit_per_visitor

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
ASSIGNMENT = re.compile(r"[A-Za-z0-9_-]{1,100}")
_signer = Signer(salt="selection.mturk", sep=".")

STRANGE = gettext_lazy(
    "This is not how Amazon Mechanical Turk opens a task: the task that was accepted and where it "
    "is handed in are missing. Open it on the platform again, and return it if that does not help."
)


@xframe_options_exempt
@never_cached
@require_safe
@worker_language
@limit_per_visitor
@open_to_people
@excuse_busy
def enter_from_mturk(request: HttpRequest, token: str) -> HttpResponse:
    run = links.find_run(token)
    if run is None:
        return views.render_lost(request)
    params = {name: request.GET.get(name, "") for name in ("assignmentId", "workerId")}
    if params["assignmentId"] == PREVIEW:
        question_set = run.question_set
        instructions = QuestionTexts.load(question_set, question_set.instructions).html(
            question_set.instructions
        )
        context = {"instructions": instructions, "keep": request.GET.urlencode()}
        return render(request, "work/mturk.html", context)
    host = submits_to(request.GET.get("turkSubmitTo", ""))
    if not (host and ASSIGNMENT.fullmatch(params["assignmentId"])):
        return render(request, "work/mturk.html", {"problem": STRANGE}, status=400)
    try:  # known workers may hand in even after the end
        source = enrolment.EnrolmentSource(Candidate.Platform.MTURK, params["assignmentId"])
        candidate, _ = enrolment.enrol_worker(run, params["workerId"], source=source)
    except Conflict:
        return join.render_closed(request, run)
    except Refused:
        problem = {"problem": join.UNKNOWN, "keep": request.GET.urlencode()}
        return render(request, "work/mturk.html", problem, status=422)
    visit = [links.worker_token(candidate.pk, candidate.link_version), params["assignmentId"], host]
    return redirect("mturk-work", _signer.sign_object(visit))


def submits_to(address: str) -> str:
    """Find the origin that takes the finished task, if it is one of the platform's; else ""."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    origin = f"{parts.scheme}://{parts.netloc}"
    return origin if origin in settings.MTURK_SUBMITS_TO else ""


@csrf_exempt  # like views.work_page: the secret is in the address
@xframe_options_exempt
@never_cached
@require_http_methods(["GET", "HEAD", "POST"])
@worker_language
@limit_per_link
def work_in_mturk(request: HttpRequest, token: str) -> HttpResponse:
    try:
        link, assignment, host = _signer.unsign_object(token)
    except (BadSignature, ValueError):
        return views.render_lost(request)
    task = {"action": f"{host}/mturk/externalSubmit", "assignment": assignment}
    handing_in: Any = request
    handing_in.handing_in = task  # templates/work/base.html shows the form
    return views.work_page(request, link)
