"""Language of the worker's page: the browser's, or the worker's own choice."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import translation
from django.utils.cache import patch_vary_headers

from selection import viewer_locale

YEAR = 365 * 24 * 3600
ASKED = "language"

View = Callable[..., HttpResponse]


def worker_language(view: View) -> View:
    @wraps(view)
    def localized(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.GET.get(ASKED) in dict(settings.LANGUAGES) and request.method == "GET":
            return _choose_language(request)
        language = translation.get_language_from_request(request).partition("-")[0]
        with (
            translation.override(language),
            viewer_locale.formatting_for(_locale(request, language)),
        ):
            response = view(request, *args, **kwargs)
            response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response

    return localized


def _locale(request: HttpRequest, language: str) -> viewer_locale.Locale:
    """Choose the browser's locale if it is of the page's language, else the language alone."""
    browser = viewer_locale.accepted_locale(request.headers.get("Accept-Language", ""))
    return browser if browser.language == language else viewer_locale.Locale(language)


def _choose_language(request: HttpRequest) -> HttpResponse:
    rest = request.GET.copy()
    language = rest.pop(ASKED)[-1]
    where = f"{request.path}?{rest.urlencode()}" if rest else request.path
    response = HttpResponseRedirect(where)
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        str(language),
        max_age=YEAR,
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response
