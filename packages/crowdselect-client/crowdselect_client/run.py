"""Runs: lifecycle, ask and tell, results."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Unpack

from .connection import ApiError, Connection
from .connections import Prolific
from .replies import (
    Assignment,
    Batch,
    BatchRow,
    Call,
    Changed,
    Changes,
    Claim,
    Given,
    Invited,
    Mail,
    MailIn,
    Outcome,
    Page,
    PageIn,
    RunConnection,
    RunState,
    RunWorker,
    Selection,
    Settings,
    Spending,
    Standing,
    ToolCall,
    Verdict,
)

CallState = Literal["sent", "replied", "failed", "interrupted", "reused"]
MOST_WORKERS, MOST_ANSWERS = 100, 1000  # per request
OVER = {"done", "gone", "over"}


class Run:
    """A run by its id. Every method may raise ApiError."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._to, self.id = connection, number
        self._path = f"runs/{number}"
        self.prolific = Prolific(connection, self._path)

    # -- its life

    def show(self) -> RunState:
        return self._to.ask(RunState, "GET", self._path)

    def start(self, reason: str = "") -> RunState:
        return self._move_run("start", reason)

    def pause(self, reason: str = "") -> RunState:
        return self._move_run("pause", reason)

    def resume(self, reason: str = "") -> RunState:
        return self._move_run("resume", reason)

    def stop(self, reason: str = "") -> RunState:
        """End it early, with the guarantee that holds by then."""
        return self._move_run("stop", reason)

    def reopen(self, reason: str = "") -> RunState:
        """Let an ended run go on until its guarantee holds again."""
        return self._move_run("reopen", reason)

    def replace_workers(
        self,
        workers: Sequence[str],
        reason: str = "",
        *,
        preview: bool = False,
        draft: bool = False,
    ) -> dict[str, Any]:
        """Give the places of selected workers of an ended run to the next best.

        preview  only return the effect
        draft    create a draft run that tests the others for these places instead
        """
        body = {"workers": list(workers), "reason": reason, "preview": preview, "draft": draft}
        path = f"{self._path}/replace"
        return self._to.ask(dict[str, Any], "POST", path, json=body, harmless=preview)

    def _move_run(self, name: str, reason: str) -> RunState:
        """Send a move.

        reason  kept in the run's history
        """
        path, body = f"{self._path}/transitions/{name}", {"reason": reason} if reason else None
        return self._to.ask(RunState, "POST", path, json=body, harmless=False)

    def replace(self, **settings: Unpack[Settings]) -> RunState:
        return self._to.ask(RunState, "PUT", self._path, json=settings)

    def change(self, **changes: Unpack[Changes]) -> Changed:
        """Change a run that has started; with ``preview=True`` only return the effects."""
        return self._to.ask(Changed, "PATCH", self._path, json=changes)

    def copy(
        self, name: str | None = None, *, same_seed: bool = False, key: str | None = None
    ) -> "Run":
        """Create a draft with the same settings."""
        body = {"name": name, "same_seed": same_seed}
        state = self._to.create(RunState, f"{self._path}/copy", key, body)
        return Run(self._to, state["id"])

    def page(self) -> Page:
        """Read the texts for its workers: pay, completion codes, next steps."""
        return self._to.ask(Page, "GET", f"{self._path}/page")

    def tell_workers(self, **page: Unpack[PageIn]) -> Page:
        """Replace the texts for its workers; possible at any time."""
        return self._to.ask(Page, "PUT", f"{self._path}/page", json=page)

    def mail(self) -> Mail:
        """Read the texts of the e-mails to its workers, and the outcomes of those sent."""
        return self._to.ask(Mail, "GET", f"{self._path}/mail")

    def change_mail(self, **mail: Unpack[MailIn]) -> Mail:
        """Change the texts of the e-mails to its workers, and the time of the reminder."""
        return self._to.ask(Mail, "PUT", f"{self._path}/mail", json=mail)

    def invite(self, *, preview: bool = False, retry: bool = False) -> Invited:
        """Send each worker with an address their link, once; with ``preview`` only count them.

        retry  send the failed messages again, and no new ones
        """
        body = {"preview": preview, "retry": retry}
        path = f"{self._path}/invitations"
        return self._to.ask(Invited, "POST", path, json=body, harmless=preview)

    def wait(self, every: float = 2, at_most: float | None = None) -> RunState:
        """Wait until it has ended. Raises TimeoutError after ``at_most`` seconds."""
        deadline = None if at_most is None else time.monotonic() + at_most
        while (state := self.show())["status"] != "ended":
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"The run “{state['name']}” has not ended in {at_most} s.")
            time.sleep(every)
        return state

    # -- ask and tell

    def claim(self, workers: Sequence[str], per_worker: int = 1) -> list[Claim]:
        """Claim the open questions of workers present now, at most so many per worker."""
        claims: list[Claim] = []
        for first in range(0, len(workers), MOST_WORKERS):
            some = list(workers[first : first + MOST_WORKERS])
            body = {"workers": some, "questions_per_worker": per_worker}
            claims += self._to.ask(list[Claim], "POST", f"{self._path}/claims", json=body)
        return claims

    def rounds(
        self, workers: Sequence[str], per_worker: int = 1, every: float = 1
    ) -> Iterator[list[Assignment]]:
        """Yield the workers' open questions, several at once, until there are no more.

        Tell the answers before requesting the next round: unanswered questions come again.

        per_worker  most questions per worker at once
        every  seconds between requests while there are none

        Raises LookupError for a worker that is not in the run.
        """
        while True:
            claims = self.claim(workers, per_worker)
            if strangers := [claim["worker"] for claim in claims if claim["state"] == "unknown"]:
                raise LookupError(f"Not in the run: {', '.join(strangers)}.")
            if assignments := [
                assignment for claim in claims for assignment in claim["assignments"]
            ]:
                yield assignments
            elif all(claim["state"] in OVER for claim in claims):
                return
            else:
                time.sleep(every)

    def ask(
        self, workers: Sequence[str], per_worker: int = 1, every: float = 1
    ) -> Iterator[Assignment]:
        """Yield the workers' open questions like ``rounds``, one by one."""
        for assignments in self.rounds(workers, per_worker, every):
            yield from assignments

    def tell(self, assignment: Assignment | int, response: str) -> bool:
        """Answer a question. False if it is too late, already answered, or the run is over."""
        number = assignment if isinstance(assignment, int) else assignment["id"]
        try:
            self._to.send("POST", f"assignments/{number}/answer", json={"response": response})
        except ApiError as error:
            if error.status == 409:
                return False
            raise
        return True

    def tell_many(self, answers: Iterable[tuple[Assignment | int, str]]) -> list[BatchRow]:
        """Answer many questions; return status and error per answer, like single requests."""
        rows = [
            {
                "assignment": assignment if isinstance(assignment, int) else assignment["id"],
                "response": response,
            }
            for assignment, response in answers
        ]
        results: list[BatchRow] = []
        for first in range(0, len(rows), MOST_ANSWERS):
            part = {"answers": rows[first : first + MOST_ANSWERS]}
            results += self._to.ask(Batch, "POST", "answers", json=part)["results"]
        return results

    def open(self, worker: str | None = None, peek: bool = False) -> Iterator[Assignment]:
        """Yield open questions, oldest first. ``peek``: their time to answer does not start."""
        query = {"worker": worker, "peek": peek, "limit": 1000}
        return self._to.pages(Assignment, f"{self._path}/assignments", query)

    def workers(self) -> Iterator[RunWorker]:
        return self._to.pages(RunWorker, f"{self._path}/workers", {"limit": 1000})

    # -- what came of it

    def standings(
        self, selected: bool | None = None, worker: str = "", verdict: Verdict | None = None
    ) -> Iterator[Standing]:
        query = {"selected": selected, "worker": worker, "verdict": verdict, "limit": 1000}
        return self._to.pages(Standing, f"{self._path}/standings", query)

    def selection(self) -> Selection:
        """Read the selected workers, with all data to understand and repeat the run."""
        return self._to.ask(Selection, "GET", f"{self._path}/selection")

    def answers(self, worker: str = "", outcome: Outcome | None = None) -> Iterator[Given]:
        """Yield its graded answers, oldest first."""
        query = {"worker": worker, "outcome": outcome, "limit": 1000}
        return self._to.pages(Given, f"{self._path}/answers", query)

    def calls(self, state: CallState | None = None, worker: str = "") -> Iterator[Call]:
        """Yield the calls of its models, oldest first."""
        query = {"state": state, "worker": worker, "limit": 1000}
        return self._to.pages(Call, f"{self._path}/calls", query)

    def check_models(self) -> list[dict[str, Any]]:
        """Ask each model of a draft one question; return the replies, unreadable ones first."""
        path = f"{self._path}/model-checks"
        return list(self._to.ask_later(dict[str, Any], "POST", path)["models"])

    def spending(self) -> Spending:
        """Read the cost of its calls, and the most they may cost."""
        return self._to.ask(Spending, "GET", f"{self._path}/spending")

    def limit_spending(self, limit: float | str | None) -> Spending:
        """Limit what it spends on calls; None removes the limit."""
        return self._to.ask(Spending, "PUT", f"{self._path}/spending", json={"limit": limit})

    # -- connections

    def connect(self, connection: int, **settings: str | bool | float) -> RunConnection:
        """Let the run use a connection, or change its settings: its workers answer there."""
        body = {"connection": connection, "settings": settings}
        self._to.ask_later(dict[str, Any], "POST", f"{self._path}/connections", json=body)
        return next(one for one in self.connections() if one["connection"] == connection)

    def connections(self) -> list[RunConnection]:
        """List the connections that it uses or used."""
        return self._to.ask(list[RunConnection], "GET", f"{self._path}/connections")

    def disconnect(self, connection: int) -> None:
        """Use a connection no more: its open tasks are removed there."""
        self._to.send("DELETE", f"{self._path}/connections/{connection}")

    def write_back(self, connection: int, mode: str, workers: Sequence[str]) -> ToolCall:
        """Write the selected workers into the tool."""
        path = f"{self._path}/connections/{connection}/write-back"
        body = {"mode": mode, "workers": list(workers)}
        return self._to.ask(ToolCall, "POST", path, harmless=False, json=body)

    def export(self, format: str = "csv", **options: Any) -> bytes:
        """Export the run as a file. See docs/exports.md for formats and their options."""
        query = {"format": format, **options}
        return self._to.send("GET", f"{self._path}/export", params=query).content
