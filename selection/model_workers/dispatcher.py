"""The dispatcher: calls the models that hold open assignments, and records their replies."""

import logging
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.core.cache import cache
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, prefetch_related_objects

from selection import db_clock, wakeups
from selection.db.related import attach_related
from selection.errors import Refused
from selection.models import Assignment, Candidate, Endpoint, ModelCall, ModelServer, Run
from selection.models.model_workers import PROBLEM_LENGTH
from selection.outbox import celery_messages

from . import api_keys, ledger, spending
from .call_pool import CallPool, Request
from .claims import Claim, list_uncalled, trial_condition
from .completions import Fault, Outcome
from .prompts import build_prompt
from .throttle import Throttle, rest_seconds

logger = logging.getLogger(__name__)

# So many rests in a row for too many calls are a problem: an exhausted quota looks like haste.
MANY_REFUSALS = 6
LONG_REST = 60.0  # seconds: a server that asks for a longer one is a problem at once
AT_ONCE = 500  # assignments that are looked up at once for a server
SETTINGS_REST = timedelta(minutes=5)  # after a failure that somebody has to mend
RENEWAL = 15.0  # seconds after which the calls in flight are renewed, and lost ones looked for
# By server, kept from task to task: a rate is of a minute, and a server may ask for a longer rest.
THROTTLES: dict[int, Throttle] = {}
TASK = "selection.tasks.call_models"
LOCK, LOCK_SECONDS = "model-calls", 60
# Seconds of a task: at most, and without anything to do. At its end it waits for its slowest call
# and begins none, so the end must be rare.
WORKING, IDLE = 300.0, 3.0


@dataclass(frozen=True)
class InFlight:
    """A call in flight. digest: of its request, which is not sent a second time meanwhile."""

    server: int
    worker: int
    digest: str


