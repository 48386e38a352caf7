"""Test calls and lists of models: one request each, as a job of somebody who waits."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from selection import db_clock, jobs
from selection.errors import NotFound, Refused
from selection.limits import LONGEST_KEY
from selection.models import Endpoint, Job, ModelCall, ModelServer, Question, QuestionSet
from selection.outside_text import clean_text

from . import api_keys, dispatcher, ledger
from .claims import MARGIN
from .prices import most_cost, to_amount
from .prompts import build_prompt
from .server_calls import GuardedLoop, ModelClient, ask_model, list_models, open_server

MOST_SECONDS = 60.0  # of a test call: somebody waits in front of the page
LIST_SECONDS = 20.0
MOST_MODELS, LONGEST_REASON = 10_000, 300
TEST_CALL, MODELS = "test_call", "models"  # kinds of jobs
Made = TypeVar("Made")


@dataclass(frozen=True)
class CallTest:
    """A test call that has ended. body: what was sent, without the key, which is in a header."""

    call: ModelCall
    body: dict[str, Any]


def request_test_call(endpoint: Endpoint, question: Question, by: str) -> Job:
    """Hand out a test call. Its result has the call's id, the request and the outcome."""
    team = endpoint.server.team_id
    return jobs.request_job(team, TEST_CALL, endpoint.worker, by, question=question.pk)


@jobs.perform(TEST_CALL)
def _perform_test_call(job: Job) -> dict[str, Any]:
    endpoint = jobs.find_row(Endpoint.objects.select_related("server"), job.subject)
    question = jobs.find_row(Question.objects.all(), job.wanted["question"])
    test = make_test_call(endpoint, question)
    fields = ("reply", "answer", "milliseconds", "problem")
    return {name: getattr(test.call, name) for name in fields} | {
        "call": test.call.pk,
        "request": json.dumps(test.body, ensure_ascii=False),
        "cost": float(to_amount(test.call.cost)),
    }


def make_test_call(endpoint: Endpoint, question: Question) -> CallTest:
    """Ask the model a question, and return the outcome; the call is in the ledger of no run.

    A reply ends the rest of a model that failed. Raises Refused for a question that the model
    cannot be shown, and for a key that cannot be read.
    """
    prompt = build_prompt(endpoint, question)
    key = api_keys.read_key(endpoint.server)
    timeout = min(endpoint.timeout, MOST_SECONDS)
    now = db_clock.database_now()
    call = ModelCall.objects.create(
        worker=endpoint.worker,
        question=question,
        digest=prompt.digest,
        sent=now,
        expires=now + timedelta(seconds=timeout) + MARGIN,
        reserved=most_cost(endpoint, prompt.tokens),
    )
    try:
        outcome = _run(
            endpoint.server,
            key,
            lambda client: ask_model(client, prompt.body, key, timeout),
        )
    except Refused:
        call.delete()
        raise
    ledger.close_calls({call.pk: outcome})
    if outcome.fault is None:
        dispatcher.clear_problems([endpoint.pk])
    call.refresh_from_db()
    return CallTest(call, prompt.body)


def request_server_models(server: ModelServer, by: str) -> Job:
    """Hand out a list of the server's models; the result is ``{"models": names}``."""
    return jobs.request_job(server.team_id, MODELS, server, by)


@jobs.perform(MODELS)
def _perform_server_models(job: Job) -> dict[str, Any]:
    return {"models": list_server_models(jobs.find_row(ModelServer.objects.all(), job.subject))}


def list_server_models(server: ModelServer) -> list[str]:
    """Return the names of the server's models. Raises Refused if it does not list them in time."""
    key = api_keys.read_key(server)

    async def ask(client: ModelClient) -> list[str]:
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

    names = _run(server, key, ask)
    if len(names) > MOST_MODELS:
        raise Refused(f"The server lists more than {MOST_MODELS:,} models.")
    return [clean_text(name, LONGEST_KEY) for name in names]


def choose_question(question_set: QuestionSet, key: str = "") -> Question:
    """Return the question of this key, or the first one. Raises NotFound if there is none."""
    rows = question_set.questions.order_by("number")
    question = (rows.filter(key=key) if key else rows).first()
    if question is None:
        named = f"no question “{key}”" if key else "no question"
        raise NotFound(f"There is {named} in the question set “{question_set}”.")
    return question


def _run(
    server: ModelServer,
    key: str,
    ask: Callable[[ModelClient], Awaitable[Made]],
) -> Made:
    """Return the result of ``ask`` with a client of the server."""

    async def ask_and_close() -> Made:
        client = open_server(server, key)
        try:
            return await ask(client)
        finally:
            await client.close()

    with asyncio.Runner(loop_factory=GuardedLoop) as runner:
        return runner.run(ask_and_close())
