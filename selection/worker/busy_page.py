"""Page for times without database (locked, full, read-only, unreachable): it keeps the input."""

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
WORDS = ("response", "complaint", "worker")  # written by workers themselves: shown again


def excuse_busy(view: View) -> View:
    """Wrap a view: if the database cannot be used, offer a button that sends the same again."""

    @wraps(view)
    def guarded(request: HttpRequest, token: str) -> HttpResponse:
        try:
            return view(request, token)
        except DatabaseError as error:
            if not cannot_write(error):
                raise
            logger.warning("%s %s: %s", request.method, request.path, error)
            return _render_busy(request)

    return guarded


def _render_busy(request: HttpRequest) -> HttpResponse:
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    texts = [value for name, value in fields if name in WORDS]
    context = {"sent": fields, "said": texts, "keep": request.GET.urlencode()}
    response = render(request, "work/busy.html", context, status=HTTPStatus.SERVICE_UNAVAILABLE)
    response.headers["Retry-After"] = str(MINUTE)
    if request.method != "POST":
        response.headers["Refresh"] = str(MINUTE)
    return response
