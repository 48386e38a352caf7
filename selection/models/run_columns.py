"""The columns of a run: its settings, and its state."""

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from selection import algorithms

from .pools import Pool
from .questions import QuestionSet
from .teams import NamedInTeam, Team


class RunColumns(NamedInTeam):
    """The columns of a run.

    absence_since  start of the count of absences: the start of the run, moved by every pause
    joined     workers that came to the roster after the start
    belief     about its workers before it began, as numbers (forecast.inputs); empty: none stated
    proof      the least ε proved so far, and the arms of the selection it was proved for
    page       texts on the worker's page besides the questions (runs.worker_texts)
    rationed   True if it asked questions of a limited set: then not the seed alone orders them
    concluded  time of the requester's review of the end
    link_version   number of replacements of its join link: the earlier ones open nothing
    regraded   time of a correction of a gold answer after its end
    only       keys of the only workers it is for; empty: all of the pool
    left_out   keys of workers that are not in it
    alerts_sent    alerts sent to its team's webhooks, by kind
    """

    class Status(models.TextChoices):
        DRAFT = "draft"
        RUNNING = "running"
        PAUSED = "paused"
        ENDED = "ended"

    class Ending(models.TextChoices):
        PROMISE = "promise", "the promise holds"
        BUDGET = "budget", "the budget is spent"
        QUESTIONS = "questions", "the questions are used up"
        STOPPED = "stopped", "it was stopped by hand"
        ROSTER = "roster", "no more workers are left than are wanted"
        REGRADED = "regraded", "its end was reached by a grading that was corrected since"

    class Met(models.TextChoices):
        SKIP = "skip", "are passed over for that worker"
        OUT = "out", "keep that worker out of the run"
        AGAIN = "again", "may be asked again"

    team = models.ForeignKey(
        Team, models.PROTECT, related_name="runs", editable=False, db_index=False
    )
    name = models.CharField(max_length=200)
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="runs")
    question_set = models.ForeignKey(QuestionSet, models.PROTECT, related_name="runs")
    k = models.PositiveIntegerField("K", help_text="How many workers to select.")
    algorithm = models.CharField(
        max_length=50, choices=algorithms.algorithm_choices, default="adaptive-top-k"
    )
    options = models.JSONField(default=dict, blank=True, editable=False)
    quotas = models.JSONField(default=dict, blank=True, editable=False)
    belief = models.JSONField(default=dict, blank=True, editable=False)
    epsilon = models.FloatField(
        "ε",
        default=0.1,
        validators=[MinValueValidator(0.0)],
        help_text="How far in accuracy the selection may fall short of the best: 0.1 is 10 points.",
    )
    delta = models.FloatField(
        "δ",
        default=0.05,
        help_text="The probability with which the promise may fail: 0.05 is once in 20 runs.",
    )
    budget = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Most assignments to hand out in all. Empty: no limit.",
    )
    price = models.DecimalField(
        "price per answer",
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text="What an answer costs you, fees included. Only used to tell what the run costs. "
        "Empty: not known.",
    )
    currency = models.CharField(
        max_length=10, default="€", blank=True, help_text="A sign or a short name: €, $, EUR."
    )
    slots = models.PositiveIntegerField(
        "out at once",
        default=100,
        validators=[MinValueValidator(1)],
        help_text="Most assignments that may be out with the crowd at once.",
    )
    slots_per_worker = models.PositiveIntegerField(
        "out at once per worker",
        default=3,
        validators=[MinValueValidator(1)],
        help_text="Most assignments that one worker may hold at once.",
    )
    minutes = models.PositiveIntegerField(
        "minutes to answer",
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(60 * 24 * 365)],
        help_text="Counted from when the worker is shown the question. What is not answered by "
        "then counts as not right.",
    )
    hours_to_come = models.FloatField(
        "hours to come",
        null=True,
        blank=True,
        validators=[MinValueValidator(0.05), MaxValueValidator(24 * 365)],
        help_text="A worker of whom nothing is seen for so long is taken as gone and not tested "
        "any more. Empty: everybody is waited for.",
    )
    enrolling = models.BooleanField(
        "open roster",
        default=False,
        help_text="Workers who arrive may join until the roster is closed; only then is anybody "
        "accepted or rejected.",
    )
    enrol_until = models.DateTimeField(
        "closes at", null=True, blank=True, help_text="When the roster closes by itself."
    )
    enrol_most = models.PositiveIntegerField(
        "closes with",
        null=True,
        blank=True,
        validators=[MinValueValidator(2)],
        help_text="With how many workers the roster closes by itself.",
    )
    recorded_only = models.BooleanField(
        "only answers made elsewhere",
        default=False,
        help_text="Ask nobody: use the answers imported into this run, as far as they are needed.",
    )
    one_kind_each = models.BooleanField(
        "a worker may be selected",
        default=False,
        choices=[(False, "for several kinds of task"), (True, "for at most one kind of task")],
        help_text="Where a run covers several question sets: whether whoever is among the best in "
        "two of them may be selected for both, or does one kind of task at most.",
    )
    page = models.JSONField(default=dict, blank=True, editable=False)
    met = models.CharField(
        "questions met before",
        max_length=10,
        choices=Met,
        default=Met.AGAIN,
        help_text="What becomes of questions that a worker of the same id was shown or answered in "
        "another run of yours, in this set or with the same key and text in another.",
    )
    only = models.JSONField(
        default=list, blank=True, help_text="Ids of the workers whom it is for; none: everybody."
    )
    left_out = models.JSONField(
        default=list, blank=True, help_text="Ids of workers who are not to be in it."
    )
    seed = models.PositiveBigIntegerField(default=0, validators=[MaxValueValidator(2**62)])

    status = models.CharField(
        max_length=10, choices=Status, default=Status.DRAFT, editable=False, db_index=True
    )
    ending = models.CharField(max_length=10, choices=Ending, blank=True, editable=False)
    deck_size = models.PositiveIntegerField(default=0, editable=False)
    steps = models.PositiveIntegerField(default=0, editable=False)
    memory = models.JSONField(default=dict, editable=False)
    has_recorded = models.BooleanField(default=False, editable=False)
    rationed = models.BooleanField(default=False, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, editable=False)
    paused = models.DateTimeField(null=True, editable=False)
    ended = models.DateTimeField(null=True, editable=False)
    absence_since = models.DateTimeField(db_column="called", null=True, editable=False)
    joined = models.PositiveIntegerField(default=0, editable=False)
    concluded = models.DateTimeField(null=True, editable=False)
    regraded = models.DateTimeField(null=True, editable=False)
    proof = models.JSONField(default=dict, editable=False)
    link_version = models.PositiveSmallIntegerField(db_column="links", default=0, editable=False)
    alerts_sent = models.JSONField(db_column="told", default=list, editable=False)

    class Meta:
        abstract = True
