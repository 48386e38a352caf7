"""Idempotency keys, and errors of one form."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from selection import tasks
from selection.models import ApiToken, IdempotencyKey, Pool, Run, Team
from tests.worlds import make_pool, make_questions, make_run

from .conftest import Program

pytestmark = pytest.mark.django_db


def create(program, key: str, name: str = "Spring"):
    return program.post("pools", {"name": name}, Idempotency_Key=key)


def test_the_same_request_creates_one_thing_and_gets_the_same_answer(manager):
    first, again = create(manager, "one"), create(manager, "one")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Pool.objects.count() == 1
    assert create(manager, "two", "Summer").json()["id"] != first.json()["id"]


def test_repeated_key_gets_the_first_reply_even_after_a_change(manager):
    first = create(manager, "one").json()
    manager.patch(f"pools/{first['id']}", {"name": "Autumn"})
    assert create(manager, "one").json() == first


def test_different_request_under_the_same_key_is_refused(manager):
    create(manager, "one")
    for reply in (
        create(manager, "one", "Summer"),
        manager.post("question-sets", {"name": "Spring"}, Idempotency_Key="one"),
    ):
        assert reply.status_code == 422
        assert "was used for another request" in reply.json()["error"]
    assert Pool.objects.count() == 1


def test_a_request_that_was_refused_may_be_sent_again(manager):
    Pool.objects.create(name="Spring")
    assert create(manager, "one").status_code == 422
    assert not IdempotencyKey.objects.exists()
    Pool.objects.all().delete()
    assert create(manager, "one").status_code == 201


def test_tokens_have_separate_keys(manager):
    other = Program(ApiToken.issue("other", Team.objects.create(name="Others")))
    assert create(manager, "one").json()["id"] != create(other, "one").json()["id"]


@pytest.mark.parametrize("key", ["", "x" * 201, "é"])
def test_invalid_key_is_refused(manager, key):
    assert create(manager, key).status_code == 422
    assert not Pool.objects.exists()


def test_runs_copies_and_sets_are_created_once(manager):
    body = {"name": "Best", "pool": make_pool(4).pk, "question_set": make_questions(9).pk, "k": 1}
    run = make_run(start=False)
    sent = [("runs", body), (f"runs/{run.pk}/copy", {}), ("question-sets", {"name": "Sums"})]
    for path, content in sent:
        first, again = (manager.post(path, content, Idempotency_Key=path) for _ in range(2))
        assert first.status_code == again.status_code == 201
        assert first.json() == again.json()
    assert Run.objects.count() == 3


def test_keys_are_forgotten_after_a_day(manager):
    create(manager, "old")
    IdempotencyKey.objects.update(created=timezone.now() - timedelta(hours=25))
    create(manager, "new", "Summer")
    tasks.sweep()
    assert [row.key for row in IdempotencyKey.objects.all()] == ["new"]


@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_create_once_and_share_the_reply():
    secret, replies = ApiToken.issue("manager"), []
    together = threading.Barrier(4)

    def knock() -> None:
        together.wait()
        replies.append(create(Program(secret), "one"))
        connection.close()

    threads = [threading.Thread(target=knock) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply.status_code for reply in replies] == [201] * 4
    assert len({reply.json()["id"] for reply in replies}) == 1
    assert Pool.objects.count() == 1
