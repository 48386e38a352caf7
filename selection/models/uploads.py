"""Files that are brought in: what they were, how far they are read, and what their rows say."""

import uuid

from django.db import models

from .teams import Team


class Upload(models.Model):
    """A file from when it is sent until what it brought can no longer be undone.

    target   the id of the pool, question set or run that it goes into
    content  its bytes; empty as soon as it is taken
    plan     what its columns mean (intake.layouts.Plan)
    encoding of its characters, where a person chose it
    header   names of its columns
    what     what it turned out to be, in words
    version  counts how often it was begun anew: whoever works on an earlier one stops
    position how many of its rows are sorted; estimate: about how many there are
    fine     rows that will be taken; outside: answers that are none of their question's choices;
             bad: rows that will not be taken; passed: those of no use, of which nothing is told
    moved    when work on it went on last
    error    why it cannot be read, in one sentence
    """

    class Kind(models.TextChoices):
        WORKERS = "workers"
        QUESTIONS = "questions"
        ANSWERS = "answers"

    class State(models.TextChoices):
        OPEN = "open", "waits to be told what its columns are"
        READING = "reading", "is being read"
        READY = "ready", "waits to be taken"
        TAKEN = "taken", "is taken"
        FAILED = "failed", "cannot be read"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind)
    target = models.PositiveBigIntegerField()
    name = models.CharField(max_length=200)
    content = models.BinaryField(default=b"")
    plan = models.JSONField(default=dict)
    encoding = models.CharField(max_length=20, blank=True)
    header = models.JSONField(default=list)
    what = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    version = models.PositiveIntegerField(default=0)
    position = models.PositiveIntegerField(default=0)
    estimate = models.PositiveIntegerField(default=0)
    fine = models.PositiveIntegerField(default=0)
    outside = models.PositiveIntegerField(default=0)
    bad = models.PositiveIntegerField(default=0)
    passed = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True)
    created = models.DateTimeField(auto_now_add=True)
    moved = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["kind", "target"], name="upload_by_target")]

    def __str__(self) -> str:
        return self.name

    @property
    def percent(self) -> int:
        """About how much of it is sorted."""
        return min(99, 100 * self.position // max(1, self.estimate))


class UploadedRow(models.Model):
    """A row of a file that is sorted and not yet taken; afterwards, what undoing it needs.

    key      what it is about: nothing else of the file is about the same; null where it is bad
    data     what it says; as much as taking it needs
    why      why it will not be taken; empty if it will
    outside  it would be taken if answers beyond the choices were
    fresh    whether nothing of this key was there before
    before   what was there before, to be put back
    """

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="rows", db_index=False)
    line = models.PositiveIntegerField()
    key = models.CharField(max_length=200, null=True)
    data = models.JSONField(default=dict)
    why = models.CharField(max_length=1000, blank=True)
    outside = models.BooleanField(default=False)
    fresh = models.BooleanField(default=True)
    before = models.JSONField(null=True)

    class Meta:
        ordering = ["line", "id"]
        constraints = [
            models.UniqueConstraint(fields=["upload", "key"], name="uploaded_once"),
        ]
        indexes = [models.Index(fields=["upload", "line"], name="uploaded_by_line")]

    def __str__(self) -> str:
        return f"{self.upload}, line {self.line}"


class ColumnNames(models.Model):
    """How a team had files with these columns read, to read the next such file likewise.

    signature  of the names of the columns (intake.layouts.signature)
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=Upload.Kind)
    signature = models.CharField(max_length=64)
    plan = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "kind", "signature"], name="columns_named_once"
            ),
        ]

    def __str__(self) -> str:
        return f"columns of {self.kind}"
