"""The same answer, sent as the right one and as a wrong one, by every kind of question."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from django.test import Client
from django.urls import reverse

from selection import engine
from selection.models import ApiToken, Assignment, Question, Run
from selection.worker import links
from tests.worlds import make_run, open_of

Send = Callable[[str], list[Any]]


class Kind(NamedTuple):
    """How a question compares, its choices, an answer, and the accepted answers where it is the
    right one and where it is not: texts of the same make, for to read a number or to take accents
    away takes as long as there is to do."""

    grading: dict[str, Any]
    choices: list[str]
    answer: str
    right: list[str]
    wrong: list[str]
    another: str  # could be an answer, too


KINDS = [
    Kind({}, ["yes", "no!", "why"], "yes", ["yes", "no!"], ["why", "no!"], "no!"),
    Kind(
        {},
        [],
        "  New   York ",
        ["  New   York ", "  Old   York "],
        ["  New   Cork ", "  Old   York "],
        "  Old   York ",
    ),
    Kind(
        {"number": True, "tolerance": 0.5}, [], "3,50", ["3,50", "7,25"], ["9,75", "7,25"], "7,25"
    ),
    Kind(
        {"number": True, "tolerance": 0.05, "relative": True},
        [],
        "1 200",
        ["1 240", "7 250"],
        ["9 740", "7 250"],
        "7 250",
    ),
    Kind({"case": True, "spaces": True}, [], "Ab c", ["Ab c", "AB C"], ["ab c", "AB C"], "AB C"),
    Kind(
        {"no_accents": True},
        [],
        "Café Noël",
        ["Café Noël", "Dafé Noël"],
        ["Café Moël", "Dafé Noël"],
        "Dafé Noël",
    ),
    Kind(
        {"multiple": True},
        ["red", "sky", "sea"],
        "sky | red",
        ["red", "sky"],
        ["red", "sea"],
        "red | sea",
    ),
    Kind(
        {"order": True},
        ["one", "two", "six"],
        "one | two | six",
        ["one", "two", "six"],
        ["two", "one", "six"],
        "six | two | one",
    ),
]


def kind(question: Question) -> Kind:
    return KINDS[question.number % len(KINDS)]


def of_each_kind(run: Run) -> list[list[Assignment]]:
    """The open questions of each kind."""
    found = open_of(run)
    sorted_out = [[slip for slip in found if kind(slip.question) == one] for one in KINDS]
    assert all(sorted_out)
    return sorted_out


def make_world() -> Run:
    """A run with open questions of each kind."""
    run = make_run(n=8, questions=60, slots=40, slots_per_worker=5, minutes=600)
    for question in Question.objects.filter(question_set=run.question_set):
        question.grading, question.choices, *_ = kind(question)
        question.save()
    engine.advance(run.pk)
    return run


def make_program(run: Run) -> Client:
    """A program with a token that has seen the open assignments."""
    secret = ApiToken.issue("answers", scope=ApiToken.Scope.ANSWER)
    client = Client(headers={"authorization": f"Bearer {secret}"})
    client.get(f"/api/runs/{run.pk}/assignments?limit=100")
    return client


def as_if(right: bool, slip: Assignment, rng: np.random.Generator) -> str:
    """Make this the right answer to its question, or a wrong one; the answer."""
    asked = kind(slip.question)
    accepted = asked.right if right else asked.wrong
    if not asked.grading.get("order"):
        accepted = rng.permutation(accepted).tolist()
    Question.objects.filter(pk=slip.question_id).update(accepted=accepted)
    return asked.answer


def on_page(slip: Assignment) -> Send:
    """Answer on the worker's page as a browser does, and follow to the next page."""
    url = reverse("work", args=[links.worker_token(slip.candidate_id)])

    def send(answer: str) -> list[Any]:
        client = Client()
        answered = client.post(url, {"assignment": slip.pk, "response": answer.split(" | ")})
        return [answered, client.get(answered["Location"]) if "Location" in answered else answered]

    return send


def by_api(program: Client, run: Run, slip: Assignment) -> Send:
    """Answer with a token, and look at the open assignments."""

    def send(answer: str) -> list[Any]:
        body = json.dumps({"response": answer})
        url = f"/api/assignments/{slip.pk}/answer"
        answered = program.post(url, body, content_type="application/json")
        return [answered, program.get(f"/api/runs/{run.pk}/assignments?limit=3")]

    return send
