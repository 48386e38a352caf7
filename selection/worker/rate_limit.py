"""Rate limits of worker links; clients that try invalid links are slowed down."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from selection.accounts import rate_limits

from . import links

View = Callable[[HttpRequest, str], HttpResponse]


def limit_per_link(view: View) -> View:
    """Wrap a worker's page: each worker has a link of their own, so it is counted per link."""
    return _limit_view(view, lambda request, token: links.read_worker_token(token))


def limit_per_visitor(view: View) -> View:
    """Wrap a join page: its link is shared, so it is counted per link and address."""

    def visitor_key(request: HttpRequest, token: str) -> object:
        run = links.read_run_token(token)
        return run and (run, rate_limits.client_network(request))

    return _limit_view(view, visitor_key)


def limit_per_gold_link(view: View) -> View:
    """Wrap the page of gold questions: each watched worker has a link of their own."""
    return _limit_view(view, lambda request, token: links.read_gold_token(token))


def limit_failures(view: View) -> View:
    """Wrap a page that is counted only for invalid links."""
    return _limit_view(view, lambda request, token: None)


def _limit_view(view: View, counted: Callable[[HttpRequest, str], object]) -> View:
    """Wrap a view. Valid and invalid links are counted separately.

    Bad links from an address therefore do not affect the good ones.

    counted  returns the key that a link is counted by; None for a forged one
    """

    @wraps(view)
    def limited(request: HttpRequest, token: str) -> HttpResponse:
        name = counted(request, token)
        if name and rate_limits.is_over_limit(
            view.__name__, str(name), settings.LINK_REQUESTS_PER_MINUTE
        ):
            return _render_wait(request)
        response = view(request, token)
        invalid = response.status_code == HTTPStatus.NOT_FOUND
        if invalid and rate_limits.is_over_limit(
            "lost", rate_limits.client_network(request), settings.LINK_FAILURES_PER_MINUTE
        ):
            return _render_wait(request)
        return response

    return limited


def _render_wait(request: HttpRequest) -> HttpResponse:
    context = {"taken": request.method != "POST"}
    response = render(request, "work/wait.html", context, status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(rate_limits.WINDOW_SECONDS)
    return response
