"""A sample pool, question set and run, the same for everybody."""

import csv
import io
import itertools
import random
from pathlib import Path

from django.db import transaction

from selection.intake import catalog
from selection.intake.files import QuestionRow, WorkerRow
from selection.models import Pool, QuestionSet, Run
from selection.setup import runs

SEED = 2024
NAME = "Sample: best 6 of 24"
QUESTIONS = 3000
NEAR = (-10, -2, -1, 1, 2, 10)
PEOPLE = [
    "Ada Okafor",
    "Amara Diallo",
    "Bruno Silva",
    "Chiara Rossi",
    "Dmitri Petrov",
    "Elif Yilmaz",
    "Farid Haddad",
    "Grace Mensah",
    "Hana Novak",
    "Ivan Kovac",
    "Jun Tanaka",
    "Kofi Asante",
    "Lena Fischer",
    "Mateo Castro",
    "Nadia Banerjee",
    "Omar Nasser",
    "Priya Nair",
    "Quentin Dubois",
    "Rosa Oliveira",
    "Sven Larsen",
    "Tala Levi",
    "Usha Rao",
    "Viktor Lindqvist",
    "Wanjiru Kamau",
]
LANGUAGES = ("English", "Spanish", "Hindi", "French", "Arabic")


@transaction.atomic
def prepare(gold: Path | None = None) -> Run:
    """The sample run, started; it and all it needs is made if it is not there yet.

    gold  where to write the known answers, for a crowd that plays the workers
    """
    if gold is not None:
        write_gold(gold)
    return Run.objects.filter(name=NAME).first() or _make()


def write_gold(path: Path) -> None:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["question", "answer"])
    rows.writerows([row.question, row.accepted[0]] for row in questions())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


def _make() -> Run:
    pool, new = Pool.objects.get_or_create(name="Sample pool")
    if new:
        catalog.take_workers(pool, workers())
    question_set, new = QuestionSet.objects.get_or_create(
        name="Sample sums", defaults={"instructions": "Choose the right result."}
    )
    if new:
        catalog.take_questions(question_set, questions())
    draft = Run(
        name=NAME,
        pool=pool,
        question_set=question_set,
        k=6,
        algorithm="adaptive-top-k",
        epsilon=0.2,
        delta=0.1,
        slots=192,
        slots_per_worker=8,
        minutes=24 * 60,
        seed=SEED,
    )
    run = runs.create(draft)
    runs.start(run)
    run.refresh_from_db()
    return run


def workers() -> list[WorkerRow]:
    """The people, w1 to w24."""
    rng = random.Random(SEED)
    return [
        WorkerRow(0, f"w{i}", name, {"language": rng.choice(LANGUAGES)})
        for i, name in enumerate(PEOPLE, 1)
    ]


def questions() -> list[QuestionRow]:
    """Sums of two numbers, no two of them the same, each with four results to choose from."""
    rng = random.Random(SEED)
    sums = rng.sample(list(itertools.combinations_with_replacement(range(11, 100), 2)), QUESTIONS)
    return [_question(i, rng.sample(terms, 2), rng) for i, terms in enumerate(sums, 1)]


def _question(number: int, terms: list[int], rng: random.Random) -> QuestionRow:
    result = sum(terms)
    results = sorted(result + offset for offset in [0, *rng.sample(NEAR, 3)])
    prompt = f"What is {terms[0]} + {terms[1]}?"
    return QuestionRow(0, f"sum-{number}", prompt, [str(result)], [str(one) for one in results])
