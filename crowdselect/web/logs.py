"""What is logged, without the secrets in addresses: as words, or as a line of JSON each.

Whoever has a link is that worker, so no log has one.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from celery import current_task
from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import Http404, HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase

# A link's token, which Django tells with every page that was not found, or is gone; an API token.
SECRETS = re.compile(
    r"(?<=/work/)[^/\s?\"']+|(?<=/join/)[^/\s?\"']+|(?<=/mturk/)[^/\s?\"']+|\bcs_[\w-]{16,}"
)
# What is said of a line besides its words, where it is known.
ABOUT = ("request", "task", "run", "step", "method", "path", "status", "ms")
# The first where nothing is said.
LEVELS = ["WARNING", "DEBUG", "INFO", "ERROR", "CRITICAL"]
# What a request raises that its sender made wrong: nothing of our code is to be looked for.
SENDERS_FAULT = (
    BadRequest,
    Http404,
    MultiPartParserError,
    PermissionDenied,
    SuspiciousOperation,
    UnreadablePostError,
)
LONGEST_LINE = 500
_WELL_NAMED = re.compile(r"[A-Za-z0-9_-]{8,64}")

logger = logging.getLogger(__name__)
_request: ContextVar[str] = ContextVar("request", default="")


def logging_configuration(as_json: bool, level: str) -> dict[str, Any]:
    """Django's LOGGING."""
    words = {
        "()": "crowdselect.web.logs.RedactingFormatter",
        "format": "%(levelname)s %(name)s: %(message)s",
    }
    formatter = {"()": "crowdselect.web.logs.JsonFormatter"} if as_json else words
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": formatter},
        "filters": {"hostile": {"()": "crowdselect.web.logs.HostileInOneLine"}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "plain",
                "filters": ["hostile"],
            }
        },
        "root": {"handlers": ["console"], "level": level},
    }


class HostileInOneLine(logging.Filter):
    """Log a request that its sender made wrong as one line: its exception without the traceback.

    Whoever sends many would else fill the log, and hide in it what needs somebody.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, SENDERS_FAULT):
            words = f"{type(error).__name__}: {record.getMessage()}"
            record.msg = words.encode("unicode_escape").decode()[:LONGEST_LINE]
            record.args = record.exc_info = record.exc_text = None
        return True


class RedactingFormatter(logging.Formatter):
    """Also of tracebacks: it looks at the whole text."""

    def format(self, record: logging.LogRecord) -> str:
        return SECRETS.sub("…", super().format(record))


class JsonFormatter(logging.Formatter):
    """A JSON object a line, with the request's or the task's id, the run and its step."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "said": record.getMessage(),
        }
        said |= _context_fields() | {n: getattr(record, n) for n in ABOUT if _is_plain(record, n)}
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return SECRETS.sub("…", json.dumps(said, ensure_ascii=False))


def _is_plain(record: logging.LogRecord, name: str) -> bool:
    """Others give a record objects of their own under such names."""
    return isinstance(getattr(record, name, None), str | int | float)


def _context_fields() -> dict[str, Any]:
    found = {"request": _request.get(), "task": current_task.request.id if current_task else ""}
    return {name: value for name, value in found.items() if value}


class RequestLogMiddleware:
    """Middleware: each request has an id, which its log lines and its answer's header have too.

    The first of all, so that everything is inside of it. A proxy's own X-Request-ID is kept.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        name = given if _WELL_NAMED.fullmatch(given) else uuid4().hex
        begun = time.perf_counter()
        _request.set(name)
        answer = self.get_response(request)
        answer.headers["X-Request-ID"] = name
        if logger.isEnabledFor(logging.INFO):
            _log_request(request, answer.status_code, begun)
        return answer


@receiver(request_finished)
def _clear_context(**signal: object) -> None:
    """Only now: Django tells of refusals when every middleware is done."""
    _request.set("")


def _log_request(request: HttpRequest, status: int, begun: float) -> None:
    took = round(1000 * (time.perf_counter() - begun), 1)
    about = {"method": request.method, "path": request.path, "status": status, "ms": took}
    logger.info("%s %s: %s", request.method, request.path, status, extra=about)
