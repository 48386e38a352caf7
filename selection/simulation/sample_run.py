"""The sample pool, question sets and run, always the same; and a file of answers to import."""

import itertools
import random
from pathlib import Path

from django.db import transaction

from selection.exports import ExportTable
from selection.imports import catalog
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import SAMPLE_RUN, Pool, QuestionSet, Run
from selection.runs import lifecycle
from selection.runs.settings import drafts

from .crowd import SyntheticCrowd, draw_accuracies
from .writing import write_csv

SEED = 2024
QUESTIONS = 3000
SHORT, SHORT_NAME = 40, "Sample sums: 40"  # a usual amount of gold
NEAR = (-10, -2, -1, 1, 2, 10)
PEOPLE = [
    *("Ada Okafor", "Amara Diallo", "Bruno Silva", "Chiara Rossi", "Dmitri Petrov"),
    *("Elif Yilmaz", "Farid Haddad", "Grace Mensah", "Hana Novak", "Ivan Kovac"),
    *("Jun Tanaka", "Kofi Asante", "Lena Fischer", "Mateo Castro", "Nadia Banerjee"),
    *("Omar Nasser", "Priya Nair", "Quentin Dubois", "Rosa Oliveira", "Sven Larsen"),
    *("Tala Levi", "Usha Rao", "Viktor Lindqvist", "Wanjiru Kamau"),
]
LANGUAGES = ("English", "Spanish", "Hindi", "French", "Arabic")


@transaction.atomic
def prepare_sample_run(gold: Path | None = None) -> Run:
    """Start the sample run; create it and its parts if needed.

    gold  path for the known answers, for a crowd that plays the workers; beside it goes a file with
          that crowd's answers to the short question set
    """
    if gold is not None:
        rows = ([row.question, row.accepted[0]] for row in sample_questions())
        _write_table(gold, ExportTable(["question", "answer"], rows))
        write_answers(gold.with_name("sample-answers.csv"))
    _create_question_set(SHORT_NAME, sample_questions()[:SHORT])
    return Run.objects.filter(name=SAMPLE_RUN).first() or _create_sample_run()


def write_answers(path: Path) -> None:
    """Write the answers of every worker of the sample crowd to the short question set."""
    questions = sample_questions()[:SHORT]
    gold = {row.question: row.accepted[0] for row in questions}
    played = SyntheticCrowd(draw_accuracies(len(PEOPLE), 0), gold)
    rows = (
        [worker, row.question, played.respond(worker, row.question, row.choices) or ""]
        for worker in played.accuracy
        for row in questions
    )
    _write_table(path, ExportTable(["worker", "question", "response"], rows))


def _write_table(path: Path, table: ExportTable) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(path, table)


def _create_sample_run() -> Run:
    pool, new = Pool.objects.get_or_create(name="Sample pool")
    if new:
        catalog.take_workers(pool, sample_workers())
    question_set = _create_question_set("Sample sums", sample_questions())
    run = drafts.create_draft(
        {
            "name": SAMPLE_RUN,
            "pool": pool,
            "question_set": question_set,
            "k": 6,
            # It accepts and rejects one worker after another, within two minutes.
            "algorithm": "kl-racing",
            "epsilon": 0.2,
            "delta": 0.1,
            "slots": 24,
            "slots_per_worker": 1,
            "minutes": 24 * 60,
            "hours_to_come": None,
            "met": Run.Met.AGAIN,
            "seed": SEED,
        }
    )
    lifecycle.start_run(run)
    run.refresh_from_db()
    return run


def _create_question_set(name: str, rows: list[QuestionRow]) -> QuestionSet:
    question_set, new = QuestionSet.objects.get_or_create(
        name=name, defaults={"instructions": "Choose the right result."}
    )
    if new:
        catalog.take_questions(question_set, rows)
    return question_set


def sample_workers() -> list[WorkerRow]:
    rng = random.Random(SEED)
    return [
        WorkerRow(0, f"w{i}", name, {"language": rng.choice(LANGUAGES)})
        for i, name in enumerate(PEOPLE, 1)
    ]


def sample_questions() -> list[QuestionRow]:
    """Make distinct sums of two numbers, each with four results to choose from."""
    rng = random.Random(SEED)
    sums = rng.sample(list(itertools.combinations_with_replacement(range(11, 100), 2)), QUESTIONS)
    return [_sample_question(i, rng.sample(terms, 2), rng) for i, terms in enumerate(sums, 1)]


def _sample_question(number: int, terms: list[int], rng: random.Random) -> QuestionRow:
    result = sum(terms)
    results = sorted(result + offset for offset in [0, *rng.sample(NEAR, 3)])
    prompt = f"What is {terms[0]} + {terms[1]}?"
    return QuestionRow(0, f"sum-{number}", prompt, [str(result)], [str(one) for one in results])
