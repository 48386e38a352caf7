"""Gold questions on the worker's page: a watched worker answers some, by a link of their own."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from selection.errors import Answered
from selection.models import WatchedWorker
from selection.watches import gold, session

from . import links, messages
from .busy_page import excuse_busy
from .languages import worker_language
from .page import preview_question
from .rate_limit import limit_per_gold_link
from .views import render_lost, result_or_notice


@csrf_exempt  # the secret is in the address, not in a cookie, so that requests cannot be forged
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_language
@limit_per_gold_link
@excuse_busy
def gold_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the next gold question; a POST records an answer first. No grade is told."""
    row = links.find_watched(token)
    if row is None:
        return render_lost(request)
    notice = _take_answer(request, row) if request.method == "POST" else ""
    content = session.find_next(row)
    context: dict[str, Any] = {"state": content.state, "notice": messages.notice_text(notice)}
    if content.question:
        question, context["instructions"] = preview_question(content.question)
        is_sent = request.POST.get("assignment") == str(question.assignment)
        if notice in messages.REFUSED and is_sent:
            question = replace(question, said=tuple(request.POST.getlist("response")))
        context["question"] = question
    status = 410 if content.state == "over" else 200
    return render(request, "work/gold.html", context, status=status)


def _take_answer(request: HttpRequest, row: WatchedWorker) -> str:
    """Record the answer to the question that is the worker's turn; return the notice to show."""

    def take(question_id: int, response: str) -> None:
        question = session.find_next(row).question
        if question is None or question.pk != question_id:
            raise Answered("This question is answered, or it is not the worker's turn.")
        gold.record_shown(row, question, response)

    return result_or_notice(request, take)[1]
