"""Whom to believe who asks: the one place that reads what a proxy says about a request.

Everything behind it (limits on logins, on the API and on workers' links, the audit log, the
redirect to https) reads ``REMOTE_ADDR`` and the scheme, which are the client's from here on.
"""

from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from .request_limits import plain_refusal

FOR, PROTO = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"
# Said by others than the proxies that were named, these are nobody's word.
SAID = (FOR, PROTO, "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT", "HTTP_FORWARDED")
NOT_A_PROXY = "Only a proxy that this server was told of may say who signs in."


class ForwardedHeadersMiddleware:
    """The first of all middleware: what follows takes the request as the client sent it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_trusted(request.META.get("REMOTE_ADDR", "")):
            _trust_headers(request.META)
        else:
            for name in SAID:
                request.META.pop(name, None)
            if settings.USER_HEADER in request.META:
                return plain_refusal(request, HTTPStatus.FORBIDDEN, NOT_A_PROXY)
            if settings.HTTPS and not settings.TRUSTED_PROXIES:
                # Nobody may say by what it came. People come by PUBLIC_URL, so by https; to send
                # them there again would never end.
                request.META["wsgi.url_scheme"] = "https"
        return self.get_response(request)


def _trust_headers(said: dict[str, Any]) -> None:
    said["REMOTE_ADDR"] = client_address(said.pop(FOR, ""), said["REMOTE_ADDR"])
    scheme = said.pop(PROTO, "").split(",")[-1].strip().lower()
    if scheme in {"http", "https"}:
        said["wsgi.url_scheme"] = scheme


def client_address(forwarded: str, proxy: str) -> str:
    """The last address in X-Forwarded-For that is no proxy of ours.

    Each proxy appends whom it heard, so what stands left of that one was said by the client. Where
    something there is no address, it is the proxy that wrote it.
    """
    last = proxy
    for word in reversed(forwarded.split(",")):
        heard = bare_address(word)
        if not heard:
            break
        last = heard
        if not is_trusted(heard):
            break
    return last


def bare_address(word: str) -> str:
    """The address in this, without port and brackets; empty where there is none."""
    word = word.strip()
    if word.startswith("["):
        word = word[1:].partition("]")[0]
    elif word.count(":") == 1:
        word = word.partition(":")[0]
    try:
        found = ip_address(word)
    except ValueError:
        return ""
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)


def is_trusted(address: str) -> bool:
    known = parse_networks(tuple(settings.TRUSTED_PROXIES))
    if not known or not (found := bare_address(address)):
        return False
    return any(ip_address(found) in network for network in known)


@cache
def parse_networks(proxies: tuple[str, ...]) -> list[Any]:
    """Raises ValueError for what is neither an address nor a network."""
    return [ip_network(each) for each in proxies]
