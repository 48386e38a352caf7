"""Requests that a person made, and those of machines that only look at a link.

Browsers prefetch links, and mail scanners open them. Neither starts anything: a worker acts by a
button, which a machine does not press.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

AHEAD = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
ACTED = "go"  # parameter of addresses that a page loads by itself after its worker acted
MOST_TRIES = 20  # seconds that a first question may take, before the page offers other ways


def is_ahead(request: HttpRequest) -> bool:
    """Recognise a HEAD request, and a page that is loaded before anybody asked for it."""
    purposes = " ".join(request.headers.get(name, "") for name in AHEAD).lower()
    words = ("prefetch", "prerender", "preview")
    return request.method == "HEAD" or any(word in purposes for word in words)


def has_acted(request: HttpRequest) -> bool:
    return request.method == "POST" or (ACTED in request.GET and not is_ahead(request))


def count_tries(request: HttpRequest) -> int:
    """Count how often the page has looked for a first question since its worker acted."""
    tries = request.GET.get(ACTED, "")
    return min(int(tries), MOST_TRIES) if tries.isdecimal() and len(tries) < 4 else 0


def open_to_people(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a door open for people only: a page loaded ahead lets no worker join."""

    @wraps(view)
    def open_door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponse(status=204) if is_ahead(request) else view(request, *args, **kwargs)

    return open_door
