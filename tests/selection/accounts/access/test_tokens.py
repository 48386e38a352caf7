"""API tokens: creation, scopes, expiry, rate limits."""

import re
import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection import engine
from selection.accounts import rate_limits, tokens
from selection.models import ApiToken, Assignment
from tests.pages import admin_url, text_of
from tests.rate_limits import begin_window, move_clock
from tests.worlds import make_run, open_of

from .world import Role, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    run = make_run()
    engine.advance(run.pk)
    return run


def with_token(secret: str) -> Client:
    return Client(headers={"authorization": f"Bearer {secret}"})


def status(secret: str, run) -> int:
    return with_token(secret).get(f"/api/runs/{run.pk}").status_code


# -- making them


def make(client, name: str, scope: str, **fields: object):
    return client.post(admin_url("apitoken_add"), {"name": name, "scope": scope} | fields)


def secret_on(page) -> str:
    return re.search(r"<code>(cs_[\w-]{40,})</code>", page.content.decode())[1]


def browser(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_managers_and_owners_make_tokens_for_their_team(zebras, okapis):
    for role in (Role.MANAGER, Role.OWNER):
        user = member(okapis.team, role)
        secret = secret_on(make(browser(user), f"made by {role}", "read"))
        made = ApiToken.objects.get(name=f"made by {role}")
        assert (made.team, made.by, made.scope) == (okapis.team, user.username, "read")
        assert made.prefix == secret[:9]
        assert (status(secret, okapis.run), status(secret, zebras.run)) == (200, 404)


def test_a_name_that_another_team_uses_does_not_touch_its_token(zebras, okapis):
    before = ApiToken.objects.get(team=zebras.team).digest
    page = make(browser(member(okapis.team, Role.MANAGER)), "zebra program", "manage")
    assert secret_on(page)
    assert ApiToken.objects.get(team=zebras.team).digest == before


@pytest.mark.parametrize("scope", ["read", "answer", "manage"])
def test_token_scope_cannot_exceed_the_role_of_its_maker(scope, django_user_model):
    clerk = django_user_model.objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="add_apitoken"))
    page = make(browser(clerk), "trick", scope)
    assert "Your role does not allow this scope." in text_of(page)
    assert not ApiToken.objects.exists()


def test_an_end_lies_ahead(requester):
    past = {"expires_0": "2020-01-01", "expires_1": "12:00"}
    assert "Choose a date in the future." in text_of(make(requester, "late", "read", **past))


# -- the end of tokens


def test_a_token_ends_when_it_expires(run):
    secret = ApiToken.issue("short", expires=timezone.now() + timedelta(hours=1))
    assert status(secret, run) == 200
    ApiToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert status(secret, run) == 401


def test_a_revoked_token_stays_in_the_list_and_opens_nothing(run, requester):
    secret, other = ApiToken.issue("lost"), ApiToken.issue("kept")
    chosen = {"action": "revoke", "_selected_action": [ApiToken.objects.get(name="lost").pk]}
    requester.post(admin_url("apitoken_changelist"), chosen)
    assert (status(secret, run), status(other, run)) == (401, 200)
    page = text_of(requester.get(admin_url("apitoken_changelist")))
    assert "lost" in page
    assert "revoked" in page
    assert secret not in page


def test_a_token_is_looked_up_once_a_second_and_no_later(run, settings, monkeypatch):
    settings.TOKEN_SECONDS, now = 1.0, time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    secret = ApiToken.issue("lost")
    assert status(secret, run) == 200
    with CaptureQueriesContext(connection) as queries:
        assert status(secret, run) == 200
    assert not [query for query in queries if "apitoken" in query["sql"]]
    ApiToken.objects.update(revoked=timezone.now())
    now += 0.99
    assert status(secret, run) == 200
    now += 0.01
    assert status(secret, run) == 401


def test_guessed_tokens_do_not_fill_the_memory(run, settings, monkeypatch):
    settings.TOKEN_SECONDS = 1.0
    monkeypatch.setattr(tokens, "_read", {})
    monkeypatch.setattr(tokens, "REMEMBERED", 2)
    assert status("cs_guessed", run) == 401
    assert tokens._read == {}
    for name in ("one", "two", "three"):
        assert status(ApiToken.issue(name), run) == 200
    assert len(tokens._read) == 1


def test_tokens_of_other_teams_are_not_revoked(zebras, okapis):
    chosen = {"action": "revoke", "_selected_action": [zebras.token.pk]}
    browser(member(okapis.team, Role.OWNER)).post(admin_url("apitoken_changelist"), chosen)
    zebras.token.refresh_from_db()
    assert zebras.token.revoked is None


def test_a_new_token_of_a_name_takes_the_place_of_the_old_one(run):
    old = ApiToken.issue("robot")
    ApiToken.objects.update(revoked=timezone.now())
    new = ApiToken.issue("robot", scope="read")
    assert (status(old, run), status(new, run)) == (401, 200)
    assert ApiToken.objects.get().scope == "read"


