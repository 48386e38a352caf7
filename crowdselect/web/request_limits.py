"""Middleware: limits on requests, and database errors as 503."""

import logging
import re
from collections.abc import Callable, Iterator
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from selection.errors import cannot_write, is_read_only

logger = logging.getLogger(__name__)

NUL = re.compile(r"\0|%00")

UNREADABLE = "The address contains an invalid character."
API = "/api/"
TOO_MUCH = "This is more than this server takes at once."
BUSY = "The database is busy or down, and nothing was saved. Send it again in a minute."
FULL = (
    "The server’s disk is full: nothing was saved, and sign-in is not possible. Earlier data is "
    "safe. Ask the administrator of the server to free disk space, then send it again."
)
READ_ONLY = (
    "The database is read-only at the moment, for example during a move, and nothing was saved. "
    "Earlier data is safe. Send it again in a minute."
)
# Messages of SQLite and PostgreSQL.
NO_ROOM = re.compile("is full|I/O error|No space left", re.IGNORECASE)


class RequestLimitsMiddleware:
    """Middleware that refuses malformed and oversized requests before their body is read.

    It follows the session's middleware, which it asks only about large bodies, and precedes
    Django's search for the form's token, which reads the whole body.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if NUL.search(request.path) or NUL.search(request.META.get("QUERY_STRING", "")):
            answer: HttpResponseBase = plain_refusal(request, HTTPStatus.BAD_REQUEST, UNREADABLE)
        elif size_of(request) > most_for(request):
            answer = plain_refusal(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_MUCH)
        else:
            answer = self.get_response(request)
        if answer.status_code >= 400 and request.path.startswith(API):
            answer = format_api_error(request, answer)
        return answer

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Answer 503 if the database is locked or cannot be written to."""
        return answer_unsaved(request, exception) if cannot_write(exception) else None


class DatabaseErrorsMiddleware(SessionMiddleware):
    """Session middleware that answers 503 if the session cannot be saved, as at sign-in."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            return super().process_response(request, response)
        except (DatabaseError, SessionInterrupted) as error:
            reason = next(filter(cannot_write, _error_chain(error)), None)
            if reason is None:
                raise
            return answer_unsaved(request, reason)


def _error_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes: Django reports a session that it cannot update as deleted."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__context__


def answer_unsaved(request: HttpRequest, error: BaseException) -> HttpResponse:
    logger.warning("%s %s: %s", request.method, request.path, error)
    message = FULL if NO_ROOM.search(str(error)) else READ_ONLY if is_read_only(error) else BUSY
    answer = plain_refusal(request, HTTPStatus.SERVICE_UNAVAILABLE, message)
    answer.headers["Retry-After"] = "60"
    return answer


# -- requests


def size_of(request: HttpRequest) -> int:
    """Read the size of the body in bytes, as declared: no more than that is ever read."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    return (
        int(declared) if declared.isdecimal() and len(declared) < 16 else settings.MOST_UPLOADED + 1
    )


def most_for(request: HttpRequest) -> int:
    """Choose the limit in bytes: signed-in users may send files; the API checks tokens first."""
    if request.path.startswith(API):
        files = request.content_type == "multipart/form-data"
        return int(settings.MOST_UPLOADED if files else settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if size_of(request) <= settings.MOST_FROM_STRANGERS:
        return int(settings.MOST_FROM_STRANGERS)
    signed_in = SESSION_KEY in request.session
    return int(settings.MOST_UPLOADED if signed_in else settings.MOST_FROM_STRANGERS)


def plain_refusal(request: HttpRequest, status: HTTPStatus, message: str) -> HttpResponse:
    if request.path.startswith(API):
        return JsonResponse({"error": message}, status=status)
    return render(request, "refused.html", {"why": message}, status=status)


# -- replies

PAGE_HEADERS = ("Content-Type", "Content-Length")
# Messages for requests to the API that Django refuses before the API sees them.
MESSAGES = {
    400: "The request cannot be read.",
    404: "Not found. See /api/docs.",
    405: "{method} is not possible here; {allowed} is.",
    500: "Something went wrong on the server; its log has the details.",
}


def format_api_error(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    """Write the refusal as ``{"error": "one line"}``, with its headers; JSON stays as it is."""
    if answer.headers.get("Content-Type", "").startswith("application/json"):
        return answer
    allowed = sorted(answer.headers.get("Allow", "").split(", "))
    template = MESSAGES.get(answer.status_code, answer.reason_phrase)
    message = template.format(method=request.method, allowed=" or ".join(allowed))
    headers = {name: value for name, value in answer.headers.items() if name not in PAGE_HEADERS}
    short = JsonResponse({"error": message}, status=answer.status_code, headers=headers)
    # Django logs each refusal once, and has logged this one.
    short._has_been_logged = getattr(answer, "_has_been_logged", False)  # type: ignore[attr-defined]
    return short
