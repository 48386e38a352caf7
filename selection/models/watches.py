"""Watches: gold answers of workers during their work, and the evidence that they have fallen."""

from datetime import datetime

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q

from .heartbeats import is_past_due
from .keys import NameField
from .pools import Pool, Worker
from .questions import Question, QuestionSet
from .run_columns import time_limit
from .runs import Run
from .teams import NamedInTeam, Team, default_team, unique_name

LOWEST_LEVEL, HIGHEST_LEVEL = 0.05, 0.99
LEVEL_RANGE = "A level lies between 0.05 and 0.99."
PER_TASKS, ONCE_IN, DELTA = 20, 2000, 0.05
TOLERANCE, TRIES = 0.05, 1
# Columns that requesters set, besides name and question sets.
SETTINGS = (
    *("level", "minutes", "pace", "every", "rule", "once_in", "delta"),
    *("pause_on_alarm", "tolerance", "tries", "with_practice"),
)


class WatchQuerySet(models.QuerySet["Watch"]):
    def lock(self, pk: int) -> "Watch | None":
        """Return the watch, locked against steps and changes until the transaction ends."""
        return self.select_for_update(no_key=True).filter(pk=pk).first()


class Watch(NamedInTeam):
    """Workers of a pool that answer gold questions during their work.

    run        the ended run that selected them, if one did
    level      accuracy that everyone should keep; None: each worker has a level of their own
    minutes    time to answer a question, and to wait for answers to questions asked earlier
    pace       unit of ``every``: tasks from one gold question to the next, or gold questions a week
    rule       how often an alarm is false; ``once_in`` and ``delta`` are its numbers
    pause_on_alarm  True if an alarm pauses its worker
    tolerance  of a test: a worker that is further below the level hardly ever passes
    tries      tests that a worker may take before they pass
    with_practice  True if each test begins with the practice questions of the question sets
    stopped    time of its end; a stopped watch takes no answers, and may go on later
    alarms_sent  time up to which members were told of alarms by e-mail
    """

    class Pace(models.TextChoices):
        TASKS = "tasks", "one question per number of tasks"
        WEEK = "week", "number of questions a week"

    class Rule(models.TextChoices):
        RATE = "rate", "rarely: one false alarm per worker and number of gold answers"
        SHARE = "share", "few: a limited share of the reported workers"
        LASTING = "lasting", "never: with high probability, no false alarm at all"

    team = models.ForeignKey(
        Team, models.PROTECT, default=default_team, related_name="watches", db_index=False
    )
    name = NameField(max_length=200)
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="watches")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="watches")
    question_sets = models.ManyToManyField(QuestionSet, related_name="watches")
    level = models.FloatField(
        null=True,
        blank=True,
        validators=[
            MinValueValidator(LOWEST_LEVEL, LEVEL_RANGE),
            MaxValueValidator(HIGHEST_LEVEL, LEVEL_RANGE),
        ],
    )
    minutes = time_limit()
    pace = models.CharField(max_length=5, choices=Pace, default=Pace.TASKS)
    every = models.PositiveIntegerField(default=PER_TASKS, validators=[MinValueValidator(1)])
    rule = models.CharField(max_length=7, choices=Rule, default=Rule.RATE)
    once_in = models.PositiveIntegerField(
        default=ONCE_IN, validators=[MinValueValidator(10), MaxValueValidator(1_000_000)]
    )
    delta = models.FloatField(
        default=DELTA, validators=[MinValueValidator(0.001), MaxValueValidator(0.5)]
    )
    pause_on_alarm = models.BooleanField(default=False)
    tolerance = models.FloatField(
        default=TOLERANCE,
        validators=[MinValueValidator(0), MaxValueValidator(0.2)],
    )
    tries = models.PositiveSmallIntegerField(
        default=TRIES, validators=[MinValueValidator(1), MaxValueValidator(10)]
    )
    with_practice = models.BooleanField(default=False)
    created = models.DateTimeField(auto_now_add=True)
    stopped = models.DateTimeField(null=True, editable=False)
    alarms_sent = models.DateTimeField(null=True, editable=False)

    objects = WatchQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "watches"
        constraints = [unique_name("watch")]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        return "stopped" if self.stopped else "active"


class WatchedWorkerQuerySet(models.QuerySet["WatchedWorker"]):
    def out_of_work(self, run: int) -> "WatchedWorkerQuerySet":
        """Select the paused and tested workers of this run's watches: they get no tasks."""
        return self.filter(watch__run=run, state__in=WatchedWorker.OUT_OF_WORK)


