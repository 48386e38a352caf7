"""Invitations and reminders: once per worker, to reachable and willing ones."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from crowdselect.mail import invitations, texts
from crowdselect.mail.models import Mail
from crowdselect.mail.texts import Text
from selection.errors import Conflict, Refused
from selection.models import Worker
from selection.runs import lifecycle
from selection.worker import link_rotation, links
from tests.worlds import make_run

from .conftest import address, make_reachable_run, send_all

pytestmark = pytest.mark.django_db
LINK = re.compile(r"http\S+/unsubscribe/\S+/")


def body(letter) -> str:
    return letter.get_content()


def invite(run) -> None:
    invitations.send_invitations(run, "ada")
    send_all()


def worker(run, key: str) -> Worker:
    return Worker.objects.get(pool=run.pool, key=key)


def pass_hours(hours: int) -> None:
    Mail.objects.update(sent=timezone.now() - timedelta(hours=hours))


def test_workers_with_an_address_get_their_own_link_once(mailbox):
    run = make_reachable_run()
    Worker.objects.filter(key="w2").update(mail_address="")
    invite(run)
    assert mailbox.addresses == [address("w0"), address("w1")]
    for letter, candidate in zip(
        mailbox.letters,
        run.candidates.filter(worker__key__in=["w0", "w1"]).order_by("pk"),
        strict=True,
    ):
        assert links.worker_url(candidate.pk) in body(letter)
        assert letter["Auto-Submitted"] == "auto-generated"
    plan = invitations.plan_invitations(run)
    assert (plan.messages, plan.invited, plan.without_address) == (0, 2, 1)
    with pytest.raises(Refused, match="no workers to invite"):
        invitations.send_invitations(run)


def test_workers_who_come_later_are_invited_alone(mailbox):
    run = make_reachable_run()
    Worker.objects.filter(key="w2").update(mail_address="")
    invite(run)
    Worker.objects.filter(key="w2").update(mail_address=address("w2"))
    invite(run)
    assert sorted(mailbox.addresses) == [address(f"w{i}") for i in range(3)]


def test_the_link_is_the_latest_even_if_it_was_replaced_while_the_message_waited(mailbox):
    run = make_reachable_run(n=3)
    invitations.send_invitations(run)
    candidate = run.candidates.get(worker__key="w1")
    link_rotation.rotate_worker_link(candidate)
    send_all()
    (letter,) = [one for one in mailbox.letters if one["To"] == address("w1")]
    assert links.worker_url(candidate.pk, 1) in body(letter)


def test_the_language_follows_the_worker_and_the_text_the_run(mailbox):
    run = make_reachable_run()
    Worker.objects.filter(key="w1").update(attributes={"Language": "German"})
    own = {"de": {"invitation": Text("Hallo {name}", "Bitte: {link}")}}
    texts.change_settings(run, None, own, "ada")
    invite(run)
    by_address = {letter["To"]: letter for letter in mailbox.letters}
    assert by_address[address("w1")]["Subject"] == "Hallo Worker 1"
    assert by_address[address("w1")]["Content-Language"] == "de"
    assert "abbestellen" in body(by_address[address("w1")])
    assert by_address[address("w0")]["Subject"] == "Questions for you"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"en": {"invitation": Text("x", "no link")}}, "has no {link}"),
        ({"xx": {"invitation": Text("x", "{link}")}}, "no language “xx”"),
        ({"en": {"ended": Text("x", "{link}")}}, "no message “ended”"),
        ({"en": {"invitation": Text("x\ny", "{link}")}}, "one line"),
    ],
)
def test_a_text_that_would_not_work_is_refused(given, says):
    run = make_run()
    with pytest.raises(Refused, match=re.escape(says)):
        texts.change_settings(run, None, given)


def test_missing_mail_server_refuses_invitations(settings):
    run = make_reachable_run()
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    with pytest.raises(Refused, match="EMAIL_HOST"):
        invitations.send_invitations(run)
    assert not Mail.objects.exists()


def test_draft_and_ended_run_invite_no_worker(mailbox):
    with pytest.raises(Conflict, match="has not started"):
        invitations.send_invitations(make_run(start=False))
    run = make_reachable_run()
    invitations.send_invitations(run)
    lifecycle.stop_run(run)
    send_all()
    assert mailbox.letters == []
    assert {one.outcome for one in Mail.objects.all()} == {"not sent: the run has ended"}
    with pytest.raises(Conflict, match="has ended"):
        invitations.send_invitations(run)


def test_single_reminder_goes_to_workers_who_have_not_started(mailbox):
    run = make_reachable_run()
    texts.change_settings(run, 5, {})
    invite(run)
    invitations.write_reminders()
    assert Mail.objects.count() == 3
    run.candidates.filter(worker__key="w1").update(seen=timezone.now())
    pass_hours(6)
    invitations.write_reminders()
    invitations.write_reminders()
    run.candidates.filter(worker__key="w2").update(pulls=1)
    mailbox.letters.clear()
    send_all()
    assert mailbox.addresses == [address("w0")]
    assert mailbox.letters[0]["Subject"].startswith("Reminder")
    pass_hours(1000)
    invitations.write_reminders()
    assert Mail.objects.filter(kind="reminder").count() == 2
    assert Mail.objects.get(state="skipped").said == "the worker has started meanwhile"


def test_a_run_can_do_without_a_reminder(mailbox):
    run = make_reachable_run()
    texts.change_settings(run, 0, {})
    invite(run)
    pass_hours(1000)
    invitations.write_reminders()
    assert not Mail.objects.filter(kind="reminder").exists()


def test_waiting_invitations_can_be_cancelled_and_invited_again(mailbox):
    run = make_reachable_run()
    invitations.send_invitations(run)
    assert invitations.cancel_waiting(run, "ada") == 3
    send_all()
    assert mailbox.letters == []
    invite(run)
    assert len(mailbox.letters) == 3


def test_a_cancelled_reminder_does_not_come_back(mailbox):
    run = make_reachable_run()
    invite(run)
    pass_hours(1000)
    invitations.write_reminders()
    assert invitations.cancel_waiting(run, "ada") == 3
    invitations.write_reminders()
    mailbox.letters.clear()
    send_all()
    assert mailbox.letters == []
    outcomes = {one.outcome for one in Mail.objects.filter(kind="reminder")}
    assert outcomes == {"not sent: cancelled"}


def test_skipped_worker_is_invited_once_an_address_exists(mailbox):
    run = make_reachable_run()
    invitations.send_invitations(run)
    Worker.objects.filter(key__in=["w1", "w2"]).update(mail_address="")
    send_all()
    plan = invitations.plan_invitations(run)
    assert (plan.messages, plan.invited, plan.without_address) == (0, 1, 2)
    Worker.objects.filter(key="w1").update(mail_address="better@workers.example")
    invite(run)
    assert mailbox.addresses == [address("w0"), "better@workers.example"]
    assert sorted(Mail.objects.values_list("state", flat=True)) == ["sent", "sent", "skipped"]


def test_history_counts_sent_messages_without_addresses(mailbox):
    run = make_reachable_run()
    invite(run)
    said = [event.what for event in run.events.filter(kind="mail").order_by("pk")]
    assert said == [
        "Invitations to 3 workers were queued.",
        "Sent by e-mail: 3 invitations.",
    ]


# -- unsubscribing


def unsubscribe_path(letter) -> str:
    return LINK.search(body(letter))[0].removeprefix("http://127.0.0.1:8000")


def test_mail_programs_unsubscribe_by_one_post_and_it_holds_in_every_run_of_the_team(mailbox):
    run = make_reachable_run()
    invite(run)
    letter = next(one for one in mailbox.letters if one["To"] == address("w0"))
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    path = unsubscribe_path(letter)
    assert letter["List-Unsubscribe"].strip() == f"<http://127.0.0.1:8000{path}>"
    knocking = Client(enforce_csrf_checks=True)
    assert knocking.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    mailbox.letters.clear()
    Worker.objects.filter(key="w0").update(mail_address="new@workers.example")
    other = make_run(pool=run.pool)
    invite(other)
    third = make_reachable_run()
    Worker.objects.filter(pool=third.pool, key="w2").update(key="x", mail_address=address("w0"))
    invite(third)
    assert sorted(mailbox.addresses) == sorted([address("w1"), address("w2"), address("w1")])


def test_opening_the_link_changes_nothing_and_its_page_has_a_way_back(mailbox):
    run = make_reachable_run()
    invite(run)
    path, client = unsubscribe_path(mailbox.letters[0]), Client()
    assert b"No more e-mails?" in client.get(path).content
    assert invitations.plan_invitations(make_run(pool=run.pool)).unsubscribed == 0
    assert b"You are unsubscribed" in client.post(path, follow=True).content
    assert invitations.plan_invitations(make_run(pool=run.pool)).unsubscribed == 1
    assert b"No more e-mails?" in client.post(path, {"again": "yes"}, follow=True).content
    assert invitations.plan_invitations(make_run(pool=run.pool)).unsubscribed == 0
    assert client.get("/unsubscribe/1.forged/").status_code == 404


def test_unsubscribing_stops_a_waiting_message(mailbox):
    run = make_reachable_run()
    invite(run)
    Client().post(unsubscribe_path(mailbox.letters[0]))
    pass_hours(1000)
    mailbox.letters.clear()
    invitations.write_reminders()
    send_all()
    assert len(mailbox.letters) == 2


@pytest.mark.parametrize(
    ("attributes", "language"),
    [
        ({"Sprache": "Deutsch"}, "de"),
        ({"Lang": "de_AT"}, "de"),
        ({"langue": "allemand"}, "de"),
        ({"Idioma": "Alemán (Austria)"}, "de"),
        ({"اللغة": "العربية"}, "ar"),
        ({"language": "Arabic, English"}, "ar"),
        ({"Muttersprache": "ger"}, "de"),
        ({"language": "Klingonisch", "Sprache": "deutsch"}, "de"),
        ({"Land": "Deutsch"}, "en"),
        ({"Sprache": "Klingonisch"}, "en"),
    ],
)
def test_a_message_is_in_the_language_of_the_worker(attributes, language):
    assert texts.language_of(Worker(key="w", attributes=attributes), "en") == language
