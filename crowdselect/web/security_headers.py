"""Middleware: Content-Security-Policy (django-csp), Permissions-Policy and Referrer-Policy."""

from typing import Any

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from .secret_links import LINKS

# The setting CONTENT_SECURITY_POLICY. A response may have a policy of its own.
POLICY: dict[str, Any] = {
    "EXCLUDE_URL_PREFIXES": ["/static/"],
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}
# django-unfold's menus are written for Alpine, which compiles texts in the page to functions and
# sets styles on elements; its scripts are files of this server all the same.
_UNFOLD = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}
# A worker's page needs no script, and its address is a secret. Questions may show files of other
# hosts, which do not learn the address of the page.
_WORKER = {
    "script-src": [NONE],
    "connect-src": [NONE],
    "img-src": [SELF, "https:"],
    "media-src": [SELF, "https:"],
}
_UNFOLD_PAGES = ("/admin/", "/api/docs")
_NOT_NEEDED = ("camera", "geolocation", "microphone", "payment", "usb", "midi")
_PERMISSIONS = ", ".join(f"{name}=()" for name in _NOT_NEEDED)


class SecurityHeaders(CSPMiddleware):
    """Middleware that adds the headers to every response, whichever middleware made it."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        response.headers.setdefault("Permissions-Policy", _PERMISSIONS)
        if request.path.startswith(LINKS):
            response.headers["Referrer-Policy"] = "no-referrer"
        answer: HttpResponseBase = super().process_response(request, response)
        return answer

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        parts.replace = _directives_of(request.path)
        return parts


def _directives_of(path: str) -> dict[str, Any]:
    if path.startswith(_UNFOLD_PAGES):
        return _UNFOLD
    if not path.startswith(LINKS):
        return {}
    return _WORKER | _framed() if path.startswith("/mturk/") else _WORKER


def _framed() -> dict[str, list[str]]:
    """Allow MTurk's frame, and forms to MTurk: browsers check redirects of forms as well."""
    frames, submits_to = settings.MTURK_FRAMES, settings.MTURK_SUBMITS_TO
    return {"frame-ancestors": frames, "form-action": [SELF, *submits_to, *frames]}