class WatchedWorker(models.Model):
    """A worker of a watch, and the evidence against them.

    level      accuracy that they should keep
    peers      number of workers that began together, the subject of a lasting rule
    threshold  evidence for an alarm; None until the first step
    memory     packed evidence of ``topk.drift``; empty at the beginning
    evidence   its sum
    answers    counted gold answers since the beginning, ``right`` of them right
    since      time of the latest new beginning: only questions asked later are counted
    first_asked, last_asked  times of asking the first and the latest answer
    met        number of gold questions that they have answered in this watch
    met_before  number of its gold questions that they met elsewhere, and are not asked
    alarmed    time of the alarm, after ``alarmed_after`` answers
    dismissed  time of the latest dismissal of an alarm
    why        reason of the latest pause or dismissal
    before     state that a pause or an absence interrupts and does not end: a test, or a pause
    tried      tests that they began since they last passed or began anew
    link_version  number of replacements of their gold link: the earlier ones open nothing
    recount    True if the next step counts their answers from the beginning
    """

    class State(models.TextChoices):
        FINE = "fine", "fine"
        FALLING = "falling", "falling"
        ALARM = "alarm", "alarm"
        PAUSED = "paused", "paused"
        PRACTICE = "practice", "practising"
        TESTING = "testing", "tested again"
        LEFT = "left", "not watched any more"

    # A test begins with practice, if the watch wants it.
    RETESTED = (State.PRACTICE, State.TESTING)
    OUT_OF_WORK = (State.PAUSED, *RETESTED)

    watch = models.ForeignKey(Watch, models.CASCADE, related_name="workers", db_index=False)
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="watched")
    level = models.FloatField()
    peers = models.PositiveIntegerField(default=1)
    threshold = models.FloatField(null=True)
    memory = models.BinaryField(default=b"")
    evidence = models.FloatField(default=0)
    answers = models.PositiveIntegerField(default=0)
    right = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=8, choices=State, default=State.FINE)
    since = models.DateTimeField(null=True)
    first_asked = models.DateTimeField(null=True)
    last_asked = models.DateTimeField(null=True)
    met = models.PositiveIntegerField(default=0)
    met_before = models.PositiveIntegerField(default=0)
    alarmed = models.DateTimeField(null=True)
    alarmed_after = models.PositiveIntegerField(null=True)
    dismissed = models.DateTimeField(null=True)
    why = models.CharField(max_length=300, blank=True, default="")
    before = models.CharField(max_length=8, choices=State, blank=True, default="")
    tried = models.PositiveSmallIntegerField(default=0)
    link_version = models.PositiveSmallIntegerField(default=0)
    recount = models.BooleanField(default=False)

    objects = WatchedWorkerQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["watch", "worker"], name="worker_once_in_watch")
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.watch}"

    @property
    def is_retested(self) -> bool:
        """Tell if a test is going on, also during a pause: it has evidence of its own."""
        return self.state in self.RETESTED or self.before in self.RETESTED

    def empty_evidence(self) -> None:
        """Forget the answers so far; nothing is saved."""
        self.memory, self.evidence, self.answers, self.right = b"", 0, 0, 0

    @property
    def share(self) -> float | None:
        return self.right / self.answers if self.answers else None


class GoldAnswerQuerySet(models.QuerySet["GoldAnswer"]):
    def unanswered(self) -> "GoldAnswerQuerySet":
        return self.filter(response="").exclude(due=None)

    def waiting(self, now: datetime) -> "GoldAnswerQuerySet":
        """Filter the questions that still wait for their answer: their time is not over."""
        return self.unanswered().exclude(pk__in=self.overdue(now))

    def overdue(self, now: datetime) -> "GoldAnswerQuerySet":
        """Filter open rows whose time is over. It does not run while a watch is stopped."""
        return self.filter(is_past_due(now), watched__watch__stopped=None)

    def in_turn(self) -> "GoldAnswerQuerySet":
        """Filter the unbroken prefix of each worker: all that was asked before is closed."""
        open_before = GoldAnswer.objects.filter(
            watched=OuterRef("watched"), asked__lte=OuterRef("asked")
        ).exclude(due=None)
        return self.filter(~Exists(open_before))


class GoldAnswer(models.Model):
    """A gold question that a watched worker was asked; they count in the order of ``asked``.

    response  empty: no answer yet, or none in time, which counts as not right
    due       time until which the row is open: its answer may come, or those to questions asked
              earlier of which nothing is known here; None: it is closed
    counted   False until a step of the watch has taken it
    """

    watched = models.ForeignKey(
        WatchedWorker, models.CASCADE, related_name="gold_answers", db_index=False
    )
    question = models.ForeignKey(Question, models.PROTECT, related_name="gold_answers")
    asked = models.DateTimeField()
    at = models.DateTimeField()
    due = models.DateTimeField(null=True)
    response = models.TextField(blank=True)
    right = models.BooleanField()
    counted = models.BooleanField(default=False)

    objects = GoldAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["asked", "id"]
        constraints = [
            models.UniqueConstraint(fields=["watched", "question"], name="gold_answered_once")
        ]
        indexes = [
            models.Index(
                fields=["watched"], name="gold_answer_to_count", condition=Q(counted=False)
            ),
            models.Index(fields=["watched"], name="gold_answer_open", condition=~Q(due=None)),
        ]

    def __str__(self) -> str:
        return f"{self.watched}: {self.question}"
