"""Trust X-Forwarded-* headers only from TRUSTED_PROXIES.

Code behind it (limits on logins, on the API and on workers' links, the audit log, the redirect to
https) reads ``REMOTE_ADDR`` and the scheme, which are the client's from here on.
"""

from collections.abc import Callable
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

FOR, PROTO = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"
# Headers that are removed unless they come from a trusted proxy.
PROXY_HEADERS = (FOR, PROTO, "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT", "HTTP_FORWARDED")


class ForwardedHeadersMiddleware:
    """Middleware that restores the request as the client sent it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_trusted(request.META.get("REMOTE_ADDR", "")):
            _trust_headers(request.META)
        else:
            for name in PROXY_HEADERS:
                request.META.pop(name, None)
            if settings.HTTPS and not settings.TRUSTED_PROXIES:
                # No proxy may report the scheme. Users come by PUBLIC_URL, so by https; redirecting
                # them there would never end.
                request.META["wsgi.url_scheme"] = "https"
        return self.get_response(request)


def _trust_headers(meta: dict[str, Any]) -> None:
    meta["REMOTE_ADDR"] = client_address(meta.pop(FOR, ""), meta["REMOTE_ADDR"])
    scheme = meta.pop(PROTO, "").split(",")[-1].strip().lower()
    if scheme in {"http", "https"}:
        meta["wsgi.url_scheme"] = scheme


def client_address(forwarded: str, proxy: str) -> str:
    """Find the last address in X-Forwarded-For that is not one of our proxies.

    Each proxy appends the address that it received the request from, so the part left of that was
    written by the client. If an entry is not an address, the proxy that wrote it is the client.
    """
    last = proxy
    for entry in reversed(forwarded.split(",")):
        address = bare_address(entry)
        if not address:
            break
        last = address
        if not is_trusted(address):
            break
    return last


def bare_address(text: str) -> str:
    """Strip port and brackets from the address; "" if there is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def is_trusted(address: str) -> bool:
    networks = parse_networks(tuple(settings.TRUSTED_PROXIES))
    if not networks or not (bare := bare_address(address)):
        return False
    return any(ip_address(bare) in network for network in networks)


@cache
def parse_networks(proxies: tuple[str, ...]) -> list[Any]:
    """Raise ValueError for an invalid address or network."""
    return [ip_network(proxy) for proxy in proxies]
