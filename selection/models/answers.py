"""The workers of a run, what each was asked, and what came back."""

from datetime import datetime

from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from topk import Verdict

from .heartbeats import Pulse
from .pools import Worker
from .questions import Question
from .runs import Run
from .status import status_of


class Candidate(models.Model):
    """A worker in a skill of a run.

    ``arm`` is its number in the run: skill by skill, and within a skill dealt at random, because
    ties are broken by it.

    asked    assignments handed out: those of positions 0 to asked - 1
    pulls    answers counted in the statistics
    void     answers passed over because their question was retired; positions 0 to
             pulls + void - 1 are closed
    rewards  how many of those counted were right
    seen     when the worker was last there: on the page, by the API, or by an answer
    gone     why the worker is no longer to be tested, if so; such a one is neither accepted nor
             rejected, and the promise is about the others
    met      numbers of the questions that the worker met in other runs and is not asked here, as
             known at the start, or when the worker joined; ``skipped`` is how many
    links    how often the worker's link was replaced: the earlier ones open nothing
    platform where the worker came from last, and ``task`` what they do there: MTurk's AssignmentId,
             Prolific's SESSION_ID; only in the first skill, empty for who came by a link of ours
    by_hand  the requester's own verdict, which stands beside the algorithm's
    """

    class Gone(models.TextChoices):
        ABSENT = "absent", "never came"
        LEFT = "left", "left"
        WITHDRAWN = "withdrawn", "withdrawn"
        SCREENED = "screened", "did not pass the practice"

    class Platform(models.TextChoices):
        MTURK = "mturk", "Amazon Mechanical Turk"
        PROLIFIC = "prolific", "Prolific"

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
    links = models.PositiveSmallIntegerField(default=0)
    met = models.JSONField(default=list)
    skipped = models.PositiveIntegerField(default=0)
    platform = models.CharField(
        max_length=10, choices=Platform, blank=True, default="", db_default=""
    )
    task = models.CharField(max_length=100, blank=True, default="", db_default="")

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
        """Without an answer. Positions that were counted are closed, so few rows are looked at."""
        counted = F("candidate__pulls") + F("candidate__void")
        return self.filter(position__gte=counted, answer=None)

    def overdue(self, now: datetime) -> "AssignmentQuerySet":
        """Open, and their time was up while the web was there to take answers.

        In one statement with the last beat of the web: times to answer change only with it.
        """
        taken = Pulse.objects.filter(pk=Pulse.WEB, at__lte=OuterRef("due"))
        return self.open().filter(~Exists(taken), due__lt=now)

    def answerable(self) -> "AssignmentQuerySet":
        """Open and in time. Nobody's time runs before they have seen it, nor in a pause."""
        unseen, in_time = Q(due=None), Q(due__gt=Now())
        paused = Q(candidate__run__status=Run.Status.PAUSED)
        return self.open().filter(unseen | in_time | paused)


class Assignment(models.Model):
    """One question handed to one worker. It is open until it has an Answer.

    The clock runs from when the worker was shown it: until then ``shown`` and ``due`` are empty,
    and the engine may take it back.
    """

    candidate = models.ForeignKey(
        Candidate, models.CASCADE, related_name="assignments", db_index=False
    )
    position = models.PositiveIntegerField()
    question = models.ForeignKey(Question, models.PROTECT, related_name="+", db_index=False)
    step = models.PositiveIntegerField("dealt in step")
    shown = models.DateTimeField(null=True)
    due = models.DateTimeField(null=True)

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
    """That somebody gave it in time, right or not, also to a question that was retired since: this
    is the work that is paid. What closed a question that was out when it was retired is none.

    answer  what the names of an answer's fields begin with: "answer__" from its assignment
    """
    closed = {f"{answer}response": "", f"{answer}void": True}
    return Q(**{f"{answer}expired": False}) & ~Q(**closed)


# What stands in the place of a response that was deleted in time; nobody can answer so.
DELETED = " "


class AnswerQuerySet(models.QuerySet["Answer"]):
    def with_response(self) -> "AnswerQuerySet":
        """With what the worker said: not those that lapsed, nor the empty ones that closed a
        retired question, nor those of which what was said is deleted."""
        return self.exclude(response__in=("", DELETED))

    def closed_unseen(self) -> "AnswerQuerySet":
        """They closed questions that were retired before anybody saw them, which cost nothing."""
        return self.filter(void=True, response="", assignment__shown=None)

    def wasted(self) -> "AnswerQuerySet":
        """To questions that were retired when somebody had them: paid or not, they cost."""
        return self.filter(void=True).exclude(response="", assignment__shown=None)


class Answer(models.Model):
    """What closed an assignment: a response, or that time was up. Not right if it was.

    response    empty where there was none: it lapsed, or its question was retired before
    expired     it lapsed: shown and not answered in time
    void        its question was retired: it says nothing about the worker
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
            models.Index(fields=["run"], name="answer_to_apply", condition=Q(applied_in=None)),
        ]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.response}"


class RecordedAnswerQuerySet(models.QuerySet["RecordedAnswer"]):
    def askable(self) -> "RecordedAnswerQuerySet":
        """Those that may be asked for: not to a question that is retired, which would be paid and
        say nothing."""
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
        db_table = "selection_recorded"  # the name that it has always had
        constraints = [
            models.UniqueConstraint(fields=["candidate", "question"], name="recorded_once"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.question}"


def has_waiting_answers(run: Run) -> Q:
    """Return the condition on the run's candidates that an answer of their worker waits.

    It was given here or imported, and is not applied yet: the worker is present in all skills.
    """
    recorded = RecordedAnswer.objects.filter(candidate__run=run).values("candidate__worker")
    unapplied = Answer.objects.filter(is_given(), run=run, applied_in=None)
    return Q(worker__in=recorded) | Q(worker__in=unapplied.values("assignment__candidate__worker"))