@dataclass
class Dispatcher:
    """Makes calls in turns, in the thread of its caller.

    runs       ids of the only runs to call for; None: all
    throttles  by server
    """

    pool: CallPool
    runs: frozenset[int] | None = None
    throttles: dict[int, Throttle] = field(default_factory=dict)
    _in_flight: dict[int, InFlight] = field(default_factory=dict)
    _renewal: float = 0.0
    # Not in the ledger yet: kept, so that an interruption while they are recorded loses none.
    _outcomes: dict[int, Outcome] = field(default_factory=dict)

    def take_turn(self, wait: float, begin: bool = True) -> bool:
        """Begin calls, wait for outcomes and record them; return True if anything was done.

        wait   seconds to wait for the first outcome
        begin  False to make no further calls
        """
        self._renew()
        began = self._begin_calls() if begin else 0
        self._outcomes.update(self.pool.collect(wait if self._in_flight else 0))
        ended = len(self._outcomes)
        if ended:
            self._end_calls()
        return bool(began or ended or self._in_flight)

    def finish(self, keep_alive: Callable[[], object] = lambda: None) -> None:
        """Wait for the calls in flight, and make no further ones."""
        while self._in_flight:
            keep_alive()
            self.take_turn(1.0, begin=False)

    def _renew(self) -> None:
        """Renew the calls in flight; close those of processes that were killed, to ask again."""
        if time.monotonic() < self._renewal:
            return
        ledger.renew_calls(self._in_flight)
        ledger.close_interrupted()
        self._renewal = time.monotonic() + RENEWAL

    # -- beginning

    def _begin_calls(self) -> int:
        began = 0
        busy = Counter(flight.server for flight in self._in_flight.values())
        for server in list_servers(self.runs):
            throttle = self._throttle_of(server)
            room, again = min(throttle.room(busy[server.pk]), AT_ONCE), True
            try:
                while room > 0 and again:
                    count, again = self._begin_at(server, throttle, room)
                    began, room = began + count, room - count
            except (IntegrityError, ObjectDoesNotExist):
                logger.warning("Assignments of models were changed meanwhile by another process.")
        return began

    def _begin_at(self, server: ModelServer, throttle: Throttle, room: int) -> tuple[int, bool]:
        """Begin calls at the server; return their number, and True if others may be begun."""
        claims = self._claims(server, room)
        reused = ledger.reuse_replies(claims) if claims else set()
        new = self._distinct([one for one in claims if one.assignment.pk not in reused])
        if not new:
            return len(reused), False
        try:
            key = api_keys.read_key(server)
        except Refused as refusal:
            rest_endpoints({one.endpoint.pk for one in new}, str(refusal))
            return len(reused), False
        with transaction.atomic():  # a higher limit waits, and then finds all that were too dear
            opened, too_dear = ledger.open_calls(new)
            if too_dear:
                spending.mark_unaffordable(too_dear)
        requests, flights = [], {}
        for call, claim in opened:
            endpoint = claim.endpoint
            requests.append(Request(call.pk, server, key, claim.prompt.body, endpoint.timeout))
            flights[call.pk] = InFlight(server.pk, endpoint.pk, claim.prompt.digest)
        throttle.note_sent(len(requests))
        # Sent first: an interruption here must not leave calls to wait for that were never sent.
        self.pool.send(requests)
        self._in_flight.update(flights)
        return len(reused) + len(requests), 0 < len(opened) < len(new)

    def _claims(self, server: ModelServer, room: int) -> list[Claim]:
        claims, unfit = [], {}
        for assignment in read_callable(server, self.runs, room, self._in_flight):
            endpoint = assignment.candidate.worker.endpoint
            try:
                claims.append(Claim(assignment, build_prompt(endpoint, assignment.question)))
            except Refused as refusal:
                unfit[endpoint.pk] = str(refusal)
        for endpoint_id, problem in unfit.items():
            rest_endpoints({endpoint_id}, problem)
        return claims

    def _distinct(self, claims: Sequence[Claim]) -> list[Claim]:
        """Keep claims with different requests, except those in flight: their reply is reused."""
        busy = {flight.digest for flight in self._in_flight.values()}
        distinct = []
        for claim in claims:
            if claim.endpoint.reuses_replies:
                if claim.prompt.digest in busy:
                    continue
                busy.add(claim.prompt.digest)
            distinct.append(claim)
        return distinct

    # -- ending

    def _end_calls(self) -> None:
        closed = ledger.close_calls(self._outcomes)
        replied, failed = set(), defaultdict[int, list[Outcome]](list)
        for call, outcome in closed.outcomes.items():
            flight = self._in_flight.pop(call, None)
            if flight is None:
                continue
            throttle = self.throttles[flight.server]
            if outcome.fault is None or (outcome.fault == Fault.REQUEST and call in closed.settled):
                throttle.note_reply()
                replied.add(flight.worker)
            else:
                failed[flight.worker].append(outcome)
            if outcome.fault == Fault.RATE:
                throttle.note_refusal(flight.worker, outcome.retry_after)
        self._outcomes = {}
        # A false claim stops a model although other replies came at the same time.
        replied -= {
            worker
            for worker, failures in failed.items()
            if any(one.charged and one.fault == Fault.SETTINGS for one in failures)
        }
        clear_problems(replied)
        for worker, failures in failed.items():
            if worker not in replied:
                _note_failures(worker, failures)

    def _throttle_of(self, server: ModelServer) -> Throttle:
        throttle = self.throttles.setdefault(server.pk, Throttle(server.concurrency))
        throttle.concurrency, throttle.rate = server.concurrency, server.requests_per_minute
        return throttle


def list_servers(runs: frozenset[int] | None = None) -> list[ModelServer]:
    rows = Run.objects.running().filter(candidates__worker__endpoint__server=OuterRef("pk"))
    if runs is not None:
        rows = rows.filter(pk__in=runs)
    return list(ModelServer.objects.filter(Exists(rows)).order_by("pk"))


def list_callable(
    server: ModelServer, runs: frozenset[int] | None, most: int, own: Collection[int] | None = None
) -> QuerySet[Assignment]:
    """List the assignments that the server's models may be called for now, oldest first.

    own  the calls that the caller has in flight. A model with others in a run is called for nothing
         there: they are likely to be lost, and an answer behind a lost one would not count
    """
    now = db_clock.database_now()
    ready = Q(candidate__worker__endpoint__rests_until=None) | Q(
        candidate__worker__endpoint__rests_until__lte=now
    )
    rows = list_uncalled().filter(ready, candidate__worker__endpoint__server=server)
    rows = rows.exclude(trial_condition())
    if own is not None:
        strange = ModelCall.objects.in_flight().exclude(pk__in=own).exclude(assignment=None)
        if strange.exists():
            rows = rows.exclude(candidate__in=strange.values("assignment__candidate"))
    if runs is not None:
        rows = rows.filter(candidate__run__in=runs)
    return rows.order_by("id")[:most]


