"""A real Celery worker, killed between sending a letter and recording it."""

import os
import signal
from datetime import timedelta

import pytest
from django.utils import timezone

from crowdselect.mail import invitations
from crowdselect.mail.models import ATTEMPT, Mail
from tests.processes import celery_worker, wait_until

from .conftest import address, make_reachable_run, send_all
from .smtp_server import smtp_server

MOMENT = timedelta(seconds=1)  # SQLite's clock has milliseconds
pytestmark = pytest.mark.django_db(transaction=True)


def test_the_letter_is_not_sent_again_by_itself_and_the_others_are(monkeypatch, settings):
    with smtp_server() as (mailbox, port):
        monkeypatch.setenv("EMAIL_HOST", "127.0.0.1")
        monkeypatch.setenv("EMAIL_PORT", str(port))
        run = make_reachable_run()
        with celery_worker() as worker:
            mailbox.on_letter = lambda letter: os.killpg(worker.pid, signal.SIGKILL)
            invitations.send_invitations(run)
            wait_until(lambda: worker.poll() is not None, "the kill")
        wait_until(lambda: len(mailbox.letters) == 1, "the letter")
        mailbox.on_letter = lambda letter: None
        with celery_worker():
            sent = Mail.objects.filter(state="sent", noted=True)
            wait_until(lambda: sent.count() == 2, "the other letters")
        assert sorted(mailbox.addresses) == [address(f"w{i}") for i in range(3)]
        lost = Mail.objects.get(state="sending")
        assert not invitations.retryable(run).exists()  # it may be on its way right now
        Mail.objects.filter(pk=lost.pk).update(tried=timezone.now() - ATTEMPT - MOMENT)
        lost.refresh_from_db()
        assert lost.outcome.startswith("may have arrived")
        assert [one.pk for one in invitations.failed_mails(run)] == [lost.pk]

        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        assert invitations.retry_failed(run, "ada") == 1
        send_all()
    ids = [letter["Message-ID"] for letter in mailbox.letters]
    assert ids[-1] == ids[0]
    assert set(Mail.objects.values_list("state", flat=True)) == {"sent"}
