"""Middleware: pages show numbers, amounts and times in the locale of the browser."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from selection import viewer_locale

API = "/api/"


class ViewerLocaleMiddleware:
    """Middleware that takes the locale from Accept-Language.

    Views that may store texts, those of POST, run without a locale, and their templates with one.
    Downloads are written after the middleware, without a locale.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(API):
            return self.get_response(request)
        locale = _locale_of(request) if request.method in ("GET", "HEAD") else None
        with viewer_locale.formatting_for(locale):
            response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ["Accept-Language"])
        return response

    def process_template_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not request.path.startswith(API):
            viewer_locale.activate(_locale_of(request))  # until __call__ restores it
        return response


def _locale_of(request: HttpRequest) -> viewer_locale.Locale:
    return viewer_locale.accepted_locale(request.headers.get("Accept-Language", ""))
