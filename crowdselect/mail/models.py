"""E-mail: the outbox, each run's texts, members who want messages, and opt-outs."""

import hashlib
import uuid
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from selection import db_clock
from selection.grading.keys import plain_key
from selection.models import Candidate, Run, Team, Watch

# Hours from an invitation to its one reminder, unless a run says otherwise.
REMIND_AFTER_HOURS = 48
MOST_REMIND_HOURS = 24 * 365
# An attempt without an outcome after so long ended with its process.
ATTEMPT = timedelta(minutes=10)
REPLY_LENGTH = 300  # characters kept of a mail server's reply


def has_server() -> bool:
    """Tell if letters leave this machine. While developing, its output is enough."""
    backend = settings.EMAIL_BACKEND.split(".")[-2]
    return settings.DEBUG or backend not in ("console", "dummy")


def recipient_digest(team_id: int | None, recipient: str) -> str:
    """Hash an address in a team.

    Without a key, so that an opt-out outlasts every SECRET_KEY.
    """
    return hashlib.sha256(f"{team_id}:{recipient.strip().casefold()}".encode()).hexdigest()


def worker_digest(team_id: int | None, key: str) -> str:
    """Hash a worker's id in a team, equally for all spellings."""
    return recipient_digest(team_id, plain_key(key))


class MailSettings(models.Model):
    """The messages to a run's workers.

    remind_hours  hours from the invitation to the reminder; 0: no reminder
    texts         by language and kind the subject and the body; missing ones are the default
    language      of workers whose attributes name none; empty: English
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="mail_settings")
    remind_hours = models.PositiveIntegerField(default=REMIND_AFTER_HOURS)
    texts = models.JSONField(default=dict)
    language = models.CharField(max_length=10, blank=True, default="")

    def __str__(self) -> str:
        return f"messages of {self.run}"


class MailQuerySet(models.QuerySet["Mail"]):
    def ready(self) -> "MailQuerySet":
        return self.filter(due__lte=db_clock.database_now())

    def undelivered(self) -> "MailQuerySet":
        """Filter the messages to workers that failed for good, or may have arrived."""
        failed = Q(state__in=(Mail.State.FAILED, Mail.State.REFUSED))
        return self.exclude(candidate=None).filter(failed | self.interrupted())

    @staticmethod
    def interrupted() -> Q:
        """Match messages whose sender ended in between: they may have arrived."""
        return Q(state=Mail.State.SENDING, tried__lt=Now() - ATTEMPT)


class Mail(models.Model):
    """A message to a worker or a member of the team: its place in the outbox, then its record.

    It has no address, and no text of a worker's message: both are read when it is sent.

    name       unique, so that no message is written twice
    message    its id in the header, the same for all attempts
    run        the run that it is about; None if it is about a watch, or a password
    team       the team of either
    candidate  the worker, in the first skill; None in a message to a member
    user       the member; None in a message to a worker
    words      text of a message to a member
    due        time of the next attempt; None from its beginning, and once the message is done
    digest     ``recipient_digest`` of the address it was sent to
    said       reason of a failure or of not sending it
    noted      True once the run's history mentions it
    """

    class Kind(models.TextChoices):
        INVITATION = "invitation", "invitation"
        REMINDER = "reminder", "reminder"
        ENDED = "ended", "end of the run"
        ATTENTION = "attention", "need of attention"
        ALARM = "alarm", "alarm of a watch"
        PASSWORD = "password", "link to set a password"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENDING = "sending", "being sent"
        SENT = "sent", "sent"
        REFUSED = "refused", "address failed"
        FAILED = "failed", "failed"
        SKIPPED = "skipped", "not sent"

    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="mails")
    watch = models.ForeignKey(Watch, models.CASCADE, null=True, related_name="+")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="+", db_index=False)
    name = models.CharField(max_length=100, unique=True)
    message = models.UUIDField(default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=Kind)
    candidate = models.ForeignKey(Candidate, models.CASCADE, null=True, related_name="mails")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="mails"
    )
    words = models.TextField(blank=True, default="")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    made = models.DateTimeField()
    due = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    tried = models.DateTimeField(null=True)
    sent = models.DateTimeField(null=True)
    digest = models.CharField(max_length=64, blank=True, default="")
    said = models.CharField(max_length=REPLY_LENGTH, blank=True, default="")
    noted = models.BooleanField(default=False)

    objects = MailQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["due"], name="mail_to_send", condition=~Q(due=None)),
            models.Index(
                fields=["run"], name="mail_to_note", condition=Q(state="sent", noted=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.run or self.watch or self.user}"

    @property
    def outcome(self) -> str:
        if self.state == self.State.SENDING and self._is_interrupted():
            return "may have arrived: the program ended while it was sent"
        label = self.get_state_display()
        return f"{label}: {self.said}" if self.said else label

    def _is_interrupted(self) -> bool:
        return Mail.objects.filter(MailQuerySet.interrupted(), pk=self.pk).exists()


class Follower(models.Model):
    """A member's choice of e-mails; without one there are those about alarms of watches only.

    runs    when a run of the team ends or needs attention
    alarms  when a watch of the team has an alarm
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="followers")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="followed_teams"
    )
    since = models.DateTimeField(auto_now_add=True)
    runs = models.BooleanField(default=True)
    alarms = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="follower_once_in_team")
        ]

    def __str__(self) -> str:
        return f"{self.user} follows {self.team}"


class OptOut(models.Model):
    """A worker or an address that gets no message of this team.

    digest  ``worker_digest`` of the worker's id, or ``recipient_digest`` of the address
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="opt_outs")
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "digest"], name="opt_out_once_in_team")
        ]

    def __str__(self) -> str:
        return f"opt-out of {self.team}"
