"""Models as workers: their servers, their settings, and the ledger of calls."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from .answers import Assignment
from .keys import NameField
from .pools import Worker
from .questions import Question
from .runs import Run
from .teams import NamedInTeam, Team, default_team, unique_name

PROBLEM_LENGTH = 300  # characters kept of a server's error
REQUEST_ID_LENGTH = 100
NANO = 1_000_000_000  # the ledger's unit is a billionth of the currency's unit


class ModelServer(NamedInTeam):
    """A server that speaks the OpenAI chat-completions protocol.

    url            the base address, for example https://api.openai.com/v1
    key_variable   name of an environment variable of this server that holds the API key
    key_encrypted  the API key, encrypted; in no page, reply, log, dump or export
    extra_headers  sent with each request, by name; ``{key}`` in one is the place of the API key
    extra_query    parameters of each address, by name
    """

    team = models.ForeignKey(
        Team, models.PROTECT, default=default_team, related_name="model_servers", db_index=False
    )
    name = NameField(max_length=100)
    url = models.CharField(
        "address", max_length=500, help_text="For example https://api.openai.com/v1"
    )
    key_variable = models.CharField(
        "environment variable of the API key", max_length=100, blank=True, default=""
    )
    key_encrypted = models.TextField(blank=True, default="", editable=False)
    requests_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Leave blank for no limit.",
    )
    concurrency = models.PositiveIntegerField(
        "calls at once", default=8, validators=[MinValueValidator(1), MaxValueValidator(10_000)]
    )
    extra_headers = models.JSONField(
        default=dict,
        blank=True,
        help_text="For example {“api-key”: “{key}”}: {key} stands for the API key.",
    )
    extra_query = models.JSONField(
        "parameters of the address",
        default=dict,
        blank=True,
        help_text="For example {“api-version”: “2024-10-21”}.",
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [unique_name("model_server")]

    def __str__(self) -> str:
        return self.name


class Endpoint(models.Model):
    """The model that answers in the place of a worker, and its settings.

    structured   ask for JSON with the letter of a choice, unless the template or the way of reading
                 asks for something else
    price_in     of a million input tokens; ``price_out`` of a million output tokens, and
                 ``price_call`` of a call, in the currency of the run
    reuse        take a stored reply also at a temperature above 0
    extra_body   further parameters of the request, by name; None leaves one out
    adjustments  changes of the request that the server asked for
    dearest      largest cost of a reply that cost more than was reserved, in billionths; 0 if none
                 did, None before the first reply
    problem      the last failure, empty after a reply
    rests_until  time before which no call is made, because the model failed repeatedly
    failures     consecutive failed calls
    """

    class Parsing(models.TextChoices):
        AUTO = "auto", "the choice, the last number, or the whole reply"
        LETTER = "letter", "a letter: A, B, C …"
        WORD = "word", "the only choice that the reply mentions"
        JSON = "json", "the field “answer” of a JSON object"
        LAST_LINE = "last line", "the last line"
        REGEX = "regex", "a regular expression"

    class Unreadable(models.TextChoices):
        WRONG = "wrong", "counts as a wrong answer"
        RETRY = "retry", "is asked for again, up to twice"

    worker = models.OneToOneField(Worker, models.CASCADE, primary_key=True, related_name="endpoint")
    server = models.ForeignKey(ModelServer, models.PROTECT, related_name="endpoints")
    model = models.CharField(max_length=200)
    system_prompt = models.TextField(blank=True, default="")
    template = models.TextField(blank=True, default="")
    temperature = models.FloatField(
        null=True, blank=True, default=0, validators=[MinValueValidator(0), MaxValueValidator(2)]
    )
    seed = models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(2**53)]
    )
    max_tokens = models.PositiveIntegerField(
        default=512, validators=[MinValueValidator(1), MaxValueValidator(1_000_000)]
    )
    max_completion_tokens = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(1_000_000)]
    )
    reasoning_effort = models.CharField(max_length=20, blank=True, default="")
    extra_body = models.JSONField(default=dict, blank=True)
    timeout = models.FloatField(
        default=60, validators=[MinValueValidator(0.1), MaxValueValidator(600)]
    )
    structured = models.BooleanField(default=True)
    parsing = models.CharField(max_length=10, choices=Parsing, default=Parsing.AUTO)
    pattern = models.CharField(max_length=200, blank=True, default="")
    unreadable = models.CharField(max_length=5, choices=Unreadable, default=Unreadable.WRONG)
    reuse = models.BooleanField(default=False)
    price_in = models.DecimalField(
        max_digits=12, decimal_places=6, default=0, validators=[MinValueValidator(0)]
    )
    price_out = models.DecimalField(
        max_digits=12, decimal_places=6, default=0, validators=[MinValueValidator(0)]
    )
    price_call = models.DecimalField(
        max_digits=12, decimal_places=6, default=0, validators=[MinValueValidator(0)]
    )
    problem = models.CharField(max_length=PROBLEM_LENGTH, blank=True, default="", editable=False)
    rests_until = models.DateTimeField(null=True, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)
    adjustments = models.JSONField(default=dict, editable=False)
    dearest = models.BigIntegerField(null=True, editable=False)

    class Meta:
        ordering = ["worker"]

    def __str__(self) -> str:
        return f"{self.model} at {self.server}"

    @property
    def reuses_replies(self) -> bool:
        return self.reuse or self.temperature == 0

    @property
    def limit_name(self) -> str:
        """The parameter that limits the output tokens."""
        return "max_tokens" if self.max_completion_tokens is None else "max_completion_tokens"

    @property
    def most_tokens(self) -> int:
        most: int = getattr(self, self.limit_name)
        return most

    @property
    def unproven(self) -> bool:
        """True if no reply has shown the price of a call yet."""
        return self.dearest is None and bool(self.price_in or self.price_out)


class ModelCallQuerySet(models.QuerySet["ModelCall"]):
    def in_flight(self) -> "ModelCallQuerySet":
        return self.filter(state=ModelCall.State.SENT)

    def replied(self) -> "ModelCallQuerySet":
        return self.filter(state__in=(ModelCall.State.REPLIED, ModelCall.State.REUSED))

    def reusable(self) -> "ModelCallQuerySet":
        """Filter the calls whose reply may answer an equal request."""
        return self.filter(state=ModelCall.State.REPLIED).exclude(answer="")


class ModelCall(models.Model):
    """A call of a model: written before it is sent, completed when it ends.

    run         None for a test call
    assignment  None for a test call, or after the assignment was withdrawn
    digest      of the team and the whole request: equal requests have equal digests
    attempt     number of the call for its assignment, from 1
    expires     time after which a call counts as interrupted; its process renews it
    reserved    the most that it can cost, in billionths of the currency's unit
    cost        its cost in the same unit; an interrupted call may have been charged and costs
                what was reserved
    result      kind of reply: with an answer, or why not; empty without a reply
    answer      the answer read from the reply; empty if none could be read
    problem     reason of a failure, or for no answer
    """

    class State(models.TextChoices):
        SENT = "sent", "in flight"
        REPLIED = "replied", "replied"
        FAILED = "failed", "failed"
        INTERRUPTED = "interrupted", "interrupted"
        REUSED = "reused", "reply reused"

    class Result(models.TextChoices):
        READ = "read", "read"
        EMPTY = "empty", "empty"
        CUT = "cut off", "cut off"
        REFUSED = "refused", "refused"
        UNREADABLE = "unreadable", "not readable"

    run = models.ForeignKey(
        Run, models.CASCADE, null=True, related_name="model_calls", db_index=False
    )
    assignment = models.ForeignKey(
        Assignment, models.SET_NULL, null=True, related_name="model_calls", db_index=False
    )
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="model_calls")
    question = models.ForeignKey(Question, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    attempt = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=11, choices=State, default=State.SENT)
    sent = models.DateTimeField()
    expires = models.DateTimeField()
    closed = models.DateTimeField(null=True)
    reserved = models.BigIntegerField(default=0)
    cost = models.BigIntegerField(default=0)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    milliseconds = models.PositiveIntegerField(null=True)
    request_id = models.CharField(max_length=REQUEST_ID_LENGTH, blank=True, default="")
    reply = models.TextField(blank=True, default="")
    result = models.CharField(max_length=10, choices=Result, blank=True, default="")
    answer = models.TextField(blank=True, default="")
    problem = models.CharField(max_length=PROBLEM_LENGTH, blank=True, default="")

    objects = ModelCallQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment"], name="call_in_flight_once", condition=Q(state="sent")
            )
        ]
        indexes = [
            models.Index(fields=["run", "id"], name="call_of_run"),
            models.Index(fields=["assignment"], name="call_of_assignment"),
            models.Index(fields=["digest"], name="call_to_reuse", condition=Q(state="replied")),
            models.Index(fields=["expires"], name="call_in_flight", condition=Q(state="sent")),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} of {self.worker}"


class ModelSpending(models.Model):
    """The money that a run spends on calls. Its row is locked whenever either sum changes.

    limit      the most that ``spent`` and ``in_flight`` may be together; None: no limit
    spent      cost of the calls that have ended
    in_flight  the most that the calls in flight can cost
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="spending")
    limit = models.BigIntegerField(null=True, blank=True)
    spent = models.BigIntegerField(default=0)
    in_flight = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"spending of {self.run}"
