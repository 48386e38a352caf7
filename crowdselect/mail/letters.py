"""The letter of a message in the outbox: recipient, text and headers, as of now."""

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.urls import reverse

from selection.accounts import passwords, roles_of
from selection.models import Candidate, Run
from selection.worker import links

from . import opt_outs, texts
from .models import Mail

COLUMNS = ("run", "watch", "candidate__run", "candidate__worker__pool", "user")

# Of a message to a member, after the run or watch.
TITLES: dict[str, str] = {
    Mail.Kind.ENDED: "has ended",
    Mail.Kind.ATTENTION: "needs attention",
    Mail.Kind.ALARM: "has an alarm",
}


class Unneeded(Exception):
    """The reason for not sending a message any more."""


def write_letter(mail: Mail) -> EmailMessage:
    """Raise Unneeded if it should not be sent any more."""
    candidate = mail.candidate
    if mail.kind == Mail.Kind.PASSWORD:
        letter = _password_letter(mail.user)
    else:
        letter = _worker_letter(mail, candidate) if candidate else _member_letter(mail)
    letter.subject = " ".join(letter.subject.split())  # a line break would end the header
    host = urlsplit(settings.PUBLIC_URL).hostname
    letter.extra_headers |= {
        "Message-ID": f"<{mail.message.hex}@{host}>",
        "Auto-Submitted": "auto-generated",
    }
    return letter


def has_started(candidate: Candidate) -> bool:
    return candidate.seen is not None or candidate.pulls > 0


def _worker_letter(mail: Mail, candidate: Candidate) -> EmailMessage:
    run, worker = candidate.run, candidate.worker
    if run.status == Run.Status.ENDED:
        raise Unneeded("the run has ended")
    if candidate.gone:
        raise Unneeded("the worker does not take part any more")
    if not worker.mail_address:
        raise Unneeded("the worker has no address any more")
    if opt_outs.is_opted_out(worker):
        raise Unneeded("the worker has unsubscribed")
    if mail.kind == Mail.Kind.REMINDER and has_started(candidate):
        raise Unneeded("the worker has started meanwhile")
    chosen = texts.read_settings(run)
    language = texts.language_of(worker, chosen.language)
    text = texts.text_of(chosen, mail.kind, language)
    unsubscribe = opt_outs.unsubscribe_url(worker.pk)
    fields = {
        texts.LINK: links.worker_url(candidate.pk, candidate.link_version),
        texts.NAME: worker.name or worker.key,
    }
    subject, body = text
    for placeholder, value in fields.items():
        subject, body = subject.replace(placeholder, value), body.replace(placeholder, value)
    headers = {
        "List-Unsubscribe": f"<{unsubscribe}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Content-Language": language,
    }
    body += texts.footer(language, unsubscribe)
    return EmailMessage(subject, body, to=[worker.mail_address], headers=headers)


def _member_letter(mail: Mail) -> EmailMessage:
    about, user = mail.run or mail.watch, mail.user
    if about is None or user is None or not is_reachable(user, about.team_id):
        raise Unneeded("the member has left the team, or has no address")
    noun = about._meta.model_name
    page = settings.PUBLIC_URL + reverse(f"admin:selection_{noun}_page", args=[about.pk])
    account = settings.PUBLIC_URL + reverse("mfa_index")
    body = (
        f"{mail.words}\n\n{page}\n\n-- \nYou can turn these messages off under “Your account”:\n"
        f"{account}\n"
    )
    return EmailMessage(f"The {noun} “{about}” {TITLES[mail.kind]}", body, to=[user.email])


def _password_letter(user: User | None) -> EmailMessage:
    if user is None or not user.is_active or not user.has_usable_password():
        raise Unneeded("the login signs in without a password")
    body = (
        f"Set the password of your login “{user}” at CrowdSelect:\n\n"
        f"{passwords.password_address(user)}\n\nThe link works once, within {passwords.DAYS} days. "
        "If you did not expect this message, ignore it: nothing has changed.\n"
    )
    return EmailMessage("Your password at CrowdSelect", body, to=[user.email])


def is_reachable(user: User, team_id: int | None) -> bool:
    """Tell if the user is an active member of the team with an address."""
    return bool(user.is_active and user.email) and (user.is_superuser or team_id in roles_of(user))