def read_callable(
    server: ModelServer, runs: frozenset[int] | None, most: int, own: Collection[int] | None = None
) -> list[Assignment]:
    """Read the same assignments with their models, runs and questions.

    A query for each table: joined, the few models and runs would be read for each assignment.
    """
    assignments = list(list_callable(server, runs, most, own))
    candidates = attach_related(assignments, "candidate")
    prefetch_related_objects(candidates, "run", "worker__endpoint__server")
    attach_related(attach_related(assignments, "question"), "question_set")
    return assignments


def rest_endpoints(endpoints: Iterable[int], problem: str) -> None:
    """Call these models no more for a while, and keep the reason for the run's page."""
    Endpoint.objects.filter(pk__in=endpoints).update(
        problem=problem[:PROBLEM_LENGTH], rests_until=db_clock.database_now() + SETTINGS_REST
    )


def clear_problems(endpoints: Iterable[int]) -> None:
    """Forget the failures of these models; a rest for too many calls is still observed."""
    rows = Endpoint.objects.filter(pk__in=endpoints)
    rows.exclude(problem="").update(problem="", failures=0, rests_until=None)
    rows.filter(failures__gt=0).update(failures=0)


@transaction.atomic
def _note_failures(endpoint_id: int, failures: Sequence[Outcome]) -> None:
    """Let a model rest that failed: the longer, the more often in a row.

    Its runs take a step: one may set it aside.
    """
    endpoint = Endpoint.objects.select_for_update().filter(pk=endpoint_id).first()
    if endpoint is None:
        return
    last, now = failures[-1], db_clock.database_now()
    limited = last.fault == Fault.RATE
    if limited and not last.retry_after and endpoint.rests_until and endpoint.rests_until > now:
        return  # one of many calls that were refused at once
    endpoint.failures += 1
    rest = timedelta(seconds=max(rest_seconds(endpoint.failures), last.retry_after))
    if last.fault in (Fault.SETTINGS, Fault.REQUEST):
        rest = SETTINGS_REST
    if not limited or endpoint.failures >= MANY_REFUSALS or last.retry_after > LONG_REST:
        endpoint.problem = last.problem[:PROBLEM_LENGTH]
    endpoint.rests_until = now + rest
    endpoint.save(update_fields=["failures", "problem", "rests_until"])
    for run_id in Run.objects.running().filter(candidates__worker=endpoint_id).values_list("pk"):
        wakeups.request_step(*run_id)


# -- the Celery task: requested after steps, done by one process at a time


def request_calls(run_id: int) -> None:
    if Candidate.objects.filter(run=run_id, worker__endpoint__isnull=False).exists():
        celery_messages.request_task(TASK)


def make_calls_alone() -> None:
    """Make calls, unless another process does; ask for another task if there is more to do.

    Only the rates and concurrency of servers rest on being alone: the ledger is safe in any case.
    """
    celery_messages.mark_received(TASK)
    name = uuid.uuid4().hex
    if not cache.add(LOCK, name, LOCK_SECONDS):
        return
    try:
        more = make_calls(WORKING, IDLE, lambda: cache.touch(LOCK, LOCK_SECONDS))
    finally:
        if cache.get(LOCK) == name:
            cache.delete(LOCK)
    if more:
        celery_messages.request_task(TASK)


def sweep_calls() -> None:
    """Close calls of processes that ended, and request the calls whose request was lost."""
    if closed := ledger.close_interrupted():
        logger.warning("%s calls of models were interrupted.", closed)
    for server in list_servers():
        if list_callable(server, None, 1).exists():
            celery_messages.request_task(TASK)
            return


def make_calls(seconds: float, idle: float, keep_alive: Callable[[], object]) -> bool:
    """Make calls for so long, or until there was nothing to do for ``idle`` seconds.

    keep_alive  called in every turn

    Return True if there may be more to do. Calls in flight are waited for.
    """
    end, last = time.monotonic() + seconds, time.monotonic()
    with CallPool() as pool:
        dispatcher = Dispatcher(pool, throttles=THROTTLES)
        while time.monotonic() < end and time.monotonic() - last < idle:
            keep_alive()
            if dispatcher.take_turn(0.1):
                last = time.monotonic()
            else:
                time.sleep(0.1)
        dispatcher.finish(keep_alive)
    return time.monotonic() >= end
