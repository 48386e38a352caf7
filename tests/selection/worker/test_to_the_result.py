"""Every kind of question, from the imported file to the exported answers."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from selection import engine
from selection.models import QuestionSet
from selection.questions import corrections
from selection.worker import links
from tests.pages import admin_url, confirm, lines_of, upload
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db

FILE = """question,prompt,answer,choices,kind,tolerance,grading,image
one,Is it?,yes,yes|no,single,,,https://example.org/a.png
many,Which fly?,gull|bat,gull|bat|whale,multiple,,,
row,Smallest first.,ant|cat|cow,cow|ant|cat,order,,,
text,Where?,Malmö|Malmo city,,text,,no accents,
number,How far?,1250,,number,2%,,
"""
RIGHT = {
    "one": ["YES"],
    "many": ["bat", "gull"],
    "row": ["ant", "cat", "cow"],
    "text": [" malmo "],
    "number": ["1.230,5"],
}
WRONG = {
    "one": ["no"],
    "many": ["gull"],
    "row": ["cat", "ant", "cow"],
    "text": ["Lund"],
    "number": ["1,200"],
}


@pytest.mark.parametrize(("said", "outcome"), [(RIGHT, "right"), (WRONG, "not right")])
def test_question_kinds_are_imported_asked_graded_and_exported(requester, said, outcome):
    questions = QuestionSet.objects.create(name="All kinds")
    confirm(requester, upload(requester, admin_url("questionset_import", questions.pk), FILE))
    run = make_run(question_set=questions, slots=100, slots_per_worker=5)
    engine.advance(run.pk)
    worker = open_of(run)[0].candidate
    url, page = reverse("work", args=[links.worker_token(worker.pk)]), Client()
    asked = {one.pk: one.question.key for one in open_of(run)}
    shown = page.post(url, {"start": "yes"}, follow=True)
    while question := shown.context["page"].question:
        sent = {"assignment": question.assignment, "response": said[asked[question.assignment]]}
        shown = page.post(url, sent, follow=True)
    engine.advance(run.pk)
    text = "\n".join(lines_of(requester.get(admin_url("run_export", run.pk, "answers"))))
    rows = {row["question"]: row for row in csv.DictReader(io.StringIO(text))}
    assert {row["outcome"] for row in rows.values()} == {outcome}
    assert set(rows) == set(RIGHT)
    assert rows["many"]["response"] == " | ".join(said["many"])
    worker.refresh_from_db()
    assert worker.rewards == (5 if outcome == "right" else 0)


def test_correcting_any_kind_grades_the_answers_to_it_anew(requester):
    questions = QuestionSet.objects.create(name="All kinds")
    confirm(requester, upload(requester, admin_url("questionset_import", questions.pk), FILE))
    run = make_run(question_set=questions, slots=100, slots_per_worker=5)
    engine.advance(run.pk)
    worker = open_of(run)[0].candidate
    page, url = Client(), reverse("work", args=[links.worker_token(worker.pk)])
    for one in open_of(run):
        if one.candidate_id == worker.pk:
            page.post(url, {"assignment": one.pk, "response": WRONG[one.question.key]})
    engine.advance(run.pk)
    for question in questions.questions.all():
        gold = corrections.Gold(
            question.prompt,
            WRONG[question.key] if question.key != "number" else ["1200"],
            question.choices,
            question.grading,
        )
        corrections.correct_question(question, gold, "ada", "the key was wrong")
    worker.refresh_from_db()
    assert (worker.pulls, worker.rewards) == (5, 5)
