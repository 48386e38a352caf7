"""What every request passes on its way in and every answer on its way out."""

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

UNREADABLE = "There is a character in the address that no address has."
API = "/api/"
TOO_MUCH = "That is more than this server takes at once."
BUSY = "The database is busy or away, so nothing of this was saved. Send it again in a minute."
FULL = (
    "The server’s disk takes nothing more, so nothing of this was saved, and nobody can sign in. "
    "What was saved before is still there. Whoever runs the server must make room on its disk; then"
    " send it again."
)
READ_ONLY = (
    "The database takes no changes just now, as while it moves to another server, so nothing of "
    "this was saved. What was saved before is still there. Send it again in a minute."
)
# As SQLite and PostgreSQL say it.
NO_ROOM = re.compile("is full|I/O error|No space left", re.IGNORECASE)


class RequestLimitsMiddleware:
    """Refuses what nobody can have meant before anything is read of it.

    It stands after the session's middleware, which it asks only about large bodies, and before
    Django looks for the form's token, because looking for it reads the whole body.
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
        """Somebody else has held for long what this request needs, or nothing can be written."""
        return answer_unsaved(request, exception) if cannot_write(exception) else None


class DatabaseErrorsMiddleware(SessionMiddleware):
    """What a page has put into the session is written down after it, as while somebody signs in."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            return super().process_response(request, response)
        except (DatabaseError, SessionInterrupted) as error:
            reason = next(filter(cannot_write, _error_chain(error)), None)
            if reason is None:
                raise
            return answer_unsaved(request, reason)


def _error_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and those it came of: Django calls a session it cannot update deleted."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__context__


def answer_unsaved(request: HttpRequest, error: BaseException) -> HttpResponse:
    logger.warning("%s %s: %s", request.method, request.path, error)
    why = FULL if NO_ROOM.search(str(error)) else READ_ONLY if is_read_only(error) else BUSY
    answer = plain_refusal(request, HTTPStatus.SERVICE_UNAVAILABLE, why)
    answer.headers["Retry-After"] = "60"
    return answer


# -- in


def size_of(request: HttpRequest) -> int:
    """Bytes of the body, as its sender says: no more than that is ever read."""
    said = request.META.get("CONTENT_LENGTH") or "0"
    return int(said) if said.isdecimal() and len(said) < 16 else settings.MOST_UPLOADED + 1


def most_for(request: HttpRequest) -> int:
    """Bytes: files come from those who are signed in. (The API looks at the token first.)"""
    if request.path.startswith(API):
        files = request.content_type == "multipart/form-data"
        return int(settings.MOST_UPLOADED if files else settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if size_of(request) <= settings.MOST_FROM_STRANGERS:
        return int(settings.MOST_FROM_STRANGERS)
    known = SESSION_KEY in request.session
    return int(settings.MOST_UPLOADED if known else settings.MOST_FROM_STRANGERS)


def plain_refusal(request: HttpRequest, status: HTTPStatus, why: str) -> HttpResponse:
    if request.path.startswith(API):
        return JsonResponse({"error": why}, status=status)
    return render(request, "refused.html", {"why": why}, status=status)


# -- out

OF_THE_PAGE = ("Content-Type", "Content-Length")
# What Django says of requests to the API that never get there, in the API's own words.
WORDS = {
    400: "The request cannot be read.",
    404: "There is nothing at this address; /api/docs has those that there are.",
    405: "{method} is not possible here; {allowed} is.",
    500: "Something went wrong on the server's side, and was written to its log.",
}


def format_api_error(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    """The same refusal as ``{"error": "one line"}``, with its headers. Those that are so stay."""
    if answer.headers.get("Content-Type", "").startswith("application/json"):
        return answer
    allowed = sorted(answer.headers.get("Allow", "").split(", "))
    words = WORDS.get(answer.status_code, answer.reason_phrase)
    told = words.format(method=request.method, allowed=" or ".join(allowed))
    kept = {name: value for name, value in answer.headers.items() if name not in OF_THE_PAGE}
    short = JsonResponse({"error": told}, status=answer.status_code, headers=kept)
    # Django logs each refusal once: this is the one that it has logged.
    short._has_been_logged = getattr(answer, "_has_been_logged", False)  # type: ignore[attr-defined]
    return short
