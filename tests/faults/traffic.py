"""A crowd that answers without pause, and its record of the replies."""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

TIMEOUT_SECONDS = 6
AT_ONCE = 2  # runs that go on side by side
N, K = 10, 2
BUDGET = 150
KINDS: list[dict[str, Any]] = [
    {"algorithm": "lucb", "epsilon": 0.25},
    {"algorithm": "credible", "epsilon": 0.05},
    {"algorithm": "certified", "epsilon": 0.2},
    {"algorithm": "adaptive-top-k", "epsilon": 0.3},
    {"algorithm": "sar", "epsilon": 0.1},
]
SILENT = "w0"  # sometimes does not answer


@dataclass
class Ledger:
    """The crowd's record of answers and replies.

    sent     by assignment, its one response: stored or not
    workers  by assignment, its worker
    taken    assignments with a reply that the answer was recorded
    late     assignments with a reply that the time was over
    odd      replies that should never occur
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    sent: dict[int, str] = field(default_factory=dict)
    workers: dict[int, str] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    late: set[int] = field(default_factory=set)
    odd: list[str] = field(default_factory=list)
    told: Counter[int] = field(default_factory=Counter)
    runs: list[int] = field(default_factory=list)

    def note(self, assignment: int, reply: httpx.Response) -> None:
        """Record the reply to an answer."""
        text = reply.text[:200]
        with self.lock:
            if reply.is_success:
                self.taken.add(assignment)
            elif reply.status_code == 409 and "Too late" in text:
                self.late.add(assignment)
            elif not (reply.status_code == 409 and "has ended" in text):
                self.odd.append(f"answer to {assignment}: {reply.status_code} {text}")


class Crowd:
    """Threads that claim and answer, and one that keeps runs going."""

    def __init__(self, url: str, token: str, pool: int, questions: int, seed: int) -> None:
        self.url, self.token, self.seed = url, token, seed
        self.places = {"pool": pool, "question_set": questions}
        self.ledger, self.stop, self.closing = Ledger(), threading.Event(), threading.Event()
        self.going: list[int] = []
        workers = [f"w{i}" for i in range(N)]
        own = [workers[i::3] for i in range(3)]
        self.threads = [threading.Thread(target=self._answer, args=(each,)) for each in own]
        self.threads.append(threading.Thread(target=self._keep_going))

    def __enter__(self) -> "Crowd":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join(30)

    # -- answering

    def _answer(self, workers: list[str]) -> None:
        rng = random.Random(f"{self.seed}-{workers[0]}")
        with self._client() as client:
            while not self.stop.is_set():
                for run in list(self.going):
                    self._turn(client, run, workers, rng)
                self.stop.wait(0.1)

    def _turn(self, client: httpx.Client, run: int, workers: list[str], rng: random.Random) -> None:
        claim = {"workers": workers, "questions_per_worker": rng.choice([1, 1, 2])}
        reply = self._ask(client, "POST", f"runs/{run}/claims", json=claim)
        if reply is None:
            return
        rows = [row for worker_claims in reply.json() for row in worker_claims["assignments"]]
        rng.shuffle(rows)
        for row in rows:
            silent = row["worker"] == SILENT and row["id"] % 4 == 0
            if not silent or self.closing.is_set():
                self._send(client, row)

    def _send(self, client: httpx.Client, row: dict[str, Any]) -> None:
        """Send until there is a reply, as an honest sender does."""
        response = says(row["worker"], row["question"])
        with self.ledger.lock:
            self.ledger.sent[row["id"]] = response
            self.ledger.workers[row["id"]] = row["worker"]
        path = f"assignments/{row['id']}/answer"
        while not self.stop.is_set():
            reply = self._try(client, "POST", path, json={"response": response})
            if reply is not None:
                self.ledger.note(row["id"], reply)
                return
            self.stop.wait(0.3)

    # -- runs

    def _keep_going(self) -> None:
        rng = random.Random(f"{self.seed}-runs")
        with self._client() as client:
            while not self.stop.is_set():
                self.going = [run for run in self.going if not self._ended(client, run)]
                while len(self.going) < AT_ONCE and not (
                    self.closing.is_set() or self.stop.is_set()
                ):
                    self._begin(client, rng)
                self.stop.wait(0.5)

    def _ended(self, client: httpx.Client, run: int) -> bool:
        reply = self._ask(client, "GET", f"runs/{run}")
        return reply is not None and reply.json()["status"] == "ended"

    def _begin(self, client: httpx.Client, rng: random.Random) -> None:
        number = len(self.ledger.runs)
        settings = self._settings(number) | {"seed": rng.randrange(2**31)}
        key = {"Idempotency-Key": f"{self.seed}-{settings['name']}"}
        reply = self._until(client, "POST", "runs", json=settings, headers=key)
        if reply is not None:
            run = reply.json()["id"]
            self.ledger.runs.append(run)
            self._start(client, run)
            self.going.append(run)

    def _start(self, client: httpx.Client, run: int) -> None:
        self._until(client, "POST", f"runs/{run}/transitions/start")

    def _settings(self, number: int) -> dict[str, Any]:
        return self.places | KINDS[number % len(KINDS)] | {
            "name": f"run {number}",
            "k": K,
            "delta": 0.2,
            "budget": BUDGET,
            "slots": 24,
            "slots_per_worker": 4,
            "minutes": 1,
            "hours_to_come": None,
            "met": "again",
        }  # fmt: skip

    # -- the wire

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{self.url}/api/", headers=headers, timeout=TIMEOUT_SECONDS)

    def _try(self, client: httpx.Client, method: str, path: str, **sent: Any) -> Any:
        """Return the reply; None if there is none, or the server cannot answer now."""
        try:
            reply = client.request(method, path, **sent)
        except httpx.TransportError:
            self.ledger.told[0] += 1
            return None
        self.ledger.told[reply.status_code] += 1
        if reply.status_code == 500:
            self.ledger.odd.append(f"{method} {path}: {reply.status_code} {reply.text[:200]}")
        return None if reply.status_code >= 500 else reply

    def _ask(self, client: httpx.Client, method: str, path: str, **sent: Any) -> Any:
        """Return the reply, as ``_try``; a refusal is odd, and None as well."""
        reply = self._try(client, method, path, **sent)
        if reply is not None and not reply.is_success:
            began = reply.status_code == 409 and path.endswith("/start")
            if not began:
                self.ledger.odd.append(f"{method} {path}: {reply.status_code} {reply.text[:200]}")
            return None
        return reply

    def _until(self, client: httpx.Client, method: str, path: str, **sent: Any) -> Any:
        """Repeat until there is a reply, and return it."""
        while not self.stop.is_set():
            reply = self._try(client, method, path, **sent)
            if reply is not None:
                if not (reply.is_success or (reply.status_code == 409 and "start" in path)):
                    self.ledger.odd.append(f"{path}: {reply.status_code} {reply.text[:200]}")
                    return None
                return reply
            self.stop.wait(0.3)
        return None


def says(worker: str, question: str) -> str:
    """Return the worker's response, the same each time; the first two know most answers."""
    number = int(worker[1:])
    rng = np.random.default_rng([number, int(question[1:])])
    return "yes" if rng.random() < (0.95 if number < K else 0.4) else "no"


def wait_for(condition: Any, seconds: float) -> bool:
    """Return True if the condition became true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
