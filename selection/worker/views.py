"""The worker's page: one question at a time, without JavaScript, cookies or a login."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import NamedTuple, Self, TypeVar
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from selection.answers import recording
from selection.errors import (
    Answered,
    Conflict,
    NotFound,
    OutsideChoices,
    Refused,
    Retired,
    TooLate,
)
from selection.facts import Facts
from selection.grading.rules import SEPARATOR
from selection.models import Candidate, PracticeAnswer, Run
from selection.questions import practice, problem_reports
from selection.questions.sanitize import QuestionTexts
from selection.runs.roster import membership

from . import attendance, links, messages, page
from .busy_page import excuse_busy
from .caching import never_cached
from .languages import worker_language
from .rate_limit import limit_per_link

Made = TypeVar("Made")

# The engine counts answers in batches, about half a second after the first; then it asks anew.
WAIT_SECONDS = {"wait": 3, "paused": 20}
FIRST_SECONDS = 1  # who joins a run before its first step has a question soon
DAY = 24 * 3600


class Sent(NamedTuple):
    """The outcome of a POST: the notice to show, and the practice question to explain."""

    notice: str = ""
    lesson: int | None = None


@csrf_exempt  # the secret is in the address, not in a cookie, so that requests cannot be forged
@never_cached
@require_http_methods(["GET", "HEAD", "POST"])
@worker_language
@limit_per_link
@excuse_busy
def work_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page. What is sent leads back to it, so that Back never sends anything again.

    Sending the same again, by a reload or from another tab, changes nothing.
    """
    shown = request.method != "POST"
    if shown and "lesson" not in request.GET:
        return _show_page(request, token)
    candidate_id = links.candidate_id(token)
    if candidate_id is None:
        return render_lost(request)
    if shown:
        return render_lesson(request, practice.done_by(candidate_id)) or _show_page(request, token)
    try:
        sent = _take(request, candidate_id)
    except NotFound:
        return render_lost(request)
    return redirect_to_page(request, sent) or _show_page(request, token, sent.notice)


def _take(request: HttpRequest, candidate_id: int) -> Sent:
    """Take what a worker has sent. Raises NotFound for a foreign question."""
    if "start" in request.POST:
        return Sent()
    if request.POST.get("leave") == "yes":
        _leave_or_withdraw(candidate_id, membership.record_leaving)
        return Sent()
    if "practice" in request.POST:
        return _take_practice(request, candidate_id)
    do = _take_problem_report if "complaint" in request.POST else _take_answer
    return Sent(do(request, candidate_id))


def _show_page(request: HttpRequest, token: str, notice: str = "") -> HttpResponse:
    notice = notice or request.GET.get("notice", "")
    identity = links.read_worker_token(token)
    acting = attendance.has_acted(request)
    content = page.visit_page(*identity, acting) if identity else None
    if content is None:
        return render_lost(request)
    if notice in messages.REFUSED:
        content = _keep_sent_response(request, content)
    if "leave" in request.GET and content.may_leave:
        return render(request, "work/leave.html")
    tries = attendance.count_tries(request)
    first = content.state == "wait" and not content.answered and tries < attendance.MOST_TRIES
    context = {
        "page": content,
        "first": acting and first,
        "acted": f"?{attendance.ACTED}" if acting else "?",
        "notice": messages.notice_text(notice),
        "time_left": messages.time_left(content.question.seconds_left) if content.question else "",
        "still": "still" in request.GET,
    }
    status = 410 if content.state == "over" else 200
    response = render(request, "work/page.html", context, status=status)
    refresh = FIRST_SECONDS if context["first"] else _refresh_seconds(content)
    if refresh is not None and not context["still"]:
        # When time is up nobody may be there: only a page that waits goes on by itself.
        again = f"?{attendance.ACTED}={tries + 1}" if acting and not content.question else ""
        response.headers["Refresh"] = f"{refresh}; url={request.path}{again}"
    return response


def _keep_sent_response(request: HttpRequest, content: page.WorkPage) -> page.WorkPage:
    """Keep the refused response in its question, if that is still shown."""
    assignment = request.POST.get("practice") or request.POST.get("assignment")
    if content.question is None or assignment != str(content.question.assignment):
        return content
    response = tuple(request.POST.getlist("response"))
    return replace(content, question=replace(content.question, said=response))


def _refresh_seconds(content: page.WorkPage) -> int | None:
    """Count the seconds until the page reloads: while it waits, and when time is up."""
    if content.question:
        if content.question.seconds_left is None:
            return None
        # Browsers count in 32-bit milliseconds: weeks would overflow to an immediate reload.
        return min(content.question.seconds_left + 1, DAY)
    return WAIT_SECONDS.get(content.state)


def _take_answer(request: HttpRequest, candidate_id: int) -> str:
    """Record the answer; return the notice to show. Raises NotFound for a foreign question."""
    receipt, notice = result_or_notice(
        request, lambda pk, response: recording.record_answer(pk, response, candidate_id)
    )
    if receipt is None or not receipt.duplicate:
        return notice
    return "again" if receipt.kept else "retired"


