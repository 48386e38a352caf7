"""HTTP requests, repeated if that is safe; every failure raises ApiError."""

import random
import re
import time
from collections.abc import Iterator
from typing import Any, TypeVar, cast
from uuid import uuid4

import httpx

T = TypeVar("T")

BUSY = {429, 503}  # refused before any effect: any request may be repeated
BETWEEN = {502, 504}  # a proxy got no reply: the request may have had its effect
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
FIRST_POLL, LONGEST_POLL = 0.1, 2.0  # seconds between questions for a result
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class ApiError(Exception):
    """A request that failed.

    status    of HTTP; 0 without a reply
    sentence  the API's message: the problem, and mostly its remedy
    field     the field concerned, or ""
    """

    def __init__(self, status: int, sentence: str, field: str = "") -> None:
        super().__init__(f"{sentence} (status {status})" if status else sentence)
        self.status, self.sentence, self.field = status, sentence, field


class Connection:
    """Connection to one server with one token; threads may share it.

    timeout    seconds for a connection, and for each part of a reply
    tries      most attempts per request
    transport  of httpx, for example for tests
    """

    def __init__(
        self,
        url: str,
        token: str,
        timeout: float = 30,
        tries: int = 6,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"“{url}” is no address such as https://crowd.example.org.")
        if not re.fullmatch(r"[!-~]+", token := token.strip()):  # a header takes nothing else
            raise ValueError("The token is empty, or not the secret that the server showed once.")
        self.tries = max(1, tries)
        self.http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            transport=transport,
        )

    def ask(
        self, kind: type[T], method: str, path: str, *, harmless: bool = True, **content: Any
    ) -> T:
        """Ask for the JSON of a reply, which is of this kind. Raises ApiError."""
        return cast(T, _parse_document(self.send(method, path, harmless, **content)))

    def ask_later(self, kind: type[T], method: str, path: str, **content: Any) -> T:
        """Send a request to another machine, and poll its result. Raises ApiError."""
        pause = FIRST_POLL
        job = self.ask(dict[str, Any], method, path, harmless=method == "GET", **content)
        while job["state"] in ("waiting", "working"):
            time.sleep(pause)
            pause = min(1.5 * pause, LONGEST_POLL)
            job = self.ask(dict[str, Any], "GET", f"jobs/{job['id']}")
        if job["state"] == "failed":
            raise ApiError(job["status"], job["error"], job["field"])
        return cast(T, job["result"])

    def create(self, kind: type[T], path: str, key: str | None, body: Any) -> T:
        """Create an object once, even if the request is repeated.

        key  of your own, so that another process may repeat the request; None: a random one
        """
        return self.ask(kind, "POST", path, json=body, headers=_idempotency_header(key))

    def upload(self, kind: type[T], path: str, key: str | None, name: str, content: bytes) -> T:
        """Upload a file once, even if the request is repeated."""
        files = {"file": (name, content)}
        return self.ask(kind, "POST", path, files=files, headers=_idempotency_header(key))

    def pages(self, kind: type[T], path: str, query: dict[str, Any]) -> Iterator[T]:
        """Yield the rows of a list; its pages are fetched on demand."""
        params: Any = {name: value for name, value in query.items() if value is not None}
        while params is not None:
            answer = self.send("GET", path, params=params)
            yield from _parse_document(answer)
            link = answer.links.get("next")
            # Only the query of the link is used, so that the token goes to this server alone.
            params = httpx.URL(link["url"]).params if link else None

    def send(self, method: str, path: str, harmless: bool = True, **content: Any) -> httpx.Response:
        """Send a request. Raises ApiError if it failed.

        harmless  True if it may be repeated when its arrival is uncertain
        """
        for number in range(1, self.tries + 1):
            pause = min(FIRST_PAUSE * 2 ** (number - 1), LONGEST_PAUSE) * random.uniform(0.5, 1)
            try:
                answer = self.http.request(method, path, **content)
            except httpx.TransportError as error:
                repeatable = harmless or isinstance(error, NEVER_SENT)
                failure = ApiError(0, f"{self.http.base_url} did not answer: {error!r}.")
                failure.__cause__ = error
            else:
                if answer.is_success:
                    return answer
                uncertain = answer.status_code in BETWEEN
                repeatable, failure = (
                    (uncertain and harmless) or answer.status_code in BUSY,
                    _api_error(answer),
                )
                pause = _retry_after(answer) or pause
            if not repeatable or number == self.tries:
                raise failure
            time.sleep(pause)
        raise AssertionError("The last try returns or raises.")


def _idempotency_header(key: str | None) -> dict[str, str]:
    return {"Idempotency-Key": key or str(uuid4())}


def _parse_document(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise _api_error(answer) from None


def _api_error(answer: httpx.Response) -> ApiError:
    try:
        body = answer.json()
        return ApiError(answer.status_code, body["error"], body.get("field", ""))
    except (ValueError, KeyError, TypeError):
        if answer.status_code in BUSY | BETWEEN:
            return ApiError(answer.status_code, f"{answer.url.host} does not answer now.")
        sentence = f"This is not what a CrowdSelect API answers: is {answer.url} its address?"
        return ApiError(answer.status_code, sentence)


def _retry_after(answer: httpx.Response) -> float:
    """Read the seconds of the header Retry-After; 0 without one."""
    text = answer.headers.get("Retry-After", "")
    return min(float(text), LONGEST_PAUSE) if text.isascii() and text.isdecimal() else 0
