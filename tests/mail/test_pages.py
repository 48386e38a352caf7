"""The pages of e-mail: confirmation, outcomes, texts, and the test message."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from crowdselect.mail import invitations
from crowdselect.mail.models import Mail, MailSettings
from selection.models import Worker
from tests.pages import text_of
from tests.worlds import make_run

from .conftest import address, make_reachable_run, send_all

pytestmark = pytest.mark.django_db


def page(run, name: str = "mail") -> str:
    return reverse(f"admin:selection_run_{name}", args=[run.pk])


def text(response) -> str:
    return response.content.decode()


def test_invitations_leave_only_after_a_confirmation_with_their_number(requester, mailbox):
    run = make_reachable_run()
    assert "Send 3 invitations…" in text(requester.get(page(run)))
    assert "3 messages will be sent" in text(requester.get(page(run, "mail_send")))
    assert not Mail.objects.exists()
    sent = requester.post(page(run, "mail_send"), follow=True)
    assert "3 invitations will be sent." in text(sent)
    send_all()
    assert len(mailbox.letters) == 3
    assert "no workers to invite" in text(requester.get(page(run, "mail_send")))
    assert "3 sent" in text(requester.get(page(run)))


def test_page_without_a_mail_server_says_how_to_set_one(requester, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    run = make_reachable_run()
    assert "EMAIL_HOST" in text(requester.get(page(run)))
    assert "EMAIL_HOST" in text(requester.post(page(run, "mail_send"), follow=True))
    assert not Mail.objects.exists()


def test_failures_are_on_the_runs_page_and_on_the_workers_card(requester, mailbox):
    run = make_reachable_run()
    mailbox.recipients[address("w1")] = "550 5.1.1 no such user"
    mailbox.data = ["554 looks like spam"]
    invitations.send_invitations(run)
    send_all()
    assert "Some e-mails to workers were not delivered" in text(requester.get(page(run, "page")))
    listed = text(requester.get(page(run)))
    assert "address failed: 550 5.1.1 no such user" in listed
    card = reverse(
        "admin:selection_run_worker", args=[run.pk, run.candidates.get(worker__key="w1").pk]
    )
    assert "Invitation: address failed: 550 5.1.1 no such user" in text(requester.get(card))
    again = requester.post(page(run), {"do": "retry"}, follow=True)
    assert "1 message will be sent again." in text(again)


def test_waiting_messages_can_be_stopped(requester, mailbox):
    run = make_reachable_run()
    invitations.send_invitations(run)
    assert "3 messages will not be sent." in text(
        requester.post(page(run), {"do": "cancel"}, follow=True)
    )
    send_all()
    assert mailbox.letters == []


def test_an_unknown_button_sends_nothing_again(requester, mailbox):
    run = make_reachable_run()
    mailbox.data = ["554 looks like spam"]
    invitations.send_invitations(run)
    send_all()
    assert requester.post(page(run), {"do": "delete"}).status_code == 404
    assert Mail.objects.filter(state="failed").count() == 1


def form_of(run, **changes: object) -> dict[str, object]:
    kinds = [(code, kind) for code in ("en", "de", "ar") for kind in ("invitation", "reminder")]
    fields = {f"{code}_{kind}_{part}": "" for code, kind in kinds for part in ("subject", "body")}
    return {"remind_hours": 48, "language": "en"} | fields | changes


def test_texts_are_saved_or_refused_beside_the_typed_text(requester, mailbox):
    run = make_reachable_run()
    refused = requester.post(page(run), form_of(run, de_reminder_body="Kein Link"))
    assert "has no {link}" in text(refused)
    assert "Kein Link" in text(refused)
    changed = form_of(run, remind_hours=5, en_invitation_body="Here: {link}")
    assert requester.post(page(run), changed).status_code == 302
    stored = MailSettings.objects.get()
    assert stored.remind_hours == 5
    assert stored.texts["en"]["invitation"] == {"body": "Here: {link}"}
    assert "Here: {link}" in text(requester.get(page(run)))


def test_the_test_message_says_how_it_went(requester, mailbox, settings):
    system = reverse("admin:selection_heartbeat_changelist")
    assert "Send test message" in text(requester.get(system))
    test = reverse("test_mail")
    done = requester.post(test, {"address": "ada@team.example"}, follow=True)
    assert "took the test message for ada@team.example" in text(done)
    assert mailbox.addresses == ["ada@team.example"]
    mailbox.recipients["ada@team.example"] = "550 5.1.1 no such user"
    refused = requester.post(test, {"address": "ada@team.example"}, follow=True)
    assert "The test message was not sent: 550 5.1.1 no such user." in text(refused)
    wrong = requester.post(test, {"address": "ada"}, follow=True)
    assert "an address like ada@example.org" in text(wrong)
    settings.EMAIL_PORT = 1
    away = requester.post(test, {"address": "ada@team.example"}, follow=True)
    assert "no connection to the mail server 127.0.0.1:1" in text(away)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    printed = requester.post(test, {"address": "ada@team.example"}, follow=True)
    assert "written to this server&#x27;s output, not sent" in text(printed)


def test_a_viewer_sees_no_address(client, mailbox):
    run = make_reachable_run()
    run.team.memberships.create(
        user=(viewer := User.objects.create_user("viewer", is_staff=True)), role="viewer"
    )
    worker = run.pool.workers.first()
    form = reverse("admin:selection_worker_change", args=[worker.pk])
    client.force_login(viewer)
    assert address(worker.key) not in text(client.get(form))
    client.force_login(User.objects.create_superuser("boss"))
    assert address(worker.key) in text(client.get(form))


# -- the API


def test_the_api_previews_sends_cancels_and_reports(client, token, mailbox):
    run = make_reachable_run()
    headers = {"authorization": f"Bearer {token}"}
    at = f"/api/runs/{run.pk}"

    def ask(method: str, path: str, **body: object):
        call = getattr(client, method)
        return call(f"{at}/{path}", body, content_type="application/json", headers=headers)

    assert ask("post", "invitations", preview=True).json()["messages"] == 3
    assert not Mail.objects.exists()
    assert ask("post", "invitations").status_code == 202
    assert ask("delete", "invitations").json() == {"cancelled": 3}
    own = {"en": {"invitation": {"subject": "Hi", "body": "Here: {link}"}}}
    assert ask("put", "mail", remind_hours=7, texts=own).json()["remind_hours"] == 7
    refused = ask("put", "mail", texts={"en": {"invitation": {"body": "no link"}}})
    assert (refused.status_code, "has no {link}" in refused.json()["error"]) == (422, True)
    mailbox.recipients[address("w1")] = "550 5.1.1 no such user"
    ask("post", "invitations")
    send_all()
    told = ask("get", "mail").json()
    assert told["counts"]["invitation"] == {"sent": 2, "refused": 1}
    assert told["failures"] == [
        {"worker": "w1", "kind": "invitation", "outcome": "address failed: 550 5.1.1 no such user"}
    ]
    assert mailbox.letters[0]["Subject"] == "Hi"
    assert ask("post", "invitations", retry=True).json()["messages"] == 0
    assert ask("post", "invitations").status_code == 422


def test_a_run_that_has_not_started_answers_409(client, token, mailbox):
    run = make_run(start=False)
    refused = client.post(
        f"/api/runs/{run.pk}/invitations",
        {},
        content_type="application/json",
        headers={"authorization": f"Bearer {token}"},
    )
    assert (refused.status_code, refused.json()["error"]) == (
        409,
        "This run has not started: its workers have no links yet.",
    )


def test_a_german_requester_invites_workers_of_unknown_language_in_german(requester, mailbox):
    run = make_reachable_run()
    spanish = run.candidates.order_by("pk")[0].worker
    Worker.objects.filter(pk=spanish.pk).update(attributes={"language": "English"})
    url = page(run, "mail_send")
    shown = requester.get(url, headers={"accept-language": "de-AT"})
    assert '<option value="de" selected>' in text(shown)
    requester.post(url, {"language": "de"})
    send_all()
    subjects = sorted(letter["Subject"] for letter in mailbox.letters)
    assert subjects == ["Fragen für Sie", "Fragen für Sie", "Questions for you"]


def test_a_run_offers_e_mail_to_workers_with_an_address(requester, mailbox, settings):
    run = make_reachable_run()
    assert "3 of 3 workers have an e-mail address. Nobody was invited yet" in text_of(
        requester.get(page(run, "page"))
    )
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "E-mail needs a mail server" in text_of(requester.get(page(run, "page")))
    assert "No worker has an e-mail address" in text_of(requester.get(page(make_run(), "page")))


def test_workers_are_invited_once_a_message_was_sent(requester, mailbox):
    run = make_reachable_run()
    assert "not started" in text_of(requester.get(page(run, "page")))
    invitations.send_invitations(run)
    assert "Nobody was invited yet" in text_of(requester.get(page(run, "page")))
    mails = Mail.objects.filter(candidate__worker__key__in=["w0", "w1"])
    mails.update(state=Mail.State.SENT, due=None)
    shown = text_of(requester.get(page(run, "page")))
    assert "2 were invited" in shown
    assert shown.count("not started") == run.candidates.count() - 2
