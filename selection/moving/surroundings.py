"""What a run stands in: its pool, its workers and its question sets, there already or made."""

import json
from base64 import b64decode
from itertools import pairwise
from typing import Any

from selection.errors import Conflict, Refused
from selection.intake import media
from selection.models import Pool, Practice, Question, QuestionSet, Team, Worker
from selection.reports.dump import PRACTICE, QUESTION, QUESTION_SET
from selection.reports.dump import question_set as told

from .columns import of

AT_ONCE = 2000


def pool(name: str, team: Team) -> Pool:
    return Pool.objects.get_or_create(team=team, name=name)[0]


def workers(document: dict[str, Any], home: Pool) -> list[Worker]:
    """The workers of the dump, in its order: those of the pool, where it has any.

    Raises Conflict where the pool has others, or has them in another order, which the seed numbers.
    """
    wanted = [_worker(row, home) for row in document["workers"]]
    known = {one.key: one for one in Worker.with_erased.filter(pool=home)}
    if not known:
        return Worker.with_erased.bulk_create(wanted, AT_ONCE)
    found = [_same(one, known.get(one.key)) for one in wanted]
    if any(one.pk > other.pk for one, other in pairwise(found)):
        raise Conflict(f"The pool “{home}” is there already, with its workers in another order.")
    return found


def _worker(row: dict[str, Any], home: Pool) -> Worker:
    said = {**row, "key": row["worker"]}
    return Worker(pool=home, **of(Worker, said, ("key", "name", "attributes", "erased")))


def _same(wanted: Worker, known: Worker | None) -> Worker:
    names = ("name", "attributes", "erased")
    if known is None or any(getattr(known, name) != getattr(wanted, name) for name in names):
        how = "without" if known is None else "with another"
        raise Conflict(f"The pool “{wanted.pool}” is there already, {how} worker “{wanted}”.")
    return known


def question_set(kind: dict[str, Any], team: Team) -> QuestionSet:
    """The one of this name that is the same. Raises Conflict for one that is not."""
    name = kind["question_set"]
    there = QuestionSet.objects.filter(team=team, name=name).first()
    if there is None:
        return _make(kind, team)
    ours = json.loads(json.dumps(told(there, any("data" in one for one in kind["media"]))))
    if any(ours[part] != kind[part] for part in ours):
        raise Conflict(f"The question set “{name}” is there already, and differs.")
    return there


def _make(kind: dict[str, Any], team: Team) -> QuestionSet:
    name = kind["question_set"]
    if any("data" not in one for one in kind["media"]):
        raise Refused(f"Questions of “{name}” show files that are not here: dump with --media.")
    made = QuestionSet.objects.create(team=team, name=name, **of(QuestionSet, kind, QUESTION_SET))
    Question.objects.bulk_create(
        [Question(question_set=made, **of(Question, one, QUESTION)) for one in kind["questions"]],
        AT_ONCE,
    )
    Practice.objects.bulk_create(
        [Practice(question_set=made, **of(Practice, one, PRACTICE)) for one in kind["practice"]]
    )
    for one in kind["media"]:
        media.take(made, one["name"], b64decode(one["data"]))
    return made
