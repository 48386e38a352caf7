"""The card that brings workers into a run: the ways that fit come first."""

import pytest

from selection.mail import invitations
from selection.models import Mail
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def read_card(requester, run):
    return requester.get(admin_url("run_page", run.pk)).context.get("entrance")


def give_addresses(run):
    for worker in run.pool.workers.all():
        worker.mail_address = f"{worker.key}@example.org"
        worker.save()


@pytest.mark.parametrize(
    ("addresses", "fields", "ways"),
    [
        (False, {}, ["links", "no_mail"]),
        (True, {}, ["mail", "links"]),
        (False, {"enrolling": True}, ["links", "join", "no_mail"]),
        (True, {"enrolling": True, "platform": "prolific"}, ["platform", "mail", "links"]),
        (False, {"recorded_only": True}, None),
    ],
)
def test_the_ways_that_fit_come_first(requester, settings, addresses, fields, ways):
    settings.DEBUG = True  # letters go to the server's output
    run = make_run(start=False, **fields)
    if addresses:
        give_addresses(run)
    lifecycle.start_run(run)
    card = read_card(requester, run)
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


def test_workers_are_invited_once_a_message_was_sent(requester, settings):
    settings.DEBUG = True
    run = make_run()
    give_addresses(run)
    page = admin_url("run_page", run.pk)
    assert "Nobody was invited yet" in text_of(requester.get(page))
    assert "not started" in text_of(requester.get(page))
    invitations.send_invitations(run)
    assert "Nobody was invited yet" in text_of(requester.get(page))
    mails = Mail.objects.filter(candidate__worker__key__in=["w0", "w1"])
    mails.update(state=Mail.State.SENT, due=None)
    assert "2 were invited" in text_of(requester.get(page))
    assert text_of(requester.get(page)).count("not started") == run.candidates.count() - 2


def test_links_are_copied_until_the_first_worker_starts(requester):
    run = make_run(n=3)
    assert len(read_card(requester, run).copied.splitlines()) == 3
    run.candidates.filter(worker__key="w1").update(pulls=1)
    assert read_card(requester, run).copied == ""
