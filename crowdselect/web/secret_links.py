"""Addresses whose token gives access: the one list for logs, traces and headers.

``crowdselect.urls`` builds their routes with ``secret_path``. The list is here because processes
without pages never load the routes; a test walks over all of them.
"""

from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path

# Pages of workers and people without a login.
LINKS = ("/gold/", "/join/", "/media/", "/mturk/", "/mturk/at/", "/unsubscribe/", "/work/")
# All that follows it is secret. A member's page, with the headers of the requester's pages.
PASSWORDS = "/admin/password/"


def secret_path(prefix: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    if f"/{prefix}/" not in LINKS:
        raise ImproperlyConfigured(f"/{prefix}/ has a secret: name it in secret_links.LINKS.")
    return path(f"{prefix}/<str:token>/", view, name=name)
