"""The columns of a run: its settings, and its state."""

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from selection import algorithms
from selection.limits import LONGEST_ADDRESS, LONGEST_PARAMETER

from .keys import NameField
from .platforms import Completion, Platform
from .pools import Pool
from .questions import QuestionSet
from .teams import NamedInTeam, Team

MINUTES, MOST_MINUTES = 60, 60 * 24 * 365


def time_limit() -> "models.PositiveIntegerField[int, int]":
    """Build the column of the time to answer a question, in minutes."""
    return models.PositiveIntegerField(
        "time limit per question (minutes)",
        default=MINUTES,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text="Starts when the worker sees the question. A late answer counts as wrong.",
    )


class RunColumns(NamedInTeam):
    """The columns of a run.

    absence_since  start of the count of absences: the start of the run, moved by every pause
    joined     workers that came to the roster after the start
    belief     about its workers before it began, as numbers (forecast.inputs); empty: none stated
    best_guarantee  the least ε guaranteed so far, and the arms of the selection that it is for
    page       texts on the worker's page besides the questions (runs.worker_texts)
    rationed   True if it asked questions of a limited set: then not the seed alone orders them
    archived  time of the requester's review of the end
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
        GUARANTEE = "guarantee", "the guarantee was achieved"
        BUDGET = "budget", "the budget is spent"
        QUESTIONS = "questions", "the questions are used up"
        STOPPED = "stopped", "it was stopped by hand"
        ROSTER = "roster", "it needs all remaining workers"
        REGRADED = "regraded", "it used a grading that was corrected later"

    class Met(models.TextChoices):
        SKIP = "skip", "are skipped for that worker"
        OUT = "out", "keep that worker out of the run"
        AGAIN = "again", "may be asked again"

    team = models.ForeignKey(
        Team, models.PROTECT, related_name="runs", editable=False, db_index=False
    )
    name = NameField(max_length=200)
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="runs")
    question_set = models.ForeignKey(QuestionSet, models.PROTECT, related_name="runs")
    k = models.PositiveIntegerField("K", help_text="Number of workers to select.")
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
        help_text="Target: the selection’s largest loss of accuracy against the best K. "
        "0.1 is 10 percentage points.",
    )
    delta = models.FloatField(
        "δ", default=0.05, help_text="Risk of missing the target: 0.05 is one run in 20."
    )
    pass_mark = models.FloatField(
        null=True,
        blank=True,
        help_text="Select only workers who are shown to answer at least this share right: 0.8 is "
        "80 percent. Rules for all good workers show the mark less ε. Fewer than K may be "
        "selected. Leave blank for no mark.",
    )
    budget = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="In answers: the maximum number of assignments. Leave blank for no limit.",
    )
    price = models.DecimalField(
        "price per answer",
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text="Include platform fees. Leave blank to see answer counts only.",
    )
    currency = models.CharField(
        max_length=10, default="€", blank=True, help_text="A symbol or a code: €, $, EUR."
    )
    by_price = models.BooleanField(
        "spend by price",
        default=False,
        help_text="Ask cheaper workers more, so that the selection costs less. The guarantee then "
        "assumes that prices tell nothing of accuracy. A model's price comes from its settings and "
        "calls; a person's is the attribute “price”, or else the price per answer.",
    )
    slots = models.PositiveIntegerField(
        "max. open assignments",
        default=100,
        validators=[MinValueValidator(1)],
        help_text="Assignments that may await an answer at the same time.",
    )
    slots_per_worker = models.PositiveIntegerField(
        "max. open assignments per worker",
        default=3,
        validators=[MinValueValidator(1)],
        help_text="Assignments that one worker may hold at the same time.",
    )
    minutes = time_limit()
    hours_to_come = models.FloatField(
        "no-show timeout (hours)",
        null=True,
        blank=True,
        validators=[MinValueValidator(0.05), MaxValueValidator(24 * 365)],
        help_text="Workers who do nothing for this long count as gone and are not tested. "
        "Leave blank to wait for all workers.",
    )
    keep_no_shows = models.BooleanField(
        "no-shows stay in the pool at the end",
        default=False,
        help_text="The guarantee covers workers with a counted answer, or no-shows as well. Decide "
        "before you see answers.",
    )
    enrolling = models.BooleanField(
        "open roster",
        default=False,
        help_text="Workers may join until the roster closes; only then are workers accepted or "
        "rejected.",
    )
    enrol_until = models.DateTimeField(
        "close at", null=True, blank=True, help_text="The roster then closes automatically."
    )
    enrol_most = models.PositiveIntegerField(
        "close after this many workers",
        null=True,
        blank=True,
        validators=[MinValueValidator(2)],
        help_text="The roster then closes automatically.",
    )
    platform = models.CharField(
        max_length=10,
        choices=[("", "any platform"), *Platform.choices],
        blank=True,
        default="",
        help_text="It sends workers to the join link. Without a choice the link recognises the "
        "parameters worker, workerId and PROLIFIC_PID.",
    )
    worker_parameter = models.CharField(
        "parameter with the worker’s id",
        max_length=LONGEST_PARAMETER,
        blank=True,
        default="",
        help_text="The name before the id in the link, for example participant. Leave blank for "
        "the platform’s usual one.",
    )
    completion = models.CharField(
        max_length=10,
        choices=Completion,
        default=Completion.REDIRECT,
        help_text="What workers hand in at the end.",
    )
    completion_url = models.CharField(
        "return address",
        max_length=LONGEST_ADDRESS,
        blank=True,
        default="",
        help_text="It takes workers back, and may contain {worker}, {task} and {code}. Leave blank "
        "for the platform’s own.",
    )
    recorded_only = models.BooleanField(
        "imported answers only",
        default=False,
        help_text="Do not ask workers: use the answers imported into this run, as far as needed.",
    )
    one_kind_each = models.BooleanField(
        "a worker may be selected",
        default=False,
        choices=[(False, "for several kinds of task"), (True, "for at most one kind of task")],
        help_text="For runs with several question sets: a worker among the best in two of them "
        "can be selected for both, or for one only.",
    )
    page = models.JSONField(default=dict, blank=True, editable=False)
    met = models.CharField(
        "questions seen before",
        max_length=10,
        choices=Met,
        default=Met.AGAIN,
        help_text="Questions that a worker with the same id saw or answered in another run, in "
        "this set or with the same key and text in another set.",
    )
    only = models.JSONField(
        default=list,
        blank=True,
        help_text="Ids of the eligible workers. Leave blank for all workers.",
    )
    left_out = models.JSONField(default=list, blank=True, help_text="Ids of excluded workers.")
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
    absence_since = models.DateTimeField(null=True, editable=False)
    joined = models.PositiveIntegerField(default=0, editable=False)
    archived = models.DateTimeField(null=True, editable=False)
    regraded = models.DateTimeField(null=True, editable=False)
    best_guarantee = models.JSONField(default=dict, editable=False)
    link_version = models.PositiveSmallIntegerField(default=0, editable=False)
    alerts_sent = models.JSONField(default=list, editable=False)

    class Meta:
        abstract = True
