"""The calls of an evaluation: when they may be made, what they cost, models that cannot answer.

A model that fails rests, and nothing new is asked meanwhile: its answers are needed, and without
them all questions would go to the others. After a short time it is set aside.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from selection.model_workers import api_keys, prices
from selection.model_workers.completions import Fault, Outcome
from selection.model_workers.ledger import MOST_TRIES, NO_ANSWERS, explain_claim
from selection.model_workers.parsing import read_reply
from selection.model_workers.prompts import Prompt, build_prompt
from selection.model_workers.server_calls import ModelClient, ask_model, open_server
from selection.model_workers.throttle import Throttle, rest_seconds
from selection.model_workers.unreadable import FIRST, MOST_LOST, NO_ANSWER, classify
from selection.models import Endpoint, Question
from selection.models.model_workers import PROBLEM_LENGTH

from .ledger import Ledger, Row

LOOK = 0.1  # seconds between two looks if a call may be made
AHEAD = 4  # questions that wait for a model's first reply before nothing more is asked
HICCUPS = 2  # failures in a row from which on the others wait
MOST_FAILURES = 3  # of a model that never replied, until it is set aside
# Seconds of failures, until a model that never replied, or one that did, is set aside.
PATIENCE, LONG_PATIENCE = 30.0, 90.0


@dataclass
class ModelState:
    """A model while it is called.

    client, gate, throttle  of its server
    waiting    questions that wait for a call
    broken     it cannot answer, and is to be set aside; ``gone`` once it is
    """

    endpoint: Endpoint
    client: ModelClient
    key: str
    gate: asyncio.Semaphore
    throttle: Throttle
    replied: bool = False
    waiting: int = 0
    in_flight: int = 0
    failures: int = 0
    failing_since: float = 0.0
    rests_until: float = 0.0
    problem: str = ""
    broken: bool = False
    gone: bool = False

    @property
    def holds_others(self) -> bool:
        fails = self.failures >= HICCUPS and self.waiting + self.in_flight > 0
        silent = not self.replied and self.waiting >= AHEAD
        return not self.gone and (fails or silent or self.broken)

    def note_reply(self, outcome: Outcome, cost: int, reserved: int) -> None:
        """Keep the price and the refused parameters that a reply shows of its server."""
        self.replied, self.failures, self.problem, self.broken = True, 0, "", False
        self.endpoint.dearest = max(self.endpoint.dearest or 0, cost if cost > reserved else 0)
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


@dataclass
class Caller:
    """Asks models questions, in the event loop of its caller.

    run            in the ledger; None for calls outside of any
    cells          of the questions, see ``build_prompt``
    limit          most money, in billionths
    counted_wrong  models whose replies without an answer count as wrong
    """

    ledger: Ledger
    run: int | None
    questions: Mapping[str, Question]
    cells: Mapping[str, Mapping[str, str]]
    limit: int | None = None
    counted_wrong: Collection[str] = ()
    models: dict[str, ModelState] = field(default_factory=dict)
    slots: int = 0  # calls at once, of all servers
    made: int = 0
    spent: int = 0
    reserved: int = 0  # by calls in flight
    claimable: int = 0  # by calls in flight
    too_dear: bool = False
    stopping: bool = False
    asking: set[str] = field(default_factory=set)  # models with too many lost replies
    _clients: list[ModelClient] = field(default_factory=list)

    def open(self, endpoints: Mapping[str, Endpoint]) -> None:
        """Open the servers of these models, and go on with what the ledger has of them."""
        shared = dict[int, tuple[ModelClient, str, asyncio.Semaphore, Throttle]]()
        for name, endpoint in endpoints.items():
            server = endpoint.server
            if id(server) not in shared:
                key = api_keys.read_key(server)
                throttle = Throttle(server.concurrency, server.requests_per_minute)
                gate = asyncio.Semaphore(server.concurrency)
                shared[id(server)] = open_server(server, key), key, gate, throttle
            self.models[name] = ModelState(endpoint, *shared[id(server)])
        self._clients = [client for client, *_ in shared.values()]
        self.slots = sum(throttle.concurrency for *_, throttle in shared.values())
        if self.run is not None:
            sums = self.ledger.sum_calls(self.run).values()
            self.made, self.spent = (sum(column) for column in zip((0, 0), *sums, strict=True))
            for row in self.ledger.list_replies(self.run):
                above = row["cost"] if row["cost"] > row["reserved"] else 0
                endpoint = endpoints[row["model"]]
                endpoint.dearest = max(endpoint.dearest or 0, above)
                self.models[row["model"]].replied = True
            for name in endpoints:
                self._note_losses(name)

    async def close(self) -> None:
        for client in self._clients:
            await client.close()

    @property
    def holds_others(self) -> bool:
        """Tell if answers are awaited without which questions would go to the wrong models."""
        return any(model.holds_others for model in self.models.values())

    # -- a question

    async def ask(self, name: str, key: str) -> bool | None:
        """Call until there is an answer, and grade it.

        None if there is none: the model is broken or too dear, or the caller stops.
        """
        model, question = self.models[name], self.questions[key]
        prompt, lost = build_prompt(model.endpoint, question, self.cells[key]), 0
        stored = self._find_reply(name, key, prompt)
        if stored is not None:
            model.replied = True
            return self._grade(name, question, stored["answer"])
        while True:
            model.waiting += 1
            try:
                await self._wait(lambda: self._may_begin(model), model)
            finally:
                model.waiting -= 1
            if model.broken or self.stopping:
                return None
            row = await self.call_in_turn(name, key, prompt)
            if row is None:
                return None
            if row["state"] == "replied":
                lost += 1
                retries = model.endpoint.unreadable == Endpoint.Unreadable.RETRY
                if row["answer"] or not retries or lost == MOST_TRIES:
                    return self._grade(name, question, row["answer"])
            elif row["fault"] == Fault.REQUEST and model.replied:
                return False  # only this request is refused

    async def _wait(self, is_ready: Callable[[], bool], model: ModelState) -> None:
        while not (is_ready() or model.broken or self.stopping):
            await asyncio.sleep(LOOK)

    def _may_begin(self, model: ModelState) -> bool:
        """Tell if the model rests no more, and is called for its first reply alone."""
        alone = model.replied or not model.in_flight
        return alone and time.monotonic() >= model.rests_until

    async def call_in_turn(self, name: str, key: str, prompt: Prompt) -> dict[str, Any] | None:
        """Call as soon as server, rate and money allow; None if they never will."""
        model = self.models[name]
        model.in_flight += 1
        try:
            async with model.gate:
                await self._wait(lambda: model.throttle.room(0) > 0, model)
                await self._wait(lambda: self._can_pay(model.endpoint, prompt), model)
                if model.broken or self.stopping:
                    return None
                model.throttle.note_sent(1)
                return await self.call(name, key, prompt)
        finally:
            model.in_flight -= 1

    def _can_pay(self, endpoint: Endpoint, prompt: Prompt) -> bool:
        """Tell if the money pays the call, also if those in flight cost the most that they can.

        The caller stops if it never will.
        """
        if self.limit is None:
            return True
        (reserved, most), rest = _bound_cost(endpoint, prompt), self.limit - self.spent
        if reserved > rest:
            self.too_dear = self.stopping = True
        free = not self.reserved or most <= rest - self.claimable
        return free and reserved <= rest - self.reserved

    async def call(self, name: str, key: str, prompt: Prompt) -> dict[str, Any]:
        """Make one call, stored before it is sent; return its row, with its ``fault``."""
        model, begun = self.models[name], time.monotonic()
        endpoint = model.endpoint
        reserved, most = _bound_cost(endpoint, prompt)
        about = {"model": name, "question": key, "digest": prompt.digest}
        number = self.ledger.open_call(self.run, reserved=reserved, **about)
        self.made += 1
        self.reserved, self.claimable = self.reserved + reserved, self.claimable + most
        outcome = await ask_model(model.client, prompt.body, model.key, endpoint.timeout)
        self.reserved, self.claimable = self.reserved - reserved, self.claimable - most
        cost = prices.actual_cost(endpoint, outcome, reserved)
        if outcome.fault is None and cost > prices.most_claim(endpoint, reserved):
            problem, cost = explain_claim(outcome), reserved
            outcome = replace(outcome, fault=Fault.SETTINGS, problem=problem, charged=True)
        if self.limit is not None:
            cost = min(cost, max(reserved, self.limit - self.spent - self.reserved))
        self.spent += cost
        if outcome.fault is None:
            model.note_reply(outcome, cost, reserved)
        elif not (outcome.fault == Fault.REQUEST and model.replied):
            model.note_failure(outcome, begun)
        row = {"cost": cost} | read_outcome(endpoint, self.questions[key], outcome)
        self.ledger.close_call(number, **row)
        return row | {"model": name, "fault": outcome.fault}

    def _find_reply(self, name: str, key: str, prompt: Prompt) -> Row | dict[str, Any] | None:
        """Find a stored reply to this pair; one to an equal request is stored again for it."""
        endpoint = self.models[name].endpoint
        row = self.ledger.find_reply(self.run, name, key, prompt.digest * endpoint.reuses_replies)
        if row is None or (row["run"], row["model"], row["question"]) == (self.run, name, key):
            return row
        outcome = Outcome(0, reply=row["reply"])
        columns = read_outcome(endpoint, self.questions[key], outcome) | {"state": "reused"}
        about = {"model": name, "question": key, "digest": prompt.digest, "reserved": 0}
        self.ledger.close_call(self.ledger.open_call(self.run, **about), **columns)
        return columns

    def _grade(self, name: str, question: Question, answer: str) -> bool:
        if not answer:
            self._note_losses(name)
        return bool(answer) and question.grade(answer)

    def _note_losses(self, name: str) -> None:
        """Ask for a decision if too many of the model's first replies have no answer."""
        assert self.run is not None
        results = dict[str, str]()
        for row in self.ledger.list_replies(self.run, name):
            if results.get(row["question"]) != "read":
                results[row["question"]] = row["result"]
        losses = sum(result != "read" for result in list(results.values())[:FIRST])
        if losses > MOST_LOST and name not in self.counted_wrong:
            self.asking.add(name)


