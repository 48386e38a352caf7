"""No response to a worker or an answering token tells right from wrong: not by a byte, a header, a
status, an address, or by the work that was done for it.

The same answer is sent to the same question twice, from the same state: once it is the right one,
once another is. All that can be seen must be equal, and not only alike on average.
"""

import cProfile
import gc
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from redis.connection import AbstractConnection

from selection import engine, wakeups
from selection.answers import overdue, recording
from selection.models import Answer, Assignment, Run
from selection.runs import lifecycle
from selection.worker import links
from tests.right_and_wrong import (
    KINDS,
    Send,
    as_if,
    by_api,
    kind,
    make_program,
    make_world,
    of_each_kind,
    on_page,
)
from tests.worlds import make_run, open_of

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


SAVEPOINT = re.compile('SAVEPOINT "?\\w+"?')


@pytest.fixture(autouse=True)
def the_clock_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock: later times would tell responses apart."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    monkeypatch.setattr(time, "time", now.timestamp)


@pytest.fixture
def run() -> Iterator[Run]:
    yield make_world()
    gc.unfreeze()


@pytest.fixture
def program(run: Run, settings: Any) -> Client:
    settings.API_REQUESTS_PER_MINUTE = 0  # counted for all answers alike, now and then
    return make_program(run)


@contextmanager
def redis_commands() -> Iterator[list[list[int]]]:
    """The bytes of each message to Redis."""
    said: list[list[int]] = []
    plain = AbstractConnection.send_packed_command

    def note(self: Any, command: Any, check_health: bool = True) -> None:
        parts = [command] if isinstance(command, (bytes, str)) else list(command)
        said.append([len(part) for part in parts])
        plain(self, parts, check_health)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AbstractConnection, "send_packed_command", note)
        yield said


@contextmanager
def calls() -> Iterator[Counter[object]]:
    """How often each function is called, in Python and in C."""
    counted: Counter[object] = Counter()
    profile = cProfile.Profile()
    gc.collect()
    gc.freeze()  # objects alive now need no second look before the next
    gc.disable()
    profile.enable()
    try:
        yield counted
    finally:
        profile.disable()
        gc.enable()
        for each in profile.getstats():
            counted[each.code] += each.callcount


DRAWN = "X-Request-ID"  # at random, before anything of the request was looked at


def seen(responses: list[Any]) -> list[tuple[Any, ...]]:
    """The visible parts of these responses."""
    return [
        (
            each.status_code,
            sorted(item for item in each.items() if item[0] != DRAWN),
            sorted((name, morsel.OutputString()) for name, morsel in each.cookies.items()),
            each.content,
        )
        for each in responses
    ]


