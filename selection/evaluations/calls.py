"""The calls of an evaluation: when they may be made, what they cost, models that cannot answer.

A model that fails rests, and nothing new is asked meanwhile: its answers are needed, and without
them all questions would go to the others. After a short time it is set aside.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from selection.model_workers import api_keys, prices
from selection.model_workers.call_pool import CallPool, Request
from selection.model_workers.completions import Fault, Outcome
from selection.model_workers.ledger import check_claim, fill_call, read_answer, settle
from selection.model_workers.prompts import Prompt, build_prompt
from selection.model_workers.throttle import Throttle, rest_seconds
from selection.models import Endpoint, ModelCall, ModelSpending
from selection.models.model_workers import PROBLEM_LENGTH

from .inputs import Inputs
from .ledger import Ledger

AHEAD = 4  # questions that wait for a model's first reply before nothing more is asked
HICCUPS = 2  # failures in a row from which on the others wait
MOST_FAILURES = 3  # of a model that never replied, until it is set aside
# Seconds of failures, until a model that never replied, or one that did, is set aside.
PATIENCE, LONG_PATIENCE = 30.0, 90.0
# Columns that the end of a call writes.
COLUMNS = (
    *("state", "cost", "tokens_in", "tokens_out", "milliseconds"),
    *("reply", "answer", "result", "problem"),
)


@dataclass
class ModelState:
    """A model while it is called. broken: it cannot answer, and is to be set aside."""

    endpoint: Endpoint
    key: str
    throttle: Throttle  # of its server
    replied: bool = False
    failures: int = 0
    failing_since: float = 0.0
    rests_until: float = 0.0
    problem: str = ""
    broken: bool = False

    def holds_others(self, waiting: int, in_flight: int) -> bool:
        """Tell if answers are awaited without which questions would go to the wrong models."""
        fails = self.failures >= HICCUPS and waiting + in_flight > 0
        return fails or self.broken or (not self.replied and waiting >= AHEAD)

    def note_price(self, cost: int, reserved: int) -> None:
        self.replied = True
        self.endpoint.dearest = max(self.endpoint.dearest or 0, cost if cost > reserved else 0)

    def note_reply(self, outcome: Outcome, call: ModelCall) -> None:
        """Keep the price and the refused parameters that a reply shows of its server."""
        self.note_price(call.cost, call.reserved)
        self.failures, self.problem, self.broken = 0, "", False
        self.endpoint.adjustments = self.endpoint.adjustments | dict(outcome.adjustments)

    def note_failure(self, outcome: Outcome, begun: float) -> None:
        """Let the model rest: the longer, the more often it failed in a row."""
        now, self.problem = time.monotonic(), outcome.problem[:PROBLEM_LENGTH]
        if now < self.rests_until:
            return  # one of many calls that failed at once
        self.failing_since = self.failing_since if self.failures else begun
        self.failures += 1
        self.rests_until = now + max(rest_seconds(self.failures), outcome.retry_after)
        patience = LONG_PATIENCE if self.replied else PATIENCE
        too_long = self.rests_until - self.failing_since > patience
        never = not self.replied and outcome.fault != Fault.RATE
        self.broken = (
            outcome.fault in (Fault.SETTINGS, Fault.REQUEST)
            or (never and self.failures >= MOST_FAILURES)
            or (too_long and self.failures >= HICCUPS)
        )


@dataclass(frozen=True)
class Flight:
    """A call in flight, not stored in the database. most: that its server may claim for it."""

    model: str
    question: str
    call: ModelCall
    most: int
    begun: float


class Caller:
    """Asks models questions, in the thread of its caller; a pool has the calls in flight.

    run    in the ledger; None for calls outside of any
    limit  most money, in billionths
    """

    def __init__(
        self,
        pool: CallPool,
        ledger: Ledger,
        run: int | None,
        inputs: Inputs,
        endpoints: Mapping[str, Endpoint],
        limit: int | None = None,
    ) -> None:
        self.pool, self.ledger, self.run, self.inputs = pool, ledger, run, inputs
        servers = {id(endpoint.server): endpoint.server for endpoint in endpoints.values()}
        throttles = {
            number: Throttle(server.concurrency, server.requests_per_minute)
            for number, server in servers.items()
        }
        self.models = {
            name: ModelState(
                endpoint, api_keys.read_key(endpoint.server), throttles[id(endpoint.server)]
            )
            for name, endpoint in endpoints.items()
        }
        self.slots = sum(throttle.concurrency for throttle in throttles.values())
        self.in_flight: dict[int, Flight] = {}
        self.busy = Counter[Any]()  # calls in flight, by the model's name and by the server
        self.made, self.budget = 0, ModelSpending(limit=limit)
        self.too_dear = False  # the money cannot pay the next call
        self._outcomes: list[tuple[int, Outcome]] = []
        if run is not None:
            for made, cost in ledger.sum_calls(run).values():
                self.made, self.budget.spent = self.made + made, self.budget.spent + cost
            for row in ledger.list_replies(run):
                self.models[row["model"]].note_price(row["cost"], row["reserved"])

    def find_reply(self, name: str, key: str) -> Any:
        """Find a stored reply to this pair; one to an equal request is stored again for it."""
        endpoint, prompt = self.models[name].endpoint, self._build_prompt(name, key)
        row = self.ledger.find_reply(self.run, name, key, prompt.digest * endpoint.reuses_replies)
        if row is None or (row["run"], row["model"], row["question"]) == (self.run, name, key):
            return row
        columns = self._fill_call(name, key, ModelCall(), Outcome(0, reply=row["reply"]))
        columns["state"] = "reused"
        about = {"run": self.run, "model": name, "question": key, "digest": prompt.digest}
        self.ledger.insert("calls", **about, **columns)
        self.models[name].replied = True
        return columns

    def begin(self, name: str, key: str) -> bool:
        """Begin a call, stored before it is sent, if model, server, rate and money allow one now.

        A model is called for its first reply alone.
        """
        model, server = self.models[name], id(self.models[name].throttle)
        rests = time.monotonic() < model.rests_until or not (model.replied or not self.busy[name])
        if model.broken or rests or not model.throttle.room(self.busy[server]):
            return False
        endpoint, prompt = model.endpoint, self._build_prompt(name, key)
        call = ModelCall(reserved=prices.most_cost(endpoint, prompt.tokens))
        most = prices.most_claim(endpoint, call.reserved) if endpoint.unproven else call.reserved
        if not self._can_pay(call.reserved, most):
            return False
        about = {"run": self.run, "model": name, "question": key, "digest": prompt.digest}
        number = self.ledger.insert("calls", reserved=call.reserved, **about)
        self.in_flight[number] = Flight(name, key, call, most, time.monotonic())
        self.busy.update([name, server])
        self.made, self.budget.in_flight = self.made + 1, self.budget.in_flight + call.reserved
        model.throttle.note_sent(1)
        request = Request(number, endpoint.server, model.key, prompt.body, endpoint.timeout)
        self.pool.send([request])
        return True

    def _build_prompt(self, name: str, key: str) -> Prompt:
        return build_prompt(self.models[name].endpoint, self.inputs.questions[key])

    def _can_pay(self, reserved: int, most: int) -> bool:
        """Tell if the money pays the call, also if those in flight cost the most that they can."""
        if self.budget.limit is None:
            return True
        rest = self.budget.limit - self.budget.spent
        self.too_dear |= reserved > rest
        claimable = sum(flight.most for flight in self.in_flight.values())
        free = not self.in_flight or most <= rest - claimable
        return free and reserved <= rest - self.budget.in_flight

    def collect(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Close the calls that have ended, and yield their rows with ``fault``.

        seconds  to wait for the first
        """
        self._outcomes += self.pool.collect(seconds)
        while self._outcomes:  # an interruption leaves the rest to the next look
            yield self.close(*self._outcomes.pop(0))

    def close(self, number: int, outcome: Outcome) -> dict[str, Any]:
        flight = self.in_flight.pop(number)
        model, call = self.models[flight.model], flight.call
        self.busy.subtract([flight.model, id(model.throttle)])
        outcome = check_claim(model.endpoint, outcome, call.reserved)
        settle(call, self.budget, prices.actual_cost(model.endpoint, outcome, call.reserved))
        if outcome.fault is None:
            model.note_reply(outcome, call)
        elif not (outcome.fault == Fault.REQUEST and model.replied):
            model.note_failure(outcome, flight.begun)
        row = self._fill_call(flight.model, flight.question, call, outcome)
        self.ledger.update("calls", number, **row)
        return row | {"model": flight.model, "question": flight.question, "fault": outcome.fault}

    def _fill_call(self, name: str, key: str, call: ModelCall, outcome: Outcome) -> dict[str, Any]:
        """Complete the call, and return its columns."""
        answer = None
        if outcome.fault is None:
            question = self.inputs.questions[key]
            answer = read_answer(self.models[name].endpoint, question, outcome.reply)
        fill_call(call, outcome, answer)
        return {column: getattr(call, column) for column in COLUMNS}
