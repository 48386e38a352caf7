"""Replays of past answers that are read from a connection, as a job."""

from typing import Any

from selection import connectors
from selection.connectors import background
from selection.imports.keyed_answers import File
from selection.models import Job
from selection.outbox import jobs

from . import replay_requests

# Settings of a replay that nobody chose; its page offers others. Of few people fewer are selected.
MOST_SELECTED = 5
WANTED = {"epsilon": 0.1, "delta": 0.05}


@jobs.perform(background.PAST)
def _replay_past(job: Job) -> dict[str, Any]:
    connection = background.find_connection(job)
    past = connectors.fetch_past(connection, job.wanted["source"])
    source = replay_requests.Source(File(past.name, past.content))
    goal: dict[str, Any] = WANTED | {"k": max(1, min(MOST_SELECTED, past.people // 2))}
    replay = replay_requests.request_replay(source, goal, job.team_id, job.by, may_ask=True)
    return {"replay": str(replay.pk)}
