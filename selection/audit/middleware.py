"""Middleware of the audit log."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from .log import asking


class AuditMiddleware:
    """Middleware that attributes actions during a request to its sender."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = asking.set(request)
        try:
            return self.get_response(request)
        finally:
            asking.reset(token)
