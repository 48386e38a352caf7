"""Delivery by a real SMTP server that refuses, postpones, breaks off, and comes back."""

import pytest
from django.utils import timezone

from crowdselect.mail import delivery, invitations
from crowdselect.mail.models import ATTEMPT, Mail, MailSettings
from crowdselect.mail.server import MailServer, mail_server
from selection.models import Worker
from selection.outbox import queues

from .conftest import address, make_reachable_run, send_all
from .smtp_server import smtp_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(mailbox):
    run = make_reachable_run()
    invitations.send_invitations(run)
    return run


def mail_to(key: str) -> Mail:
    return Mail.objects.get(candidate__worker__key=key)


def test_messages_of_a_task_share_one_connection(run, mailbox):
    send_all()
    assert (len(mailbox.letters), mailbox.connections) == (3, 1)
    assert set(Mail.objects.values_list("state", "tries", "due")) == {("sent", 1, None)}


def test_a_refused_address_fails_for_good_and_the_others_arrive(run, mailbox):
    mailbox.recipients[address("w1")] = f"550 5.1.1 <{address('w1')}> w1: no such user"
    send_all()
    assert mail_to("w1").outcome == "address failed: 550 5.1.1 <…> …: no such user"
    assert mailbox.addresses == [address("w0"), address("w2")]
    send_all()
    assert mail_to("w1").tries == 1
    assert not invitations.retryable(run).exists()


def test_a_failed_address_is_not_written_to_in_other_runs_until_it_changes(run, mailbox):
    mailbox.recipients[address("w1")] = "550 5.1.1 no such user"
    send_all()
    other = make_reachable_run()
    assert invitations.plan_invitations(other).failed == 1
    Worker.objects.filter(key="w1").update(mail_address="better@workers.example")
    assert invitations.plan_invitations(other).failed == 0
    assert invitations.retry_failed(run, "ada") == 1
    send_all()
    assert "better@workers.example" in mailbox.addresses


def test_a_temporary_refusal_is_tried_again_later(run, mailbox):
    mailbox.recipients[address("w1")] = "451 4.7.1 greylisted"
    send_all()
    waiting = mail_to("w1")
    assert (waiting.state, waiting.tries, waiting.said) == ("waiting", 1, "451 4.7.1 greylisted")
    assert waiting.due > timezone.now()
    delivery.send_due()
    assert mail_to("w1").tries == 1
    mailbox.recipients.clear()
    send_all()
    assert (mail_to("w1").state, mail_to("w1").tries) == ("sent", 2)
    assert len(mailbox.letters) == 3


def test_message_fails_after_eight_tries_and_may_be_sent_again(run, mailbox):
    mailbox.recipients[address("w1")] = "451 4.7.1 greylisted"
    for _ in range(8):
        send_all()
    assert mail_to("w1").state == "failed"
    send_all()
    assert mail_to("w1").tries == 8


def test_a_policy_of_the_server_does_not_mark_the_address(run, mailbox):
    mailbox.recipients[address("w1")] = "554 5.7.1 relay access denied"
    send_all()
    assert mail_to("w1").state == "failed"
    mailbox.recipients.clear()
    assert invitations.retry_failed(run) == 1
    send_all()
    assert mail_to("w1").state == "sent"


def test_a_refused_letter_is_no_fault_of_the_address(run, mailbox):
    mailbox.data = ["554 looks like spam", "452 too busy"]
    send_all()
    assert [mail_to(f"w{i}").state for i in range(3)].count("failed") == 1
    assert Mail.objects.get(state="waiting").said == "452 too busy"


def test_a_broken_connection_is_opened_again_and_the_letter_keeps_its_id(run, mailbox):
    mailbox.breaks = 1
    send_all()
    assert (len(mailbox.letters), mailbox.connections) == (2, 2)
    broken = Mail.objects.get(state="waiting")
    assert broken.said.startswith("no connection to the mail server 127.0.0.1:")
    send_all()
    ids = [letter["Message-ID"] for letter in mailbox.letters]
    assert len(set(ids)) == 3
    assert ids[-1] == f"<{broken.message.hex}@127.0.0.1>"


