"""The workers of a run, their assignments and answers."""

from datetime import datetime

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from topk import Verdict

from .heartbeats import is_past_due
from .platforms import Platform
from .pools import Worker
from .questions import Question
from .runs import Run
from .status import status_of
from .teams import Team


class Candidate(models.Model):
    """A worker in a skill of a run.

    ``arm`` is its number in the run: skill by skill, and within a skill dealt at random, because
    ties are broken by it.

    asked    assignments handed out: those of positions 0 to asked - 1
    pulls    answers counted in the statistics
    void     answers passed over because their question was retired; positions 0 to
             pulls + void - 1 are closed
    rewards  number of right answers among those counted
    seen     last presence of the worker: on the page, by the API, or by an answer
    gone     reason for testing the worker no more; one with a reason is neither accepted nor
             rejected, and the guarantee is about the others
    met      numbers of the questions that the worker met in other runs and is not asked here, as
             known at the start, or at the time of joining; ``skipped`` is their number
    link_version  number of replacements of the worker's link: the earlier ones open nothing
    platform the platform that sent the worker last, and ``task`` their task there, for example
             Prolific's SESSION_ID; only in the first skill, empty after our own link
    by_hand  the requester's own verdict, next to the algorithm's
    unaffordable  True if the run's money does not suffice for a call of the model: it is asked
                  nothing more, and not waited for
    unreadable  decision on the model's replies without an answer
    """

    class Gone(models.TextChoices):
        ABSENT = "absent", "never came"
        LEFT = "left", "left"
        WITHDRAWN = "withdrawn", "withdrawn"
        SCREENED = "screened", "did not pass the practice"

    class Unreadable(models.TextChoices):
        ASKING = "asking", "to be decided"
        WRONG = "wrong", "count as wrong"

    Platform = Platform

    class Verdicts(models.IntegerChoices):
        REJECTED = Verdict.REJECTED.value, "rejected"
        UNDECIDED = Verdict.UNDECIDED.value, "undecided"
        ACCEPTED = Verdict.ACCEPTED.value, "accepted"

    run = models.ForeignKey(Run, models.CASCADE, related_name="candidates", db_index=False)
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="candidates")
    skill = models.PositiveSmallIntegerField(default=0)
    arm = models.PositiveIntegerField()
    asked = models.PositiveIntegerField(default=0)
    pulls = models.PositiveIntegerField(default=0)
    void = models.PositiveIntegerField(default=0)
    rewards = models.FloatField(default=0)
    seen = models.DateTimeField(null=True)
    gone = models.CharField(max_length=10, choices=Gone, blank=True, default="")
    gone_at = models.DateTimeField(null=True)
    by_hand = models.SmallIntegerField(choices=Verdicts, null=True)
    by_hand_why = models.CharField(max_length=300, blank=True, default="")
    verdict = models.SmallIntegerField(choices=Verdicts, default=Verdicts.UNDECIDED)
    decided_in = models.PositiveIntegerField("decided in step", null=True)
    decided_why = models.CharField(max_length=300, blank=True)
    link_version = models.PositiveSmallIntegerField(default=0)
    met = models.JSONField(default=list)
    skipped = models.PositiveIntegerField(default=0)
    unaffordable = models.BooleanField(default=False)
    unreadable = models.CharField(max_length=6, choices=Unreadable, blank=True, default="")
    platform = models.CharField(max_length=10, choices=Platform, blank=True, default="")
    task = models.CharField(max_length=100, blank=True, default="")

    class Meta:
        ordering = ["arm"]
        constraints = [
            models.UniqueConstraint(fields=["run", "arm"], name="arm_once_in_run"),
            models.UniqueConstraint(fields=["run", "worker", "skill"], name="worker_once_in_skill"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.run}"

    @property
    def status(self) -> str:
        return status_of(self)


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def open(self) -> "AssignmentQuerySet":
        """Filter assignments without an answer; few rows are read: counted positions are closed."""
        closed_positions = F("candidate__pulls") + F("candidate__void")
        return self.filter(position__gte=closed_positions, answer=None)

    def overdue(self, now: datetime) -> "AssignmentQuerySet":
        """Filter open assignments that became due while the web was able to take answers."""
        return self.open().filter(is_past_due(now))

    def answerable(self) -> "AssignmentQuerySet":
        """Filter open assignments in time. The time runs only once shown, and not in a pause."""
        unseen, in_time = Q(due=None), Q(due__gt=Now())
        paused = Q(candidate__run__status=Run.Status.PAUSED)
        return self.open().filter(unseen | in_time | paused)


class Assignment(models.Model):
    """A question handed to a worker. It is open until it has an Answer.

    The time to answer starts when the worker is shown it: until then ``shown`` and ``due`` are
    empty, and the engine may withdraw it.

    handed  time at which it left where nobody sees whether it is shown: as a task of a tool, in a
            file or a message, or by a look of a program. Its worker may be at it for the time to
            answer, and longer while they answer others
    """

    candidate = models.ForeignKey(
        Candidate, models.CASCADE, related_name="assignments", db_index=False
    )
    position = models.PositiveIntegerField()
    question = models.ForeignKey(Question, models.PROTECT, related_name="+", db_index=False)
    step = models.PositiveIntegerField("dealt in step")
    shown = models.DateTimeField(null=True)
    due = models.DateTimeField(null=True)
    handed = models.DateTimeField(null=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["candidate", "position"]
        constraints = [
            models.UniqueConstraint(fields=["candidate", "position"], name="position_once"),
            models.UniqueConstraint(fields=["candidate", "question"], name="question_once"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.question}"


def is_given(answer: str = "") -> Q:
    """Select answers that a worker gave in time, right or not.

    This is the work that is paid, also if the question was retired later. An answer that only
    closed an open assignment of a retired question is excluded.

    answer  prefix of an answer's fields: "answer__" from its assignment
    """
    closed = {f"{answer}response": "", f"{answer}void": True}
    return Q(**{f"{answer}expired": False}) & ~Q(**closed)


# Replaces a response deleted after the retention period; no worker can send it.
DELETED = " "


class AnswerQuerySet(models.QuerySet["Answer"]):
    def responded(self) -> "AnswerQuerySet":
        """Filter answers with a response of the worker.

        It excludes lapsed answers, empty ones that closed a retired question, and deleted
        responses.
        """
        return self.exclude(response__in=("", DELETED))

    def closed_unseen(self) -> "AnswerQuerySet":
        """Filter answers that closed retired questions before they were shown, at no cost."""
        return self.filter(void=True, response="", assignment__shown=None)

    def wasted(self) -> "AnswerQuerySet":
        """Filter answers to questions retired while a worker had them: paid or not, they cost."""
        return self.filter(void=True).exclude(response="", assignment__shown=None)


class Answer(models.Model):
    """The end of an assignment: a response, or the end of its time, which counts as not right.

    response    empty if there is none: it lapsed, or its question was retired before
    expired     it lapsed: shown and not answered in time
    void        its question was retired: it tells nothing about the worker
    applied_in  number of the Step that counted it; null until then, so this is queue and audit
    """

    assignment = models.OneToOneField(Assignment, models.CASCADE, primary_key=True)
    run = models.ForeignKey(Run, models.CASCADE, related_name="answers", db_index=False)
    response = models.TextField(blank=True)
    right = models.BooleanField()
    expired = models.BooleanField(default=False)
    void = models.BooleanField(default=False)
    at = models.DateTimeField()
    applied_in = models.PositiveIntegerField(null=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["run"], name="answer_to_apply", condition=Q(applied_in=None))
        ]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.response}"


class UncountedAnswer(models.Model):
    """An answer that a worker gave and that does not count, with the reason.

    Of a run it has candidate and question. Gold of a watch may be about an unknown one.

    number  id of its assignment, which may be withdrawn; None for a row of a file
    place   of gold: its worker and question as they were sent, hashed
    door    where it came in: page, API, file, model, or the name of a connector
    at      None for a withdrawn assignment that was handed out: no answer has come, but one may
    """

    class Reason(models.TextChoices):
        WITHDRAWN = "withdrawn", "its question was withdrawn before it came"
        ENDED = "ended", "it came after the end"
        LATE = "late", "it came after the time to answer"
        CHANGED = "changed", "an earlier, different answer counts"
        RETIRED = "retired", "its question was retired before it came"
        PERSON = "person", "another person than the worker gave it"
        UNREADABLE = "unreadable", "it cannot be an answer to its question"
        MET = "met", "its worker had met the question before"
        UNKNOWN = "unknown", "its worker or its question is not known"

    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="+", db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="uncounted")
    watch = models.ForeignKey(
        "selection.Watch", models.CASCADE, null=True, related_name="uncounted", db_index=False
    )
    candidate = models.ForeignKey(
        Candidate, models.CASCADE, null=True, related_name="+", db_index=False
    )
    question = models.ForeignKey(Question, models.CASCADE, null=True, related_name="+")
    place = models.CharField(max_length=40, blank=True, default="")
    number = models.BigIntegerField(null=True, unique=True)
    reason = models.CharField(max_length=10, choices=Reason)
    door = models.CharField(max_length=20, blank=True, default="")
    at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate", "question"],
                name="row_uncounted_once",
                condition=Q(number=None),
            ),
            models.UniqueConstraint(fields=["watch", "place"], name="gold_uncounted_once"),
            models.CheckConstraint(
                condition=Q(watch=None, run__isnull=False, question__isnull=False, place="")
                | Q(run=None, watch__isnull=False, question=None, number=None),
                name="uncounted_in_one_place",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate or self.watch}: {self.reason}"


class RecordedAnswerQuerySet(models.QuerySet["RecordedAnswer"]):
    def askable(self) -> "RecordedAnswerQuerySet":
        """Filter answers that may be asked for: one to a retired question would cost in vain."""
        return self.filter(question__retired=None)


class RecordedAnswer(models.Model):
    """An answer made elsewhere that waits until the algorithm asks for it."""

    candidate = models.ForeignKey(
        Candidate, models.CASCADE, related_name="recorded", db_index=False
    )
    question = models.ForeignKey(Question, models.PROTECT, related_name="+", db_index=False)
    response = models.TextField()

    objects = RecordedAnswerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["candidate", "question"], name="recorded_once")
        ]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.question}"


def has_waiting_answers(run: Run) -> Q:
    """Match the run's candidates if an answer of their worker waits.

    It was given here or imported, and is not applied yet: the worker is present in all skills.
    """
    recorded = RecordedAnswer.objects.filter(candidate__run=run).values("candidate__worker")
    unapplied = Answer.objects.filter(is_given(), run=run, applied_in=None)
    return Q(worker__in=recorded) | Q(worker__in=unapplied.values("assignment__candidate__worker"))
