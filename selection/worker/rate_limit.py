"""How often a minute a link may be opened; who tries links that lead nowhere is slowed down."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from selection.accounts import rate_limits

from . import links

View = Callable[[HttpRequest, str], HttpResponse]


def each_link(view: View) -> View:
    """A worker's page: everybody has a link of their own, wherever they open it."""
    return _limited(view, lambda request, token: links.named(token))


def each_visitor(view: View) -> View:
    """A join link is everybody's, so it is counted for each address."""

    def counted(request: HttpRequest, token: str) -> object:
        run = links.named_run(token)
        return run and (run, rate_limits.place(request))

    return _limited(view, counted)


def _limited(view: View, counted: Callable[[HttpRequest, str], object]) -> View:
    """A good link is taken however many bad ones come from its address; both are counted apart.

    counted  what a link is counted by; None for one that was not made here
    """

    @wraps(view)
    def limited(request: HttpRequest, token: str) -> HttpResponse:
        name = counted(request, token)
        if name and rate_limits.over(view.__name__, str(name), settings.LINK_REQUESTS_PER_MINUTE):
            return _wait(request)
        response = view(request, token)
        lost = response.status_code == HTTPStatus.NOT_FOUND
        if lost and rate_limits.over(
            "lost", rate_limits.place(request), settings.LINK_FAILURES_PER_MINUTE
        ):
            return _wait(request)
        return response

    return limited


def _wait(request: HttpRequest) -> HttpResponse:
    context = {"taken": request.method != "POST"}
    response = render(request, "work/wait.html", context, status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(rate_limits.WINDOW_SECONDS)
    return response
