"""Test calls and lists of models: one request of each, as an awaited job."""

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from selection import db_clock
from selection.errors import NotFound, Refused
from selection.limits import LONGEST_KEY
from selection.models import Endpoint, Job, ModelCall, ModelServer, Question, QuestionSet
from selection.outbox import jobs
from selection.outside_text import clean_text

from . import api_keys, dispatcher, ledger
from .call_pool import CallPool, Request
from .claims import MARGIN
from .completions import Fault, Outcome
from .prices import most_cost, to_amount
from .prompts import build_prompt
from .server_calls import GuardedLoop, list_models, open_server
from .throttle import Throttle

MOST_SECONDS = 60.0  # of a test call: somebody waits in front of the page
CHECK_SECONDS = 300.0  # of the test calls of many models
LIST_SECONDS = 20.0
TURN = 0.2  # seconds between two looks if a call may be made
MOST_MODELS, LONGEST_REASON = 10_000, 300
TEST_CALL, MODELS = "test_call", "models"  # kinds of jobs


def request_test_call(endpoint: Endpoint, question: Question, by: str) -> Job:
    """Hand out a test call. Its result has the call's id, the request and the outcome."""
    team = endpoint.server.team_id
    return jobs.request_job(team, TEST_CALL, endpoint.worker, by, question=question.pk)


@jobs.perform(TEST_CALL)
def _perform_test_call(job: Job) -> dict[str, Any]:
    endpoint = jobs.find_row(Endpoint.objects.select_related("server"), job.subject)
    question = jobs.find_row(Question.objects.all(), job.wanted["question"])
    [call] = make_test_calls([endpoint], question)
    if call.pk is None:
        raise Refused(call.problem)
    fields = ("reply", "answer", "milliseconds", "problem")
    return {name: getattr(call, name) for name in fields} | {
        "call": call.pk,
        "request": json.dumps(build_prompt(endpoint, question).body, ensure_ascii=False),
        "cost": float(to_amount(call.cost)),
    }


def make_test_calls(endpoints: Sequence[Endpoint], question: Question) -> Iterator[ModelCall]:
    """Ask each model the question, as many at once as its server allows; yield calls as they end.

    They are in the ledger of no run. A call that cannot be made has its problem and is not stored;
    a reply ends the rest of a model that failed.
    """
    calls, waiting, in_flight = dict[int, ModelCall](), list[Request](), dict[int, int]()
    throttles = dict[int, Throttle]()
    for endpoint in endpoints:
        server = endpoint.server
        try:
            call, request = _open_call(endpoint, question)
        except Refused as refusal:
            yield ModelCall(worker=endpoint.worker, problem=str(refusal))
            continue
        calls[call.pk] = call
        waiting.append(request)
        throttles[server.pk] = Throttle(server.concurrency, server.requests_per_minute)
    end = time.monotonic() + CHECK_SECONDS
    with CallPool() as pool:
        while calls and time.monotonic() < end:
            for request in [*waiting]:
                server_id = request.server.pk
                busy = sum(other == server_id for other in in_flight.values())
                if throttles[server_id].room(busy):
                    throttles[server_id].note_sent(1)
                    in_flight[request.call] = server_id
                    waiting.remove(request)
                    pool.send([request])
            for pk, outcome in pool.collect(TURN):
                del in_flight[pk]
                yield _close_call(calls.pop(pk), outcome)
    why = f"No reply within {CHECK_SECONDS:g} seconds of the check."
    for call in calls.values():
        yield _close_call(call, Outcome(0, Fault.SERVER, why))


def _open_call(endpoint: Endpoint, question: Question) -> tuple[ModelCall, Request]:
    prompt, server = build_prompt(endpoint, question), endpoint.server
    key, now = api_keys.read_key(server), db_clock.database_now()
    call = ModelCall.objects.create(
        worker=endpoint.worker,
        question=question,
        digest=prompt.digest,
        sent=now,
        expires=now + timedelta(seconds=CHECK_SECONDS) + MARGIN,
        reserved=most_cost(endpoint, prompt.tokens),
    )
    return call, Request(call.pk, server, key, prompt.body, min(endpoint.timeout, MOST_SECONDS))


def _close_call(call: ModelCall, outcome: Outcome) -> ModelCall:
    ledger.close_calls({call.pk: outcome})
    call.refresh_from_db()
    if call.state == ModelCall.State.REPLIED:
        dispatcher.clear_problems([call.worker_id])
    return call


def request_server_models(server: ModelServer, by: str) -> Job:
    return jobs.request_job(server.team_id, MODELS, server, by)


@jobs.perform(MODELS)
def _perform_server_models(job: Job) -> dict[str, Any]:
    return {"models": list_server_models(jobs.find_row(ModelServer.objects.all(), job.subject))}


def list_server_models(server: ModelServer) -> list[str]:
    """List the names of the server's models. Raises Refused if it does not list them in time."""
    key = api_keys.read_key(server)

    async def ask() -> list[str]:
        client = open_server(server, key)
        try:
            async with asyncio.timeout(LIST_SECONDS):
                return await list_models(client, key)
        except TimeoutError:
            reason = f"The server did not list its models within {LIST_SECONDS:g} seconds."
            raise Refused(reason) from None
        except Refused:
            raise
        except Exception as error:  # a list has any size, and any type in any place
            reason = clean_text(f"The list of models is not readable: {error}", LONGEST_REASON)
            raise Refused(api_keys.hide_key(reason, key)) from None
        finally:
            await client.close()

    with asyncio.Runner(loop_factory=GuardedLoop) as runner:
        names = runner.run(ask())
    if len(names) > MOST_MODELS:
        raise Refused(f"The server lists more than {MOST_MODELS:,} models.")
    return [clean_text(name, LONGEST_KEY) for name in names]


def choose_question(question_set: QuestionSet, key: str = "") -> Question:
    rows = question_set.questions.order_by("number")
    question = rows.filter(**({"key": key} if key else {"retired": None})).first()
    if question is None:
        detail = f"no question “{key}”" if key else "no question"
        raise NotFound(f"There is {detail} in the question set “{question_set}”.")
    return question
