"""How before_rooms.sql.gz and before_rooms.json were made, by the code of commit f0a50a7.

    git worktree add /somewhere f0a50a7
    PYTHONPATH=/somewhere python tests/data/make_before_rooms.py tests/data

It runs on that code only: the names it imports are gone since the core, the app and the research
have a house each. ``test_before_rooms.py`` opens the database and plays its runs to the end with
the code of today, which must come to what is in the JSON file.
"""

import gzip
import hashlib
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

OUT = Path(sys.argv[1])
FOLDER = Path(tempfile.mkdtemp())
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
    "DATABASE_URL": f"sqlite:///{FOLDER / 'before.sqlite3'}",
    "SECRET_KEY": "before-the-rooms",
}

import django  # noqa: E402

django.setup()

from django.apps import apps  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.urls import get_resolver  # noqa: E402
from selection.files import AnswerRow, QuestionRow, WorkerRow  # noqa: E402

from crowdselect import celery_app  # noqa: E402
from selection import catalog, engine, intake, links, priors, reports, runs, wake  # noqa: E402
from selection.algorithms import ALGORITHMS  # noqa: E402
from selection.api import api  # noqa: E402
from selection.models import (  # noqa: E402
    ApiToken,
    Assignment,
    Pool,
    QuestionSet,
    Run,
    Skill,
    Upload,
)
from selection.reports import answers, exports  # noqa: E402

ACCURACY = [0.95, 0.92, 0.9, 0.75, 0.7, 0.62, 0.55, 0.5, 0.45, 0.4]
HALF_WAY = 8
NEVER_LATE = datetime(2100, 1, 1, tzinfo=UTC)
COUNTS = ["arm", "worker__key", "skill", "asked", "pulls", "rewards", "verdict", "decided_in"]
STEP = ["number", "applied", "dealt", "accepted", "rejected", "gap", "wanted", "closed"]


