"""Requests over HTTP: sent again where that is harmless; whatever goes wrong is one exception."""

import random
import time
from collections.abc import Iterator
from typing import Any, TypeVar, cast
from uuid import uuid4

import httpx

T = TypeVar("T")

BUSY = {429, 503}  # nothing was done: any request may be sent again
BETWEEN = {502, 504}  # a proxy got no answer: nobody knows whether it was done
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class ApiError(Exception):
    """What a request came to that was not done.

    status    of HTTP; 0 where no answer came
    sentence  what is wrong, and mostly what would be right, as the API says it
    where     the field that it is about, or ""
    """

    def __init__(self, status: int, sentence: str, where: str = "") -> None:
        super().__init__(f"{sentence} (status {status})" if status else sentence)
        self.status, self.sentence, self.where = status, sentence, where


class Connection:
    """To one server, with one token; it may be shared by threads.

    timeout    seconds that a connection may take, and each wait for a part of an answer
    tries      how often a request is sent at most
    transport  for tests, and for what httpx has besides
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
        """The JSON of the answer, which is of this kind. Raises ApiError."""
        return cast(T, _parse_document(self.send(method, path, harmless, **content)))

    def create(self, kind: type[T], path: str, key: str | None, body: Any) -> T:
        """Make something once, however often the request must be sent.

        key  of your own, so that another process may send the same again; None: a random one
        """
        return self.ask(kind, "POST", path, json=body, headers=_idempotency_header(key))

    def upload(self, kind: type[T], path: str, key: str | None, name: str, content: bytes) -> T:
        """The same of a file."""
        files = {"file": (name, content)}
        return self.ask(kind, "POST", path, files=files, headers=_idempotency_header(key))

    def pages(self, kind: type[T], path: str, query: dict[str, Any]) -> Iterator[T]:
        """The rows of a list, whose pages are fetched as they are needed."""
        wanted: Any = {name: value for name, value in query.items() if value is not None}
        while wanted is not None:
            answer = self.send("GET", path, params=wanted)
            yield from _parse_document(answer)
            link = answer.links.get("next")
            # Of the address its query is taken alone: the token goes to this server and no other.
            wanted = httpx.URL(link["url"]).params if link else None

    def send(self, method: str, path: str, harmless: bool = True, **content: Any) -> httpx.Response:
        """The answer to a request. Raises ApiError for one that did not do what was asked.

        harmless  whether it may be sent again when nobody knows whether it arrived
        """
        for number in range(1, self.tries + 1):
            pause = min(FIRST_PAUSE * 2 ** (number - 1), LONGEST_PAUSE) * random.uniform(0.5, 1)
            try:
                answer = self.http.request(method, path, **content)
            except httpx.TransportError as error:
                again = harmless or isinstance(error, NEVER_SENT)
                wrong = ApiError(0, f"{self.http.base_url} did not answer: {error!r}.")
                wrong.__cause__ = error
            else:
                if answer.is_success:
                    return answer
                lost = answer.status_code in BETWEEN
                again, wrong = (lost and harmless) or answer.status_code in BUSY, _api_error(answer)
                pause = _retry_after(answer) or pause
            if not again or number == self.tries:
                raise wrong
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
        said = answer.json()
        return ApiError(answer.status_code, said["error"], said.get("where", ""))
    except (ValueError, KeyError, TypeError):
        if answer.status_code in BUSY | BETWEEN:
            return ApiError(answer.status_code, f"{answer.url.host} does not answer now.")
        sentence = f"This is not what a CrowdSelect API answers: is {answer.url} its address?"
        return ApiError(answer.status_code, sentence)


def _retry_after(answer: httpx.Response) -> float:
    """Seconds, as Retry-After says; 0 where it says none."""
    text = answer.headers.get("Retry-After", "")
    return min(float(text), LONGEST_PAUSE) if text.isascii() and text.isdecimal() else 0
