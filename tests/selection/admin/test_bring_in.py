"""The card that brings workers into a run: the ways that fit come first."""

import pytest

from tests.pages import admin_url, text_of
from tests.worlds import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def read_card(requester, run):
    return requester.get(admin_url("run_page", run.pk)).context.get("entrance")


@pytest.mark.parametrize(
    ("fields", "ways"),
    [
        ({}, ["links"]),
        ({"enrolling": True}, ["links", "join"]),
        ({"enrolling": True, "platform": "prolific"}, ["platform", "links"]),
        ({"recorded_only": True}, None),
    ],
)
def test_the_ways_that_fit_come_first(requester, fields, ways):
    card = read_card(requester, make_run(**fields))
    assert (card and card.ways) == ways


@pytest.mark.parametrize(
    ("platform", "guide"),
    [
        ("prolific", "prolific/"),
        ("mturk", "platforms/#amazon-mechanical-turk"),
        ("sona", "platforms/#sona"),
        ("custom", "platforms/#a-platform-of-your-own"),
    ],
)
def test_a_platform_shows_its_steps_and_the_join_link(requester, platform, guide):
    back = "https://s.example/?id={worker}" if platform in ("sona", "custom") else ""
    parameter = "participant" if platform == "custom" else ""
    run = make_run(
        n=0,
        enrolling=True,
        platform=platform,
        worker_parameter=parameter,
        completion_url=back,
    )
    page = requester.get(admin_url("run_page", run.pk))
    card = page.context["entrance"]
    assert (card.ways, card.copied) == (["platform"], "")
    assert all(step in text_of(page) for step in card.steps)
    assert f'/admin/docs/{guide}"' in page.content.decode()


def test_links_are_copied_until_the_first_worker_starts(requester):
    run = make_run(n=3)
    assert len(read_card(requester, run).copied.splitlines()) == 3
    run.candidates.filter(worker__key="w1").update(pulls=1)
    assert read_card(requester, run).copied == ""