def test_outage_of_the_server_loses_no_message(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    with smtp_server() as (_, settings.EMAIL_PORT):
        pass
    invitations.send_invitations(make_reachable_run(n=5))
    send_all()
    assert sorted(Mail.objects.values_list("state", "tries")) == [
        *[("waiting", 0)] * 2,
        *[("waiting", 1)] * 3,
    ]
    with smtp_server(settings.EMAIL_PORT) as (mailbox, _):
        send_all()
        assert len(mailbox.letters) == 5
    assert set(Mail.objects.values_list("state", flat=True)) == {"sent"}


def test_two_tasks_at_once_send_nothing_twice(run, mailbox):
    read_by_another_process = Mail.objects.ready().first()
    send_all()
    with mail_server() as server:
        delivery._attempt_mail(read_by_another_process, server)
    assert len(mailbox.letters) == 3


def test_a_process_without_a_connection_leaves_a_message_that_another_has_sent(
    run, mailbox, settings
):
    read_by_another_process = Mail.objects.ready().first()
    send_all()
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    with mail_server() as server:
        delivery._attempt_mail(read_by_another_process, server)
    settings.EMAIL_PORT = port
    send_all()
    assert set(Mail.objects.values_list("state", "tries")) == {("sent", 1)}
    assert len(mailbox.letters) == 3


def test_a_process_that_finds_a_message_unneeded_leaves_it_if_another_has_sent_it(run, mailbox):
    read_by_another_process = Mail.objects.ready().first()
    send_all()
    Worker.objects.update(mail_address="")
    with mail_server() as server:
        delivery._attempt_mail(read_by_another_process, server)
    assert set(Mail.objects.values_list("state", flat=True)) == {"sent"}


def test_an_attempt_that_fails_late_leaves_a_message_that_a_person_sends_again(run, mailbox):
    class SlowServer(MailServer):
        def send(self, letter):
            Mail.objects.filter(state="sending").update(tried=timezone.now() - 2 * ATTEMPT)
            assert invitations.retry_failed(run, "ada") == 1
            raise ConnectionError

    delivery._attempt_mail(first := Mail.objects.ready().first(), SlowServer())
    first.refresh_from_db()
    assert (first.state, first.tries, first.said) == ("waiting", 0, "")


def test_failed_messages_are_listed_in_one_query(run, mailbox, django_assert_num_queries):
    mailbox.recipients[address("w1")] = "550 5.1.1 no such user"
    send_all()
    with django_assert_num_queries(1):  # on PostgreSQL, reading the clock is one of its own
        failed = [one.outcome for one in invitations.failed_mails(run)]
    assert failed == ["address failed: 550 5.1.1 no such user"]


def test_five_thousand_workers_are_invited_in_few_statements(
    mailbox, django_assert_max_num_queries
):
    run = make_reachable_run(n=300)
    with django_assert_max_num_queries(15):
        invitations.send_invitations(run)
    assert Mail.objects.ready().count() == 300


def test_a_task_hands_over_after_a_while(run, mailbox, monkeypatch):
    monkeypatch.setattr(queues, "AT_ONCE_SECONDS", 0.0)
    send_all()
    assert len(mailbox.letters) == 1
    assert Mail.objects.ready().count() == 2


def test_a_message_that_cannot_be_written_holds_up_no_other(run, mailbox):
    MailSettings.objects.create(run=run, texts={"en": {"invitation": {"subject": 5}}})
    invitations.send_invitations(other := make_reachable_run())
    send_all()
    assert len(mailbox.letters) == other.candidates.count()
    assert {one.outcome for one in Mail.objects.filter(run=run)} == {
        "failed: its text cannot be written"
    }
