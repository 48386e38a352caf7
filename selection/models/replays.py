"""Requested replays of past answers, and their plays so far."""

import json
import uuid
import zlib
from collections.abc import Callable
from typing import Any

from django.db import models

from .questions import QuestionSet
from .runs import Run
from .teams import Team


class Replay(models.Model):
    """A replay of past answers, until it expires.

    name          of the file, run or question set that the answers come from
    by            the requester: a login name, or "token NAME" for a program
    wanted        K, epsilon, delta, and perhaps budget, price and currency
    run           the run that the answers come from
    question_set  the questions that were answered, or the key of a file
    names         of the file of answers, and perhaps of the key's file
    columns       by file, answers or key, the plan of its columns as a person chose them; and
                  ask (a person can be asked), picked (results by choice), leave_out (bad rows),
                  faults (rows with an error)
    answers, key  content of the files; emptied once they are read
    record        the graded answers (replays.records), packed
    tallies       (worker, right answers, all answers) of each worker, in the order of the record
    facts         counts of what was read
    plays         results so far, in the order of ``replays.plays.list_plays``
    played        their number; a process that adds to them must have read all of them
    seconds       of processor time they took
    error         reason of a failure, in one sentence
    sent          time of handing out the latest piece of work
    """

    LARGE = ("answers", "key", "record")  # columns that a page or a program does not read

    class State(models.TextChoices):
        COLUMNS = "columns", "needs its columns"
        READING = "reading", "is being read"
        WORKING = "working", "is being replayed"
        DONE = "done", "is done"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)
    by = models.CharField(max_length=150, blank=True)
    wanted = models.JSONField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="+", null=True)
    question_set = models.ForeignKey(QuestionSet, models.CASCADE, related_name="+", null=True)
    names = models.JSONField(default=list)
    columns = models.JSONField(default=dict)
    answers = models.BinaryField(default=b"")
    key = models.BinaryField(default=b"")
    record = models.BinaryField(default=b"")
    tallies = models.JSONField(default=list)
    facts = models.JSONField(default=dict)
    plays = models.JSONField(default=list)
    played = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.READING)
    error = models.CharField(max_length=500, blank=True)
    created = models.DateTimeField(auto_now_add=True)
    sent = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name

    @property
    def going(self) -> bool:
        return self.state in (self.State.READING, self.State.WORKING)

    def rename_workers(self, rename: Callable[[str], str]) -> None:
        """Store the read answers with these ids of workers instead."""
        self.tallies = [[rename(worker), *tally] for worker, *tally in self.tallies]
        for rates in ("prices", "tokens"):
            if rates in self.facts:
                self.facts[rates] = {rename(w): rate for w, rate in self.facts[rates].items()}
        for play in self.plays:
            play["selected"] = [rename(worker) for worker in play.get("selected", ())]
        if self.record:
            content: dict[str, Any] = json.loads(zlib.decompress(bytes(self.record)))
            content["workers"] = [rename(worker) for worker in content["workers"]]
            self.record = zlib.compress(json.dumps(content).encode())
        self.save(update_fields=["tallies", "facts", "plays", "record"])
