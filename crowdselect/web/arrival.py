"""Arrival times: lateness counts until a request arrived, not until a thread was free for it."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from selection import db_clock

ARRIVED = "crowdselect.arrived"  # WSGI variable set by ``request_queue``; headers cannot set it


class Arrival:
    """Middleware that passes the web server's time stamp to ``db_clock.request_time``."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with db_clock.request_arrived(request.META.get(ARRIVED)):
            return self.get_response(request)
