"""HTTP client of one run on a CrowdSelect server."""

import time
from threading import Event
from typing import Any

import httpx

from selection.errors import Refused

PATIENCE_SECONDS = 60.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 3.0
PAGE = 1000


class ServerConnection:
    """Client with retries, for one thread: its connection is kept alive.

    stop  set from outside, ends all waiting

    Each method raises Refused if retrying is pointless.
    """

    def __init__(self, url: str, token: str, run: int, stop: Event) -> None:
        self.url, self.number, self.stop = url.rstrip("/"), run, stop
        self.client = httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def run(self) -> dict[str, Any]:
        """Return the state of the run."""
        document: dict[str, Any] = self._request_json("GET", f"runs/{self.number}").json()
        return document

    def open_assignments(self, after: int) -> list[dict[str, Any]]:
        """Return open assignments with an id above ``after``, oldest first."""
        query = {"after": after, "limit": PAGE}
        documents: list[dict[str, Any]] = self._request_json(
            "GET", f"runs/{self.number}/assignments", params=query
        ).json()
        return documents

    def answer(self, assignment: int, response: str) -> bool:
        """Return True if the answer was accepted; False if it came too late."""
        path = f"assignments/{assignment}/answer"
        return self._request_json("POST", path, json={"response": response}).status_code != 409

    def _request_json(self, method: str, path: str, **content: Any) -> httpx.Response:
        answer = self._request_with_retries(method, f"{self.url}/api/{path}", **content)
        if answer.status_code < 300 or answer.status_code == 409:
            if answer.headers.get("content-type", "").startswith("application/json"):
                return answer
        elif "error" in (document := _parse_document(answer)):
            raise Refused(f"{self.url} says: {document['error']}")
        raise Refused(f"There is no CrowdSelect API at {self.url}.")

    def _request_with_retries(self, method: str, url: str, **content: Any) -> httpx.Response:
        """Return the first response that is not a server error, within PATIENCE_SECONDS."""
        given_up, pause = time.monotonic() + PATIENCE_SECONDS, FIRST_PAUSE
        while True:
            try:
                answer = self.client.request(method, url, **content)
                if answer.status_code < 500:
                    return answer
                trouble = f"answers with status {answer.status_code}"
            except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
                raise Refused(
                    f"“{self.url}” is not an address such as http://host:8000."
                ) from error
            except httpx.TransportError as error:
                trouble = f"cannot be reached ({error})"
            if self.stop.wait(pause) or time.monotonic() > given_up:
                raise Refused(f"{self.url} {trouble}.")
            pause = min(2 * pause, LONGEST_PAUSE)


def _parse_document(answer: httpx.Response) -> dict[str, Any]:
    try:
        document = answer.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
