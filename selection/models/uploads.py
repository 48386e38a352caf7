"""Uploaded files: their kind, the progress of reading, and their rows."""

from django.db import models

from .jobs import Job, JobsOfKind, Kept
from .teams import Team


class Upload(Job):
    """A file, a job from its upload until its import can no longer be undone.

    subject  the id of the pool, question set, run or watch that it goes into
    content  its bytes; emptied once it is imported
    state    ASKING for its columns, DONE if it can be imported, then TAKEN
    plan     meaning of its columns (imports.platforms.ColumnPlan)
    encoding of its characters, if a person chose it
    header   names of its columns
    what     the detected format, in words
    position number of its rows that are sorted; estimate: rows in all, about
    accepted_rows  rows to import; bad: rows to refuse; outside: answers outside the choices;
             passed: rows without use, which are not mentioned
    """

    class Kind(models.TextChoices):
        WORKERS = "workers"
        QUESTIONS = "questions"
        ANSWERS = "answers"
        GOLD = "gold"

    KINDS = tuple(Kind)
    plan = Kept("wanted", {})
    encoding = Kept("wanted", "")
    header = Kept("wanted", [])
    what = Kept("wanted", "")
    estimate = Kept("wanted", 0)
    position = Kept("result", 0)
    accepted_rows = Kept("result", 0)
    outside = Kept("result", 0)
    bad = Kept("result", 0)
    passed = Kept("result", 0)
    objects = JobsOfKind()  # type: ignore[misc]

    class Meta:
        proxy = True

    @property
    def noun(self) -> str:
        return "gold answer" if self.kind == self.Kind.GOLD else self.kind.removesuffix("s")

    @property
    def percent(self) -> int:
        return min(99, int(100 * self.position / max(1, self.estimate)))


class UploadedRow(models.Model):
    """A sorted row of a file before the import; afterwards, the data to undo it.

    key      identifies its subject, once in the file; null if the row is bad
    data     the content that the import needs
    why      reason for refusing it; empty if it is imported
    outside  True if only an answer outside the choices prevents the import
    fresh    True if the key was new
    before   the earlier content, to restore it
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
        constraints = [models.UniqueConstraint(fields=["upload", "key"], name="uploaded_once")]
        indexes = [models.Index(fields=["upload", "line"], name="uploaded_by_line")]

    def __str__(self) -> str:
        return f"{self.upload}, line {self.line}"


class ColumnNames(models.Model):
    """The meaning that a team gave to these columns, to read the next such file likewise.

    signature  of the names of the columns (imports.platforms.columns_signature)
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=Upload.Kind)
    signature = models.CharField(max_length=64)
    plan = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "kind", "signature"], name="columns_named_once")
        ]

    def __str__(self) -> str:
        return f"columns of {self.kind}"
