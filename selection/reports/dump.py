"""Dump of a run, from which anybody can recompute its end: docs/dumps.md, topk.verify."""

import json
import tempfile
from collections.abc import Iterable, Iterator
from decimal import Decimal
from hashlib import sha256
from itertools import chain, groupby
from typing import IO, Any

from django.db import transaction
from django.db.models import Model

from selection.errors import Refused
from selection.models import (
    Assignment,
    Candidate,
    Event,
    PracticeAnswer,
    QuestionReport,
    QuestionSet,
    Run,
    Skill,
    Worker,
)
from selection.runs.settings import guarantees
from selection.runs.settings.run_settings import RUN_SETTINGS, Dumped
from selection.version import __version__
from topk import expand_memory, pack_memory
from topk.verify import FORMAT, VERSION, canonical_json, digest_of

from .guarantee import guarantee_of_run
from .selection import selection_of_run

# An anonymous dump has these columns only: nothing about people, questions or responses.
RUN = (
    *(setting.name for setting in RUN_SETTINGS if setting.dumped is Dumped.ALWAYS),
    *("status", "ending", "quotas", "belief", "steps", "joined"),
    *("created", "started", "paused", "ended", "archived", "regraded"),
)
CANDIDATE = (
    *("arm", "asked", "pulls", "void", "rewards", "seen", "gone", "gone_at", "by_hand"),
    *("verdict", "decided_in", "decided_why", "met", "skipped"),
)
# Settings that no guarantee depends on, some with the ids of workers.
LIFE = (
    *("page", "rationed", "has_recorded"),
    *(setting.name for setting in RUN_SETTINGS if setting.dumped is Dumped.NAMED),
)
STEP = ("number", "at", "applied", "dealt", "accepted", "rejected", "gap", "wanted", "closed")
QUESTION_SET = ("instructions", "markdown", "tries", "most_workers")
PRACTICE = ("number", "prompt", "accepted", "choices", "grading", "explanation", "required")
PRACTISED = ("response", "right", "done", "tries", "at")
REPORT = ("text", "at", "heard")
QUESTION = (
    *("number", "key", "prompt", "accepted", "choices", "grading", "columns"),
    *("retired", "retired_why"),
)
ANSWERS = {
    "question": "question__number",
    "position": "position",
    "right": "answer__right",
    "void": "answer__void",
    "counted": "answer__applied_in",
    "expired": "answer__expired",
    "at": "answer__at",
    "shown": "shown",
    "due": "due",
    "dealt": "step",
    "response": "answer__response",
}
ANSWER_COLUMNS = list(ANSWERS)
AT_ONCE = 1000  # candidates


def dump_run(run: Run, anonymous: bool = False) -> dict[str, Any]:
    """Build the document, ready for JSON. Raises Refused for a draft, which has nothing to dump.

    anonymous  leave out the workers' names, their responses, and the texts of the questions
    """
    document = dump_frame(run, anonymous) | {"candidates": list(dump_candidates(run, anonymous))}
    return document | {"digest": digest_of(document)}


def dump_frame(run: Run, anonymous: bool) -> dict[str, Any]:
    """Build the document without its candidates and its digest. It is always small."""
    if run.status == Run.Status.DRAFT:
        raise Refused(f"The run “{run}” has not begun; there is nothing to dump yet.")
    workers = Worker.with_erased.filter(pk__in=run.candidates.values("worker")).order_by("pk")
    life = {} if anonymous else _column_values(run, LIFE)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "software": __version__,
        "anonymous": anonymous,
        "run": _column_values(run, RUN)
        | {"called": _json_ready(run.absence_since)}
        | _settings_data(run, anonymous)
        | life,
        "kinds": [_skill_data(skill, anonymous) for skill in run.skills],
        "workers": [_worker_data(worker, anonymous) for worker in workers.iterator(AT_ONCE)],
        "answer_columns": [name for name in ANSWER_COLUMNS if not anonymous or name != "response"],
        "candidates": [],
        "steps": [_column_values(step, STEP) for step in run.history.order_by("number")],
        "events": [_event_data(event, anonymous) for event in run.events.order_by("id")],
        "memory": pack_memory(expand_memory(run.memory)),
        "best_guarantee": run.best_guarantee,
        "result": _result_data(run),
    }
    return document | ({} if anonymous else _activity_besides_gold(run))


def dump_candidates(run: Run, anonymous: bool) -> Iterator[dict[str, Any]]:
    """Yield the candidates with their answers, AT_ONCE at a time, because of memory."""
    rows = run.candidates.order_by("worker_id", "skill")
    ids = list(rows.values_list("pk", "worker_id"))
    numbers = {worker: number for number, worker in enumerate(dict.fromkeys(w for _, w in ids))}
    people = rows.prefetch_related("recorded__question")
    for start in range(0, len(ids), AT_ONCE):
        part = [pk for pk, _ in ids[start : start + AT_ONCE]]
        answers = _answers_data(part, anonymous)
        for row in people.filter(pk__in=part):
            row_answers = answers.get(row.pk, [])
            yield _candidate_data(row, numbers[row.worker_id], row_answers, anonymous)


def _column_values(item: Model, names: Iterable[str]) -> dict[str, Any]:
    return {name: _json_ready(getattr(item, name)) for name in names}


