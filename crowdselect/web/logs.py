"""Logging as text or as JSON lines, without the secrets in addresses.

A link gives access as its worker, so no log may contain one.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from celery import current_task
from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import Http404, HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase

from .secret_links import LINKS, PASSWORDS

# A link's token, which Django logs with every missing page; an API token.
SECRETS = re.compile(
    "|".join(
        [
            rf"(?<={PASSWORDS})[^\s?\"']+",
            *(rf"(?<={prefix})[^/\s?\"']+" for prefix in LINKS),
            *(rf"(?i:(?<={quote(prefix, '')}))[^%\s&\"']+" for prefix in LINKS),  # in a query
            r"(?<=/)\d++\.[\w.-]{8,}+",  # a signed token, whatever it opens
            r"\bcs_[\w-]{16,}",
        ]
    )
)
# Context of a line besides its text, if known.
CONTEXT_FIELDS = ("request", "task", "run", "step", "method", "path", "status", "ms")
# The first is the default.
LEVELS = ["WARNING", "DEBUG", "INFO", "ERROR", "CRITICAL"]
# Exceptions for faulty requests, which are not errors of our code.
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
    plain = {
        "()": "crowdselect.web.logs.RedactingFormatter",
        "format": "%(levelname)s %(name)s: %(message)s",
    }
    formatter = {"()": "crowdselect.web.logs.JsonFormatter"} if as_json else plain
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
    """Filter that logs a faulty request as one line: its exception without the traceback.

    Many of them would otherwise fill the log, and hide entries that need attention.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, SENDERS_FAULT):
            text = f"{type(error).__name__}: {record.getMessage()}"
            record.msg = text.encode("unicode_escape").decode()[:LONGEST_LINE]
            record.args = record.exc_info = record.exc_text = None
        return True


class RedactingFormatter(logging.Formatter):
    """Formatter that removes secrets from the whole text, including tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return SECRETS.sub("…", super().format(record))


class JsonFormatter(logging.Formatter):
    """Formatter for JSON lines, with the request's or the task's id, the run and its step."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= _context_fields() | {
            n: getattr(record, n) for n in CONTEXT_FIELDS if _is_plain(record, n)
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return SECRETS.sub("…", json.dumps(entry, ensure_ascii=False))


def _is_plain(record: logging.LogRecord, name: str) -> bool:
    """Recognise a plain value: other code attaches objects under the same names."""
    return isinstance(getattr(record, name, None), str | int | float)


def _context_fields() -> dict[str, Any]:
    fields = {"request": _request.get(), "task": current_task.request.id if current_task else ""}
    return {name: value for name, value in fields.items() if value}


class RequestLogMiddleware:
    """Middleware that gives each request an id, which its log lines and the reply's header carry.

    The first middleware, so that all others run inside it. A proxy's own X-Request-ID is kept.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        proposed = request.headers.get("X-Request-ID", "")
        name = proposed if _WELL_NAMED.fullmatch(proposed) else uuid4().hex
        start = time.perf_counter()
        _request.set(name)
        answer = self.get_response(request)
        answer.headers["X-Request-ID"] = name
        if logger.isEnabledFor(logging.INFO):
            _log_request(request, answer.status_code, start)
        return answer


@receiver(request_finished)
def _clear_context(**signal: object) -> None:
    """Reset the request's id, only now: Django logs refusals after all middleware."""
    _request.set("")


def _log_request(request: HttpRequest, status: int, start: float) -> None:
    took = round(1000 * (time.perf_counter() - start), 1)
    context = {"method": request.method, "path": request.path, "status": status, "ms": took}
    logger.info("%s %s: %s", request.method, request.path, status, extra=context)