def respond(assignment: Assignment) -> str:
    """Right with the worker's accuracy; the same again when asked again."""
    worker, question = assignment.candidate.worker.key, assignment.question.key
    digest = hashlib.sha256(f"{worker} {question}".encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    return "yes" if share < ACCURACY[int(worker[1:])] else "no"


def answer_all(run: Run) -> int:
    there = Assignment.objects.open().filter(candidate__run=run).order_by("id")
    slips = there.select_related("candidate__worker", "question")
    return intake.record_many(run, [(slip, respond(slip)) for slip in slips])


def play(run: Run, most: int = 10_000) -> None:
    """Advance and answer so many steps, or until it ends or nothing moves."""
    for _ in range(most):
        step = engine.advance(run.pk)
        run.refresh_from_db()
        if run.status == Run.Status.ENDED or (step is None and not answer_all(run)):
            return
        answer_all(run)


def make_questions(name: str, size: int) -> QuestionSet:
    made = QuestionSet.objects.create(name=name, instructions="Answer yes or no.")
    letter = name[0].lower()
    rows = [
        QuestionRow(i, f"{letter}{i}", f"{name} {i}?", ["yes"], ["yes", "no"]) for i in range(size)
    ]
    catalog.take_questions(made, rows)
    return made


def make_run(name: str, pool: Pool, asked: QuestionSet, *skills: Skill, **set_: object) -> Run:
    values = {"k": 3, "epsilon": 0.2, "delta": 0.1, "slots": 60, "slots_per_worker": 12, "seed": 11}
    run = Run.objects.create(name=name, pool=pool, question_set=asked, **values | set_)
    for number, skill in enumerate(skills, 1):
        skill.run, skill.number = run, number
        skill.save()
    return Run.objects.get(pk=run.pk)


def begin(run: Run, steps: int) -> Run:
    """Start it, play so many steps, and leave the last assignments unanswered."""
    runs.start(run)
    run.refresh_from_db()
    play(run, steps)
    engine.advance(run.pk)
    return run


def fill() -> None:
    User.objects.create_superuser("owner", password=None)
    ApiToken.objects.create(name="platform", digest=ApiToken.digest_of("before-the-rooms"))
    pool = Pool.objects.create(name="Crowd")
    rows = [
        WorkerRow(i, f"w{i}", f"Worker {i}", {"language": ["English", "French"][i % 2]})
        for i in range(10)
    ]
    catalog.take_workers(pool, rows)
    arithmetic, spelling = make_questions("Arithmetic", 200), make_questions("Spelling", 80)
    Upload.objects.create(
        kind=Upload.Kind.WORKERS, target=pool.pk, name="more.csv", text="worker\nw10\nw11\n"
    )
    ended = make_run("Ended", pool, spelling, algorithm="lucb", epsilon=0.65)
    begin(ended, 10_000)
    make_run(
        "Draft with quotas",
        pool,
        arithmetic,
        algorithm="certified",
        budget=400,
        quotas={"attribute": "language", "limits": {"English": [1, 2], "French": [1, None]}},
        options={"accuracy": "on this question set"},
    )
    make_run(
        "Draft that learned",
        pool,
        spelling,
        algorithm="credible",
        options={"prior": priors.copy(ended.pk)},
    )
    runs.pause(begin(make_run("Paused", pool, spelling, algorithm="kl-lucb", epsilon=0.45), 4))
    half = {
        "Half-done adaptive-top-k": {"algorithm": "adaptive-top-k", "epsilon": 0.7, "slots": 80},
        "Half-done certified": {"algorithm": "certified", "slots": 24, "epsilon": 0.15},
        "Half-done credible": {"algorithm": "credible", "slots": 12, "epsilon": 0.03},
    }
    for name, set_ in half.items():
        begin(make_run(name, pool, arithmetic, **set_), HALF_WAY)
    two = make_run(
        "Half-done multi-sar",
        pool,
        arithmetic,
        Skill(question_set=spelling, k=2),
        algorithm="multi-sar",
        budget=500,
    )
    begin(two, HALF_WAY)
    waiting = make_run("With recorded answers", pool, spelling, algorithm="sar", budget=300)
    begin(waiting, 2)
    import_some(waiting)
    Assignment.objects.update(due=NEVER_LATE)


def import_some(run: Run) -> None:
    """Answers made elsewhere to every third question: some count at once, most wait."""
    keys = run.question_set.questions.values_list("key", flat=True)[::3]
    rows = [AnswerRow(1, f"w{i}", key, "yes") for i in (1, 4, 8) for key in keys]
    sorting = intake.sort(run, rows)
    intake.take(run, sorting)


def dump() -> None:
    connection.close()
    with sqlite3.connect(FOLDER / "before.sqlite3") as database:
        text = "\n".join(database.iterdump())
    with (OUT / "before_rooms.sql.gz").open("wb") as file:
        file.write(gzip.compress(text.encode(), 9, mtime=0))


def facts(run: Run) -> dict[str, object]:
    """How a run stands, without dates."""
    run = Run.objects.get(pk=run.pk)
    return {
        "status": run.status,
        "ending": run.ending,
        "steps": run.steps,
        "candidates": [list(row) for row in run.candidates.values_list(*COUNTS).order_by("arm")],
        "history": [list(row) for row in run.history.values_list(*STEP).order_by("number")],
        "questions": questions_of(run),
        "export": reports.export(run),
        "table": reports.export_table(run),
    }


def questions_of(run: Run) -> str:
    """A digest of the workers and questions in the order of asking."""
    rows = Assignment.objects.filter(candidate__run=run).order_by("candidate__arm", "position")
    listed = list(rows.values_list("candidate__arm", "position", "question__key"))
    return hashlib.sha256(repr(listed).encode()).hexdigest()


def play_on(run: Run) -> None:
    """Play to the end."""
    if run.status == Run.Status.DRAFT:
        runs.start(run)
    if run.status == Run.Status.PAUSED:
        runs.resume(run)
    run.refresh_from_db()
    play(run)


def offered() -> dict[str, object]:
    """The names that others rely on: addresses, tasks, tables, algorithms, columns, the API."""
    celery_app.loader.import_default_modules()
    schema = api.get_openapi_schema()
    return {
        "addresses": sorted(addresses(get_resolver().url_patterns)),
        "tasks": sorted(name for name in celery_app.tasks if not name.startswith("celery.")),
        "tables": {
            model._meta.db_table: sorted(field.column for field in model._meta.local_fields)
            for model in apps.get_app_config("selection").get_models()
        },
        "algorithms": {
            name: [option.name for option in kind.known_options]
            for name, kind in ALGORITHMS.items()
        },
        "columns": {
            "selected": exports.COLUMNS,
            "answers": answers.ANSWER_COLUMNS,
            "open": answers.OPEN_COLUMNS,
        },
        "calls": {path: sorted(calls) for path, calls in schema["paths"].items()},
        "schemas": {
            name: sorted(schema["components"]["schemas"][name].get("properties", {}))
            for name in schema["components"]["schemas"]
        },
    }


def addresses(patterns: list, before: str = "") -> Iterator[str]:
    """The project's own: Django's admin of other apps may change as Django does."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from addresses(pattern.url_patterns, route)
        elif not route.startswith("admin/") or "/selection/" in f"/{route}":
            yield f"{route} {pattern.name}"


def main() -> None:
    call_command("migrate", verbosity=0)
    with wake.silence():
        fill()
        dump()
        before = {run.name: facts(run) for run in Run.objects.all()}
        open_ = Assignment.objects.open().filter(candidate__run__name="Half-done certified")
        link = links.token(open_.order_by("id").first().candidate_id)
        for run in Run.objects.order_by("id"):
            play_on(run)
        after = {run.name: facts(run) for run in Run.objects.all()}
    known = {"offered": offered(), "link": link, "before": before, "after": after}
    (OUT / "before_rooms.json").write_text(json.dumps(known, ensure_ascii=False) + "\n")


main()
