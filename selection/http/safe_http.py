"""HTTP POST to addresses typed by users: never into our own network, never along redirects.

A host name is resolved once, its address checked, and the checked address connected to, so that a
changed DNS answer (DNS rebinding) has no effect.
"""

import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from selection.errors import Refused
from selection.limits import LONGEST_ADDRESS
from selection.models.webhooks import REPLY_LENGTH
from selection.outside_text import clean_text

SECONDS = 10.0  # in total: a receiver that answers byte by byte is as bad as a silent one
PORTS = {"https": 443, "http": 80}
LONGEST_WAIT = 600.0  # seconds of a server's retry-after that are respected
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"\d+(?:\.\d+)?|(?:\d+(?:\.\d+)?(?:ms|[smh]))+")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smh])?")
INSIDE = (
    "This address is on this machine or in its network. The administrator of this server can "
    "allow it with the setting {setting}."
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")  # all that is assigned of IPv6
# Protocols' own and documentation, which ipaddress takes for global in part.
_SPECIAL = [
    ipaddress.ip_network(name)
    for name in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "3fff::/20")
]
# A name or a number, and a port: no zone of an interface, no character that parsers read apart.
_PLACE = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d{1,5})?", re.ASCII)


class NoAnswer(Exception):
    """Error for a missing or unusable reply; its message gives the reason."""


@dataclass(frozen=True)
class Reply:
    """The receiver's reply; ``said`` is its body, or the beginning of it.

    headers  their names in lower case
    cut      True if the body was longer
    """

    code: int
    said: str
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False

    @property
    def good(self) -> bool:
        return 200 <= self.code < 300


class Request(NamedTuple):
    method: str
    body: bytes | None
    headers: dict[str, str]
    longest: int
    seconds: float


def check_url(url: str, setting: str = "WEBHOOKS_INSIDE") -> str:
    """Check the address, and strip surrounding spaces. Raises Refused for an unusable one.

    setting  name of the setting that allows addresses of this machine and its network, and http
    """
    url = url.strip()
    if (
        not url.isascii()
        or not url.isprintable()
        or " " in url
        or not 0 < len(url) <= LONGEST_ADDRESS
    ):
        raise Refused(f"An address has 1 to {LONGEST_ADDRESS} characters of ASCII and no spaces.")
    parts = _split_url(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and getattr(settings, setting)):
        http = f" http:// needs the setting {setting}." if parts.scheme == "http" else ""
        why = "because other addresses are not encrypted."
        raise Refused(f"The address must begin with https://, {why}{http}")
    if parts.username or parts.password:
        raise Refused("Remove name and password from the address: pages and logs would show them.")
    if not _PLACE.fullmatch(parts.netloc):
        raise Refused(f"“{parts.netloc}” is not a host like example.org or [2001:db8::1]:443.")
    if parts.hostname == "localhost" or _is_number(parts.hostname or ""):
        _refuse_inside(_resolve_addresses(parts), setting)
    return url


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        if parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        pass
    raise Refused(f"“{url}” is not an address like https://example.org/path.")


def _is_number(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


# -- resolving


def is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1]
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if ip not in _UNICAST:
            return False
    if any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _resolve_addresses(parts: SplitResult) -> list[str]:
    port = parts.port or PORTS[parts.scheme]
    try:
        rows = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refused(f"The host “{parts.hostname}” is not found: {error}.") from error
    return [str(row[4][0]) for row in rows]


def _refuse_inside(addresses: list[str], setting: str = "WEBHOOKS_INSIDE") -> list[str]:
    """Keep the addresses that may be connected to. Raises Refused if there is none."""
    allowed = [one for one in addresses if getattr(settings, setting) or is_public(one)]
    if not allowed:
        raise Refused(INSIDE.format(setting=setting))
    return allowed


# -- sending


def post_message(url: str, body: bytes, headers: dict[str, str]) -> Reply:
    """Post the body and return the reply. Raises NoAnswer."""
    return send_request("POST", url, body, headers)


def send_request(
    method: str,
    url: str,
    body: bytes | None,
    headers: dict[str, str],
    setting: str = "WEBHOOKS_INSIDE",
    longest: int = REPLY_LENGTH,
    seconds: float = SECONDS,
) -> Reply:
    """Send a request and return the reply, with this many bytes. Raises NoAnswer.

    seconds  for the whole exchange
    """
    try:
        parts = _split_url(check_url(url, setting))
        addresses = _refuse_inside(_resolve_addresses(parts), setting)
        request = Request(method, body, headers, longest, seconds)
        return _exchange_message(parts, addresses[0], request)
    except Refused as refusal:
        raise NoAnswer(str(refusal)) from refusal
    except (OSError, HTTPException, ValueError, UnicodeError) as error:
        reason = str(error) or type(error).__name__
        raise NoAnswer(clean_text(f"No answer: {reason}", REPLY_LENGTH)) from error


def _exchange_message(parts: SplitResult, address: str, request: Request) -> Reply:
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with _open_connection(parts.scheme, host, (address, port), request.seconds) as sock:
        connection = kind(host, port)
        connection.sock = sock
        headers = request.headers | {"Connection": "close"}
        connection.request(request.method, target, request.body, headers)
        answer = connection.getresponse()
        raw = answer.read(request.longest + 1)
        text = raw[: request.longest].decode(errors="replace").replace("\0", "")
        reply_headers = {name.lower(): clean_text(value) for name, value in answer.getheaders()}
    return Reply(answer.status, text, reply_headers, cut=len(raw) > request.longest)


@contextmanager
def _open_connection(
    scheme: str, host: str, place: tuple[str, int], seconds: float
) -> Iterator[socket.socket]:
    """Open a connection to this very address; it is closed when the time is up."""
    sock = socket.create_connection(place, timeout=seconds)
    if scheme == "https":  # the handshake follows below, under the timer
        context = ssl.create_default_context()
        sock = context.wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
    end = threading.Timer(seconds, _hang_up, [sock])
    end.daemon = True
    end.start()
    try:
        if isinstance(sock, ssl.SSLSocket):
            sock.do_handshake()
        yield sock
    finally:
        end.cancel()
        sock.close()


def _hang_up(sock: socket.socket) -> None:
    """Shut the socket down, even in the middle of a read, which then ends."""
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


# -- waiting


def parse_duration(text: str) -> float:
    """Parse the seconds of 7, 1.5, 1s, 350ms, 1m30s or a date; 0 for anything else."""
    text = text.strip()[:100]
    if _DURATION.fullmatch(text):
        parts = _DURATION_PART.findall(text)
        seconds = sum(float(number) * _UNITS[unit or "s"] for number, unit in parts)
    else:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT)