def _bound_cost(endpoint: Endpoint, prompt: Prompt) -> tuple[int, int]:
    """Bound the cost of a call, and what its server may claim until its price is known."""
    reserved = prices.most_cost(endpoint, prompt.tokens)
    return reserved, prices.most_claim(endpoint, reserved) if endpoint.unproven else reserved


def read_outcome(endpoint: Endpoint, question: Question, outcome: Outcome) -> dict[str, Any]:
    """Read the outcome as columns of the ledger, with the answer and the reason for none."""
    columns: dict[str, Any] = {
        "tokens_in": outcome.tokens_in,
        "tokens_out": outcome.tokens_out,
        "milliseconds": outcome.milliseconds,
        "reply": outcome.reply,
    }
    if outcome.fault is not None:
        state = "interrupted" if outcome.charged else "failed"
        problem = outcome.problem[:PROBLEM_LENGTH]
        return columns | {"state": state, "answer": "", "result": "", "problem": problem}
    answer = read_reply(endpoint.parsing, endpoint.pattern, question, outcome.reply)
    result = classify(answer, outcome.reply, outcome.finish)
    why = outcome.problem or ("" if answer else NO_ANSWERS.get(result, NO_ANSWER))
    texts = {"answer": answer or "", "result": result, "problem": why[:PROBLEM_LENGTH]}
    return columns | {"state": "replied"} | texts
