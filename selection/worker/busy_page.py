"""While the database is locked, full, read-only or away: what a worker sent is kept in the page."""

import logging
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from selection.errors import cannot_write

logger = logging.getLogger(__name__)

View = Callable[[HttpRequest, str], HttpResponse]
MINUTE = 60
WORDS = ("response", "complaint", "worker")  # what they wrote themselves: it is shown to them


def excuse_busy(view: View) -> View:
    """Says so in the worker's words, with a button that sends the same once more."""

    @wraps(view)
    def in_any_case(request: HttpRequest, token: str) -> HttpResponse:
        try:
            return view(request, token)
        except DatabaseError as error:
            if not cannot_write(error):
                raise
            logger.warning("%s %s: %s", request.method, request.path, error)
            return _render_busy(request)

    return in_any_case


def _render_busy(request: HttpRequest) -> HttpResponse:
    sent = [(name, value) for name, values in request.POST.lists() for value in values]
    said = [value for name, value in sent if name in WORDS]
    context = {"sent": sent, "said": said, "keep": request.GET.urlencode()}
    response = render(request, "work/busy.html", context, status=HTTPStatus.SERVICE_UNAVAILABLE)
    response.headers["Retry-After"] = str(MINUTE)
    if request.method != "POST":
        response.headers["Refresh"] = str(MINUTE)
    return response