def _json_ready(value: Any) -> Any:
    """Convert the value for JSON; an amount of money as text, because it is exact."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def _settings_data(run: Run, anonymous: bool) -> dict[str, Any]:
    """List the options as the algorithm gets them; ``recorded`` is True for a recorded order.

    The seed alone does not give it with answers made elsewhere, or with an exposure limit.
    """
    recorded = run.has_recorded or run.recorded_only or run.rationed
    options = run.effective_options()
    return {"options": options, "recorded": recorded, "pool": run.pool.name}


def _skill_data(skill: Skill, anonymous: bool) -> dict[str, Any]:
    data = {"question_set": str(skill.question_set), "k": skill.k, "deck": skill.deck_size}
    return data if anonymous else data | question_set_data(skill.question_set)


def question_set_data(item: QuestionSet) -> dict[str, Any]:
    """Collect the question set except its name, as in a dump that is not anonymous."""
    files = [
        {"name": file.name, "type": file.type, "size": file.size}
        for file in item.media.defer("data")
    ]
    return _column_values(item, QUESTION_SET) | {
        "questions": [
            _column_values(question, QUESTION) for question in item.questions.order_by("number")
        ],
        "practice": [
            _column_values(question, PRACTICE)
            for question in item.practice.order_by("number", "id")
        ],
        "media": files,
    }


def _worker_data(worker: Any, anonymous: bool) -> dict[str, Any]:
    if anonymous:
        return {}
    data = {"worker": worker.key, "name": worker.name, "attributes": worker.attributes}
    return data | {"erased": _json_ready(worker.erased)}


def _candidate_data(
    row: Candidate, worker: int, answers: list[list[Any]], anonymous: bool
) -> dict[str, Any]:
    data = _column_values(row, CANDIDATE) | {
        "worker": worker,
        "kind": row.skill,
        "answers": answers,
    }
    if anonymous:
        return data
    waiting = [[recorded.question.number, recorded.response] for recorded in row.recorded.all()]
    origin = _column_values(row, ("platform", "task"))
    return data | origin | {"by_hand_why": row.by_hand_why, "waiting": waiting}


def _activity_besides_gold(run: Run) -> dict[str, list[list[Any]]]:
    of_sets = [skill.question_set.practice.order_by("number", "id") for skill in run.skills]
    places = {
        practice_question.pk: place
        for place, practice_question in enumerate(chain.from_iterable(of_sets))
    }
    practised = PracticeAnswer.objects.filter(candidate__run=run, practice__in=places)
    problems = QuestionReport.objects.filter(assignment__candidate__run=run)
    at = ("assignment__candidate__arm", "assignment__position")
    return {
        "practised": [
            [arm, places[practice], *map(_json_ready, rest)]
            for arm, practice, *rest in practised.order_by(
                "candidate__arm", "practice__number", "practice"
            ).values_list("candidate__arm", "practice", *PRACTISED)
        ],
        "complaints": [
            [_json_ready(value) for value in row]
            for row in problems.order_by(*at).values_list(*at, *REPORT)
        ],
    }


def _answers_data(candidates: list[int], anonymous: bool) -> dict[int, list[list[Any]]]:
    """Map each candidate to all of its assignments, in order; values are None without an answer."""
    names = [ANSWERS[name] for name in ANSWER_COLUMNS if not anonymous or name != "response"]
    rows = (
        Assignment.objects.filter(candidate__in=candidates)
        .order_by("candidate_id", "position")
        .values_list("candidate_id", *names)
    )
    groups = groupby(rows, key=lambda row: row[0])
    return {
        pk: [[_json_ready(value) for value in row[1:]] for row in group] for pk, group in groups
    }


def _event_data(event: Event, anonymous: bool) -> dict[str, Any]:
    names = ("at", "kind", "step") if anonymous else ("at", "kind", "step", "who", "what", "why")
    return _column_values(event, names)


def _result_data(run: Run) -> dict[str, Any]:
    selection = selection_of_run(run)
    guarantee = guarantee_of_run(run, selection)
    return {
        "selection": sorted(selection.arms.tolist()),
        "by": selection.by,
        "epsilon": guarantee.epsilon,
        "guarantee": guarantee.text,
        "among": guarantees.describe_allowed_selections(run) if run.several else "",
    }


CHARACTERS = 65_536


def dump_text(run: Run, anonymous: bool = False) -> Iterator[str]:
    """Write the text that ``json.dumps`` would make of ``dump_run``, with the same arguments."""
    file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed when it is read)
    with transaction.atomic():
        locked = Run.objects.locked(run.pk) or run  # one snapshot: steps wait, answers do not
        document = dump_frame(locked, anonymous)
        digest = _write_digest(document, dump_candidates(locked, anonymous), file)
    file.seek(0)
    return _json_pieces(document | {"digest": digest}, file)


def _write_digest(document: dict[str, Any], people: Iterator[Any], file: IO[str]) -> str:
    """Compute the digest as ``topk.verify.digest_of``, and write the candidates to the file."""
    digest = sha256()
    for number, name in enumerate(sorted(document)):
        digest.update(f"{',' if number else '{'}{canonical_json(name)}:".encode())
        if name != "candidates":
            digest.update(canonical_json(document[name]).encode())
            continue
        digest.update(b"[")
        for place, candidate in enumerate(people):
            digest.update(f"{',' if place else ''}{canonical_json(candidate)}".encode())
            file.write(f"{', ' if place else ''}{_encode_json(candidate)}")
        digest.update(b"]")
    digest.update(b"}")
    return digest.hexdigest()


def _json_pieces(document: dict[str, Any], file: IO[str]) -> Iterator[str]:
    with file:
        for number, (name, value) in enumerate(document.items()):
            yield f"{', ' if number else '{'}{_encode_json(name)}: "
            if name != "candidates":
                yield _encode_json(value)
                continue
            yield "["
            while piece := file.read(CHARACTERS):
                yield piece
            yield "]"
    yield "}"


def _encode_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