def observed(send: Callable[[], list[Any]], capture: Any) -> dict[str, Any]:
    """The visible response, and the work inside: statements, messages, calls."""
    cache.clear()
    wakeups._covered.clear()
    logging.root.manager._clear_cache()  # which levels are logged is looked up anew each time
    statements: list[tuple[str, int]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        statements.append((SAVEPOINT.sub("SAVEPOINT", sql), len(params or ())))
        return execute(sql, params, many, context)

    with (
        redis_commands() as commands,
        calls() as called,
        connection.execute_wrapper(note),
        capture(execute=True),
    ):
        responses = send()
    found = {"statements": statements, "messages": commands, "calls": called}
    return {"seen": seen(responses)} | found


def both_ways(
    slip: Assignment,
    send: Send,
    capture: Any,
    seed: int,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Send it as right and as wrong from the same state, and compare all.

    Once before, to fill the caches of the process, as of addresses that were read.
    """
    found = []
    for right in (seed % 4 < 2, seed % 2 == 0, seed % 2 == 1):
        with transaction.atomic():
            answer = as_if(right, slip, np.random.default_rng(seed))
            before()
            found.append(observed(lambda said=answer: send(said), capture))
            transaction.set_rollback(True)
    for what, as_first in found[1].items():
        assert as_first == found[2][what], (what, kind(slip.question), seed)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["page", "api"])
def test_a_thousand_answers_look_the_same_right_and_wrong(
    way, run, program, sample, django_capture_on_commit_callbacks
):
    rng, slips = np.random.default_rng(7), of_each_kind(run)
    for number in range(sample(len(KINDS), 1000)):
        slip = rng.choice(slips[number % len(KINDS)])
        send = on_page(slip) if way == "page" else by_api(program, run, slip)
        both_ways(slip, send, django_capture_on_commit_callbacks, number)


def late(slip: Assignment, run: Run) -> None:
    Assignment.objects.filter(pk=slip.pk).update(due=timezone.now() - timedelta(hours=1))


def answered(slip: Assignment, run: Run) -> None:
    slip.question.refresh_from_db()
    recording.record_many(run, [(slip, kind(slip.question).answer)])


def answered_otherwise(slip: Assignment, run: Run) -> None:
    slip.question.refresh_from_db()
    recording.record_many(run, [(slip, kind(slip.question).another)])


def expired(slip: Assignment, run: Run) -> None:
    late(slip, run)
    overdue.expire_overdue()


def counted(slip: Assignment, run: Run) -> None:
    answered(slip, run)
    Answer.objects.filter(pk=slip.pk).update(applied_in=1)


def paused(slip: Assignment, run: Run) -> None:
    lifecycle.pause_run(run)


def ended(slip: Assignment, run: Run) -> None:
    lifecycle.stop_run(run)


PATHS = [late, answered, answered_otherwise, expired, counted, paused, ended]


@pytest.mark.slow
@pytest.mark.parametrize("before", PATHS, ids=lambda path: path.__name__)
@pytest.mark.parametrize("way", ["page", "api"])
def test_failed_request_looks_the_same_for_right_and_wrong_answers(
    before, way, run, program, sample, django_capture_on_commit_callbacks
):
    slips = [each[0] for each in of_each_kind(run)]
    turn = 2 * PATHS.index(before) + (way == "api")  # each kind comes, if not with each path
    some = [slips[turn % len(slips)]]
    for number, slip in enumerate(sample(some, slips), turn):
        send = on_page(slip) if way == "page" else by_api(program, run, slip)
        both_ways(
            slip,
            send,
            django_capture_on_commit_callbacks,
            number,
            before=partial(before, slip, run),
        )


@pytest.mark.parametrize("answer", ["", "x" * 10_001, "none of these"])
def test_invalid_answer_is_refused_alike_for_any_accepted_answer(
    answer, run, program, sample, django_capture_on_commit_callbacks
):
    for slip in open_of(run)[: sample(1, len(KINDS))]:
        for send in (on_page(slip), by_api(program, run, slip)):
            same = partial(lambda send, _: send(answer), send)
            both_ways(slip, same, django_capture_on_commit_callbacks, 1)


def test_a_difference_would_be_found(run, program, django_capture_on_commit_callbacks):
    slip = open_of(run)[0]
    send = by_api(program, run, slip)

    def slower(answer: str) -> list[Any]:
        responses = send(answer)
        if Answer.objects.get(pk=slip.pk).right:
            len(answer)
        return responses

    with pytest.raises(AssertionError):
        both_ways(slip, slower, django_capture_on_commit_callbacks, 1)


def test_assignment_of_another_worker_looks_like_a_missing_one(run, program):
    slip, other = open_of(run)[0], make_run()
    engine.advance(other.pk)
    theirs = open_of(other)[0]
    url = reverse("work", args=[links.worker_token(slip.candidate_id)])
    form = {"response": "yes"}
    pages = [Client().post(url, form | {"assignment": pk}) for pk in (theirs.pk, 10**9)]
    assert seen(pages[:1]) == seen(pages[1:])
    assert pages[0].status_code == 404
    assert not Answer.objects.filter(pk=theirs.pk).exists()
