"""Gold questions on the worker's page: a watched worker answers some, by a link of their own."""

from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from selection.errors import Answered, NotFound
from selection.facts import Facts
from selection.models import WatchedWorker
from selection.watches import gold, practice, session

from . import links, messages
from .busy_page import excuse_busy
from .languages import worker_language
from .page import preview_question
from .rate_limit import limit_per_gold_link
from .views import explain_answer, practice_notice, render_lost, result_or_notice


@csrf_exempt  # the secret is in the address, not in a cookie, so that requests cannot be forged
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_language
@limit_per_gold_link
@excuse_busy
def gold_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the next gold question, or practice before a test; a POST records an answer first.

    No grade of a gold question is told.
    """
    row = links.find_watched(token)
    if row is None or not links.is_latest_gold(token, row):
        return render_lost(request, replaced=row is not None)
    notice, lesson = "", None
    if request.method == "POST":
        do = _take_practice if "practice" in request.POST else _take_answer
        try:
            lesson, notice = do(request, row)
        except NotFound:
            return render_lost(request)
    if lesson and lesson.done:
        return render(request, "work/lesson.html", {"lesson": explain_answer(lesson)})
    return _show_next(request, row, notice)


def _show_next(request: HttpRequest, row: WatchedWorker, notice: str) -> HttpResponse:
    content = session.find_next(row)
    context: dict[str, Any] = {"state": content.state, "notice": messages.notice_text(notice)}
    if content.question:
        question, context["instructions"] = preview_question(content.question)
        number = request.POST.get("practice") or request.POST.get("assignment")
        if notice in messages.REFUSED and number == str(question.assignment):
            question = replace(question, said=tuple(request.POST.getlist("response")))
        context["question"] = question
    status = 410 if content.state == "over" else 200
    return render(request, "work/gold.html", context, status=status)


def _take_answer(request: HttpRequest, row: WatchedWorker) -> tuple[None, str]:
    """Record the answer to the question that is the worker's turn; return the notice to show."""

    def take(question_id: int, response: str) -> None:
        content = session.find_next(row)
        if content.state != "question" or content.question.pk != question_id:
            raise Answered("This question is answered, or it is not the worker's turn.")
        gold.record_shown(row, content.question, response)

    return result_or_notice(request, take)


def _take_practice(request: HttpRequest, row: WatchedWorker) -> tuple[Facts | None, str]:
    """Record an answer to a practice question; return the result, and the notice to show."""
    lesson, notice = result_or_notice(request, partial(practice.answer_practice, row))
    row.refresh_from_db(fields=["state", "since"])
    return lesson, practice_notice(lesson) if lesson else notice
