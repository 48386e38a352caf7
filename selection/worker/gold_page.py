"""Gold questions on the worker's page: a watched worker answers some, by a link of their own."""

from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from selection.errors import NotFound
from selection.models import WatchedWorker
from selection.watches import gold, practice, session

from . import links, messages
from .busy_page import excuse_busy
from .caching import never_cached
from .languages import worker_language
from .page import preview_question
from .rate_limit import limit_per_gold_link
from .views import (
    Sent,
    redirect_to_page,
    render_lesson,
    render_lost,
    result_or_notice,
    sent_practice,
)


@csrf_exempt  # the secret is in the address, not in a cookie, so that requests cannot be forged
@never_cached
@require_http_methods(["GET", "HEAD", "POST"])
@worker_language
@limit_per_gold_link
@excuse_busy
def gold_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the next gold question, or practice before a test; a POST leads back to this page.

    No grade of a gold question is told.
    """
    row = links.find_watched(token)
    if row is None or not links.is_latest_gold(token, row):
        return render_lost(request, replaced=row is not None)
    if request.method != "POST":
        lesson = render_lesson(request, row.practised.filter(done=True))
        return lesson or _show_next(request, row, request.GET.get("notice", ""))
    try:
        sent = _take_form(request, row)
    except NotFound:
        return render_lost(request)
    return redirect_to_page(request, sent) or _show_next(request, row, sent.notice)


def _show_next(request: HttpRequest, row: WatchedWorker, notice: str) -> HttpResponse:
    content = session.find_next(row)
    context: dict[str, Any] = {"state": content.state, "notice": messages.notice_text(notice)}
    if content.state == "next":
        context |= {"minutes": row.watch.minutes, "again": row.gold_answers.exists()}
    elif content.question:
        question, context["instructions"] = preview_question(content.question)
        question = replace(question, due=content.due)
        context["time_left"] = messages.time_left(question.seconds_left)
        number = request.POST.get("practice") or request.POST.get("assignment")
        if notice in messages.REFUSED and number == str(question.assignment):
            question = replace(question, said=tuple(request.POST.getlist("response")))
        context["question"] = question
    status = 410 if content.state == "over" else 200
    return render(request, "work/gold.html", context, status=status)


def _take_form(request: HttpRequest, row: WatchedWorker) -> Sent:
    if "start" in request.POST:
        return _show_question(row)
    return (_take_practice if "practice" in request.POST else _take_answer)(request, row)


def _show_question(row: WatchedWorker) -> Sent:
    """Start the time of the next question: its worker asks for it.

    A mail program that opens the link starts none, nor does the answer before.
    """
    content = session.find_next(row)
    if content.state == "next":
        gold.record_shown(row, content.question)
    return Sent()


def _take_answer(request: HttpRequest, row: WatchedWorker) -> Sent:
    return Sent(result_or_notice(request, partial(gold.record_response, row))[1])


def _take_practice(request: HttpRequest, row: WatchedWorker) -> Sent:
    return sent_practice(*result_or_notice(request, partial(practice.answer_practice, row)))
