"""Lateness is judged by when a request arrived, not by when a thread was free for it."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from selection import db_clock

ARRIVED = "crowdselect.arrived"  # in the WSGI environment, by ``web_queue``; no header is named so


class Arrival:
    """Middleware: tells ``clock.request_time`` what the web server stamped."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with db_clock.request_arrived(request.META.get(ARRIVED)):
            return self.get_response(request)
