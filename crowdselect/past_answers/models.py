"""Replays of past answers: jobs that are done in turns."""

import json
import zlib
from collections.abc import Callable
from functools import cached_property
from typing import Any

from selection.models import Job, JobsOfKind, Kept, QuestionSet, Run


class Replay(Job):
    """A replay of past answers, until it expires.

    wanted   goal: K, epsilon, delta, and perhaps budget, price and currency; run and question_set:
             ids of what the answers come from, or null; names of the file of answers, and perhaps
             of the key's file; size of the former
             by file, answers or key, the plan of its columns as a person chose them; and ask (a
             person can be asked), picked (results by choice), leave_out (bad rows), faults (rows
             with an error)
    content  the files, one after the other; once they are read, the graded answers
             (replays.records), packed
    result   None until the answers are read; then ``facts``, counts of what was read, ``tallies``,
             (worker, right answers, all answers) of each worker, and ``plays``, results so far, in
             the order of ``replays.plays.list_plays``
    """

    KINDS = ("replay",)
    goal = Kept("wanted", {})
    facts = Kept("result", {})
    tallies = Kept("result", [])
    plays = Kept("result", [])
    objects = JobsOfKind()  # type: ignore[misc]

    class Meta:
        proxy = True

    @cached_property
    def run(self) -> Run | None:
        pk = self.wanted["run"]
        return Run.objects.filter(pk=pk).first() if pk else None

    @cached_property
    def question_set(self) -> QuestionSet | None:
        pk = self.wanted["question_set"]  # a command without a database has none
        return QuestionSet.objects.filter(pk=pk).first() if pk else None

    def rename_workers(self, rename: Callable[[str], str]) -> None:
        """Replace the ids of workers. Files that are still to be read go."""
        if self.result is None and self.wanted["names"]:
            self.delete()
        elif any(rename(worker) != worker for worker, *_ in self.tallies):
            self._rename_result(rename)
            content: dict[str, Any] = json.loads(zlib.decompress(bytes(self.content)))
            content["workers"] = [rename(worker) for worker in content["workers"]]
            self.content = zlib.compress(json.dumps(content).encode())
            if self.state == self.State.WORKING:  # the present turn knows the old names
                self.state, self.sent = self.State.WAITING, None
            self.save(update_fields=["content", "result", "state", "sent"])

    def _rename_result(self, rename: Callable[[str], str]) -> None:
        for tally in self.tallies:
            tally[0] = rename(tally[0])
        for rates in {"prices", "tokens"} & self.facts.keys():
            self.facts[rates] = {rename(w): rate for w, rate in self.facts[rates].items()}
        for play in self.plays:
            play["selected"] = [rename(worker) for worker in play.get("selected", ())]
