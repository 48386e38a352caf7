"""Pages of workers are in no cache, except that Back shows a refused form again."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

View = Callable[[HttpRequest, str], HttpResponse]


def never_cached(view: View) -> View:
    """Wrap a worker's page: the browser asks anew each time.

    The answer to a POST is a redirect, or what was sent together with the reason that it was not
    taken. With "no-store" the browser would show an error of its own instead, on Back.
    """

    @wraps(view)
    def uncached(request: HttpRequest, token: str) -> HttpResponse:
        response = view(request, token)
        if request.method == "POST":
            response.headers["Cache-Control"] = "private, no-cache"
        else:
            add_never_cache_headers(response)
        return response

    return uncached