def _take_practice(request: HttpRequest, candidate_id: int) -> Sent:
    lesson, notice = result_or_notice(
        request, lambda pk, response: practice.answer_practice(candidate_id, pk, response)
    )
    if lesson and lesson.left == 0:
        _leave_or_withdraw(candidate_id, membership.record_failed_screening)
    return sent_practice(lesson, notice)


def result_or_notice(
    request: HttpRequest, take: Callable[[int, str], Made]
) -> tuple[Made | None, str]:
    """Call ``take``, or give None and the notice with the reason of the refusal."""
    form = WorkForm.parse(request.POST)
    if not form.is_valid():
        return None, "empty"
    try:
        return take(form.cleaned_data["assignment"], form.cleaned_data["response"]), ""
    except NotFound:
        raise
    except TooLate:
        return None, "late"
    except Answered:
        return None, "again"  # sent from two windows: the first one counts
    except Retired:
        return None, "retired"
    except Conflict:
        return None, "ended"
    except OutsideChoices as refusal:
        return None, refusal.wanted
    except Refused:
        return None, "empty"


def _take_problem_report(request: HttpRequest, candidate_id: int) -> str:
    assignment = request.POST.get("assignment", "")
    number = int(assignment) if assignment.isdecimal() and len(assignment) < 20 else 0
    try:
        problem_reports.report_problem(
            min(number, BIGGEST_ID), candidate_id, request.POST["complaint"]
        )
    except NotFound:
        raise
    except Refused:
        return "wordless"
    return "heard"


def _leave_or_withdraw(candidate_id: int, go: Callable[[Run, int], None]) -> None:
    """Take the worker out of the run; no effect if it is over."""
    candidate = Candidate.objects.select_related("run").get(pk=candidate_id)
    with suppress(Conflict):
        go(candidate.run, candidate.worker_id)


def render_lost(request: HttpRequest, replaced: bool = False) -> HttpResponse:
    status = 410 if replaced else 404
    return render(request, "work/lost.html", {"replaced": replaced}, status=status)


# -- from what is sent to a page


def redirect_to_page(request: HttpRequest, sent: Sent) -> HttpResponse | None:
    """Lead to the page; None if a refused response is to be shown again, to be corrected."""
    if sent.notice in messages.REFUSED:
        return None
    query = {attendance.ACTED: ""} if sent.lesson is None else {"lesson": str(sent.lesson)}
    query |= {"notice": sent.notice} if sent.notice else {}
    return HttpResponseRedirect(f"{request.path}?{urlencode(query)}", status=HTTPStatus.SEE_OTHER)


def sent_practice(lesson: Facts | None, notice: str) -> Sent:
    """Say what follows an answer to a practice question, or its refusal."""
    if lesson is None or lesson.left == 0:
        return Sent(notice)
    if lesson.done:
        return Sent(lesson=lesson.practice.pk)
    return Sent("practice" if lesson.left is None else f"practice {lesson.left}")


def render_lesson(request: HttpRequest, answers: "QuerySet[PracticeAnswer]") -> HttpResponse | None:
    """Explain the practice question in the address if it is among these, which are done."""
    number = request.GET.get("lesson", "")
    if not number.isdecimal() or len(number) >= len(str(BIGGEST_ID)):
        return None
    row = answers.filter(practice=int(number)).select_related("practice").first()
    context = {"lesson": row and explain_answer(row), "keep": request.GET.urlencode()}
    return render(request, "work/lesson.html", context) if row else None


BIGGEST_ID = 2**63 - 1


class WorkForm(forms.Form):
    """A worker's answer to an assignment, or to a practice question."""

    assignment = forms.IntegerField(min_value=1, max_value=BIGGEST_ID)
    response = forms.CharField(max_length=10_000)

    @classmethod
    def parse(cls, post: QueryDict) -> Self:
        """Parse a form in which several ticks, or places of an order, make one response."""
        response = f" {SEPARATOR} ".join(post.getlist("response"))
        assignment = post.get("practice") or post.get("assignment")
        return cls({"assignment": assignment, "response": response})


# -- explanations after practice


def explain_answer(lesson: PracticeAnswer) -> Facts:
    """Render the texts as HTML. They may have the answer, since practice never counts."""
    question = lesson.practice
    texts = QuestionTexts.load(
        question.question_set,
        question.prompt,
        question.explanation,
        *question.accepted,
        *question.choices,
    )
    several = question.kind in ("multiple", "order")
    answers = map(texts.choice, question.accepted if several else question.accepted[:1])
    return Facts(
        right=lesson.right,
        prompt=texts.html(question.prompt),
        answers=mark_safe(", ".join(answers)),  # noqa: S308
        explanation=texts.html(question.explanation),
    )