# -- that it was used


def test_use_of_a_token_is_noted_once_a_minute(run, django_assert_num_queries):
    secret = ApiToken.issue("robot")
    assert ApiToken.objects.get().used is None
    status(secret, run)
    first = ApiToken.objects.get().used
    assert first is not None
    status(secret, run)
    assert ApiToken.objects.get().used == first
    ApiToken.objects.update(used=first - timedelta(minutes=2))
    status(secret, run)
    assert ApiToken.objects.get().used >= first


# -- views of tokens


def test_a_reading_token_looks_at_open_questions_and_starts_nobodys_clock(run):
    secret = ApiToken.issue("eye", scope="read")
    listed = with_token(secret).get(f"/api/runs/{run.pk}/assignments").json()
    assert len(listed) == len(open_of(run)) > 0
    with_token(secret).get(f"/api/runs/{run.pk}/assignments", {"worker": listed[0]["worker"]})
    assert not Assignment.objects.exclude(shown=None).exists()
    assert not run.candidates.exclude(seen=None).exists()


def test_a_reading_token_gets_no_workers_link(run):
    path = f"/api/runs/{run.pk}/workers"
    for scope, has in (("read", False), ("manage", True)):
        rows = with_token(ApiToken.issue(scope, scope=scope)).get(path).json()
        assert {bool(row["link"]) for row in rows} == {has}


def test_an_answering_token_is_told_nothing_that_grades(run):
    answering = with_token(ApiToken.issue("crowd", scope="answer"))
    listed = answering.get(f"/api/runs/{run.pk}/assignments").json()
    fields = {"id", "worker", "skill", "question", "prompt", "kind", "choices", "due_at"}
    assert all(set(row) == fields for row in listed)
    replies = [
        answering.post(
            f"/api/assignments/{row['id']}/answer",
            {"response": response},
            content_type="application/json",
        ).json()
        for row, response in zip(listed[:2], ("yes", "no"), strict=True)
    ]
    assert [set(reply) for reply in replies] == [{"assignment", "duplicate", "kept"}] * 2
    assert len({reply["duplicate"] for reply in replies}) == 1


# -- how often


@pytest.fixture
def few(settings):
    settings.API_REQUESTS_PER_MINUTE = settings.API_FAILURES_PER_MINUTE = 3


@pytest.fixture(autouse=True)
def one_minute(monkeypatch):
    begin_window(monkeypatch)


def test_a_token_that_asks_too_often_has_to_wait_and_others_have_not(few, run):
    hasty, calm = ApiToken.issue("hasty"), ApiToken.issue("calm")
    assert [status(hasty, run) for _ in range(5)] == [200, 200, 200, 429, 429]
    assert status(calm, run) == 200
    refused = with_token(hasty).get(f"/api/runs/{run.pk}").json()
    assert refused == {"error": "Too many requests with this token: wait a minute."}


def test_a_minute_later_it_goes_on(few, run, monkeypatch):
    hasty = ApiToken.issue("hasty")
    assert [status(hasty, run) for _ in range(4)][-1] == 429
    move_clock(monkeypatch, 1_000_061.0)
    assert status(hasty, run) == 200


def test_guessed_tokens_are_limited_but_a_good_token_still_works(few, run):
    assert [status("wrong", run) for _ in range(5)] == [401, 401, 401, 429, 429]
    assert status(ApiToken.issue("good"), run) == 200


def test_missing_cache_disables_counting_and_blocks_no_request(few, run, monkeypatch):
    asked = []

    def away(*args: object, **kwargs: object) -> None:
        asked.append(args)
        raise ConnectionError

    monkeypatch.setattr(cache, "add", away)
    token = ApiToken.issue("robot")
    assert [status(token, run) for _ in range(5)] == [200] * 5
    assert len(asked) == 1  # not tried again at once: each failure may take long


def test_processes_count_together(few, run, monkeypatch):
    hasty = ApiToken.issue("hasty")
    assert [status(hasty, run) for _ in range(2)] == [200, 200]
    monkeypatch.setattr(rate_limits, "_here", rate_limits._WindowCounts())  # another process
    assert [status(hasty, run) for _ in range(2)] == [200, 429]


def test_large_limit_updates_the_cache_occasionally(monkeypatch):
    told = []
    monkeypatch.setattr(cache, "incr", lambda key, step: told.append(step) or sum(told))
    refused = [rate_limits.is_over_limit("token", "1", 2000) for _ in range(2006)]
    assert told == [2] * 1001
    assert refused.index(True) == 2001


def test_no_limit_counts_nothing(settings, run, monkeypatch):
    settings.API_REQUESTS_PER_MINUTE = 0
    monkeypatch.setattr(cache, "incr", lambda *_: pytest.fail("counted"))
    assert status(ApiToken.issue("robot"), run) == 200
