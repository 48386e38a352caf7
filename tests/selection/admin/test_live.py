"""A refresh of a run's page: its parts if any changed, compressed, rendered once for all users."""

import gzip
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from selection import engine
from selection.admin.run import live
from selection.models import Run
from selection.runs import lifecycle
from tests.pages import admin_url
from tests.worlds import answer_all, crowd, make_run, play

pytestmark = pytest.mark.django_db


def page_of(requester, run: Run, **query: object) -> str:
    """Return the tag of the state that a newly opened page shows."""
    return requester.get(admin_url("run_page", run.pk), query).context["pieces"].tag


def refresh(requester, run: Run, tag: str, **query: object):
    headers = {"If-None-Match": f'"{tag}"', "Accept-Encoding": "gzip"}
    return requester.get(admin_url("run_live", run.pk), query, headers=headers)


def body_of(response) -> dict[str, Any]:
    packed = response.headers.get("Content-Encoding") == "gzip"
    return json.loads(gzip.decompress(response.content) if packed else response.content)


def tag_of(response) -> str:
    return response.headers["ETag"].strip('W/"')


def step(run: Run) -> None:
    answer_all(run, crowd(1, 2))
    engine.advance(run.pk)


def test_unchanged_page_sends_nothing(requester):
    run = play(make_run(), crowd(1, 2), most=2)
    response = refresh(requester, run, page_of(requester, run))
    assert (response.status_code, response.content) == (304, b"")


def test_a_step_sends_the_rows_and_parts_that_it_changed(requester):
    run = make_run(n=30, slots=3, slots_per_worker=1)
    engine.advance(run.pk)
    tag = page_of(requester, run)
    answered = set(run.candidates.filter(asked__gt=0).values_list("pk", flat=True))
    step(run)
    response = refresh(requester, run, tag)
    changes = body_of(response)
    assert changes["live"]
    assert {f"w{pk}" for pk in answered} <= set(changes["rows"])
    assert "Spent so far" in changes["parts"]["tiles"]
    assert refresh(requester, run, tag_of(response)).status_code == 304


def test_the_pieces_sent_turn_the_old_page_into_the_new_one(requester):
    run = make_run(n=12)
    engine.advance(run.pk)
    response = requester.get(admin_url("run_page", run.pk))
    old = response.context["pieces"]
    assert old.rows
    step(run)
    changes = body_of(refresh(requester, run, old.tag))
    new = requester.get(admin_url("run_page", run.pk)).context["pieces"]
    assert list(changes["rows"].items()) == list(new.rows.items())
    # How many answers came in a minute depends on the clock.
    assert {**changes["parts"], "progress": ""} == {**new.parts, "progress": ""}


def test_a_page_that_is_not_remembered_gets_everything(requester):
    run = make_run()
    changes = body_of(refresh(requester, run, "something else"))
    assert set(changes["parts"]) == set(live.PARTS)
    assert [name for name in changes["rows"] if "border" not in name] == [
        f"w{line.candidate}" for line in live.reports.worker_standings(run)
    ]


def test_a_refresh_of_a_thousand_workers_is_below_ten_kilobytes(requester):
    run = play(make_run(n=1000, k=50, questions=30, slots=300), crowd(1, 50), most=2)
    everything = refresh(requester, run, "nothing")
    assert everything.headers["Content-Encoding"] == "gzip"
    assert len(body_of(everything)["rows"]) >= 100
    assert len(everything.content) < 10_000


def test_pages_of_the_same_state_are_made_once(requester, monkeypatch):
    run, renders = make_run(), []
    real = live.live_context
    monkeypatch.setattr(live, "live_context", lambda *args: renders.append(1) or real(*args))
    first = refresh(requester, run, "a")
    second = refresh(requester, run, "b")
    assert tag_of(first) == tag_of(second)
    assert len(renders) == 1
    refresh(requester, run, "a", sort="-mean")
    assert len(renders) == 2
    step(run)
    refresh(requester, run, "a")
    assert len(renders) == 3


def test_costly_pieces_are_not_rendered_for_every_step(requester, monkeypatch):
    run, renders = make_run(), []
    real = live.live_context
    monkeypatch.setattr(live, "live_context", lambda *args: renders.append(1) or real(*args))
    monkeypatch.setattr(live, "_seconds_to_reuse", lambda took: 600)
    refresh(requester, run, "a")
    step(run)
    refresh(requester, run, "a")
    assert len(renders) == 1
    lifecycle.pause_run(run)  # an action of a person is visible at once
    refresh(requester, run, "a")
    assert len(renders) == 2


def test_pieces_that_take_a_second_and_a_half_are_reused_for_six():
    assert [live._seconds_to_reuse(took) for took in (0.01, 0.5, 1.5)] == [0, 0, 6]


def test_actions_on_a_run_show_at_once(requester):
    run = make_run()
    tag = page_of(requester, run)
    lifecycle.pause_run(run)
    assert body_of(refresh(requester, run, tag))["live"] is False


def test_live_page_works_without_the_cache(requester, monkeypatch):
    def away(*args, **kwargs):
        raise ConnectionError

    run = play(make_run(), crowd(1, 2), most=2)
    monkeypatch.setattr(cache, "get", away)
    monkeypatch.setattr(cache, "set", away)
    assert requester.get(admin_url("run_page", run.pk)).status_code == 200
    response = refresh(requester, run, "nothing")
    assert set(body_of(response)["parts"]) == set(live.PARTS)
    assert refresh(requester, run, tag_of(response)).status_code == 304


def test_compressed_responses_contain_no_secret(requester):
    run = play(make_run(), crowd(1, 2), most=2)
    everything = json.dumps(body_of(refresh(requester, run, "nothing")))
    assert "csrf" not in everything
    assert "/work/" not in everything
    page = requester.get(admin_url("run_page", run.pk), headers={"Accept-Encoding": "gzip"})
    assert "csrf" in page.content.decode()
    assert "Content-Encoding" not in page.headers


def test_a_refresh_asks_for_the_same_permission_as_the_page(client):
    run = make_run()
    assert client.get(admin_url("run_live", run.pk)).status_code == 302
    client.force_login(User.objects.create_user("clerk", is_staff=True))
    assert client.get(admin_url("run_live", run.pk)).status_code == 403


def test_a_draft_has_nothing_to_refresh(requester):
    run = make_run(start=False)
    assert refresh(requester, run, "nothing").status_code == 204
