"""What a requester keeps of a replay: a pool that knows its workers' past, or a draft."""

from decimal import Decimal
from typing import Any

from django.db import transaction

from selection.errors import Conflict, Refused
from selection.forecast import PastBelief, inputs
from selection.imports import catalog
from selection.imports.row_parsers import WorkerRow
from selection.models import Pool, QuestionSet, Run
from selection.runs.roster import eligibility
from selection.runs.settings import drafts

from .models import Replay
from .plays import METHODS
from .records import AnswerRecord, Tally

COUNT, ACCURACY = "past answers", "past accuracy"  # attributes of the workers


@transaction.atomic
def create_pool(replay: Replay) -> Pool:
    """Create a new pool of the workers, each with the number and accuracy of their past answers.

    Raises Conflict if the replay has not read the answers yet.
    """
    tallies = _tallies_of(replay)
    name = drafts.free_name(f"Workers of {replay.name}", replay.team_id, Pool)
    pool = Pool.objects.create(team_id=replay.team_id, name=name)
    rows = [
        WorkerRow(0, worker, "", {COUNT: answers, ACCURACY: round(hits / answers, 3)})
        for worker, hits, answers in tallies
    ]
    catalog.take_workers(pool, rows)
    return pool


@transaction.atomic
def create_draft(replay: Replay, algorithm: str, who: str = "") -> Run:
    """Create a draft over the workers and questions of the replay, with the same settings.

    The pool is the run's, or a new one. Raises Refused for settings that no run can have, and
    for scores.
    """
    if "scores" in replay.facts:
        raise Refused(
            "These answers are scores, and a run counts right and wrong ones. Upload 0 for wrong "
            "and 1 for right instead, or select by scores with topk.select."
        )
    if algorithm not in METHODS:
        raise Refused(f"“{algorithm}” was not tried: choose one of {', '.join(METHODS)}.")
    goal, tallies = replay.goal, _tallies_of(replay)
    pool = replay.run.pool if replay.run else create_pool(replay)
    question_set = _question_set_of(replay)
    hits, answers = [hits for _, hits, _ in tallies], [count for _, _, count in tallies]
    belief = PastBelief(replay.name, tuple(map(float, hits)), tuple(answers))
    draft = _settings_of(goal) | {
        "name": drafts.free_name(f"Best {goal['k']} of {pool}", replay.team_id),
        "pool": pool,
        "question_set": question_set,
        "algorithm": algorithm,
        "belief": inputs.belief_to_numbers(belief),
        "met": eligibility.default_met_policy({}),
    }
    return drafts.create_draft(draft, said=f"Made of past answers: {replay.name}.", who=who)


def _settings_of(wanted: dict[str, Any]) -> dict[str, Any]:
    fields = {name: wanted[name] for name in ("k", "epsilon", "delta")}
    price = wanted.get("price")
    money = {
        "budget": wanted.get("budget"),
        "price": None if price is None else Decimal(str(price)),
    }
    return fields | money | {"currency": wanted.get("currency") or ""}


def _question_set_of(replay: Replay) -> QuestionSet:
    """Find the question set that was answered; a new one if the key was a file."""
    stored = replay.run.question_set if replay.run else replay.question_set
    if stored:
        return stored
    name = drafts.free_name(f"Questions of {replay.name}", replay.team_id, QuestionSet)
    question_set = QuestionSet.objects.create(team_id=replay.team_id, name=name)
    catalog.take_questions(question_set, AnswerRecord.unpack(bytes(replay.content)).key)
    return question_set


def _tallies_of(replay: Replay) -> list[Tally]:
    if not replay.tallies:
        raise Conflict(replay.error or "The answers are still being read: try again in a moment.")
    return [(worker, hits, answers) for worker, hits, answers in replay.tallies]
