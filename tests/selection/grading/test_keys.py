"""Ids that look the same are the same, however a device writes them."""

import json
import unicodedata

import pytest
from django.test import Client

from selection import privacy
from selection.errors import Refused
from selection.imports import commit, uploads
from selection.models import Answer, Run, Worker, plain_key
from selection.runs.roster import eligibility, membership
from tests.pages import admin_url
from tests.worlds import make_pool, make_questions, make_run

ONE, TWO = (unicodedata.normalize(form, "Zoë Grün") for form in ("NFC", "NFD"))
JSON = "application/json"
pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token) -> Client:
    return Client(headers={"authorization": f"Bearer {token}"})


def import_file(kind: str, target, text: str):
    upload = uploads.create_upload(kind, target, "file.csv", text.encode())
    return commit.commit_import(upload.pk)[1]


def pool_with(key: str):
    pool = make_pool(3)
    pool.workers.filter(key="w0").update(key=key)
    return pool


def test_a_key_is_written_with_one_character_a_letter_and_plain_spaces():
    assert plain_key(TWO) == plain_key("Zoë\u00a0Grün") == ONE


def test_every_way_to_store_or_find_a_key_takes_either():
    pool = pool_with(TWO)
    assert pool.workers.get(key=TWO).key == pool.workers.get(key__in=[TWO]).key == ONE
    pool.workers.bulk_create([Worker(pool=pool, key=f"{TWO} 2")])
    assert pool.workers.get(key=f"{TWO} 2").key == f"{ONE} 2"


@pytest.mark.parametrize("sent", [ONE, TWO, ONE.replace(" ", "\u00a0"), f"{TWO}\u00a0"])
def test_a_file_makes_no_second_worker_or_question_of_one(sent):
    pool, questions = pool_with(ONE), make_questions(2)
    questions.questions.filter(key="q0").update(key=ONE)
    import_file("workers", pool, f"worker,name\n{sent},New name\n")
    import_file("questions", questions, f"question,prompt,answer\n{sent},New text,yes\n")
    assert pool.workers.count() == 3
    assert pool.workers.get(key=ONE).name == "New name"
    assert questions.questions.count() == 2
    assert questions.questions.get(key=ONE).prompt == "New text"


def test_two_spellings_in_one_file_are_one_worker():
    pool = make_pool(1)
    import_file("workers", pool, f"worker,name\n{ONE},first\n{TWO},second\n")
    assert pool.workers.get(key=ONE).name == "first"
    assert pool.workers.count() == 2


def test_answers_are_known_by_either():
    run = make_run(pool=pool_with(ONE), k=1)
    run.question_set.questions.filter(number=5).update(key=ONE)
    import_file("answers", run, f"worker,question,response\n{TWO},{TWO},yes\n")
    assert run.candidates.get(worker__key=ONE).recorded.get().question.number == 5


def test_the_api_makes_no_second_one_and_finds_it_by_either(api):
    pool, questions = pool_with(TWO), make_questions(2)
    questions.questions.filter(key="q0").update(key=TWO)
    for path, rows in (
        (f"pools/{pool.pk}/workers", {"workers": [{"worker": ONE, "name": "New"}]}),
        (
            f"question-sets/{questions.pk}/questions",
            {"questions": [{"question": ONE, "prompt": "New", "accepted": ["yes"]}]},
        ),
    ):
        reply = api.put(f"/api/{path}", json.dumps(rows), content_type=JSON).json()
        assert (reply["changed"], reply["added"]) == (1, 0)
    assert (pool.workers.count(), questions.questions.count()) == (3, 2)
    run = make_run(pool=pool, question_set=questions, k=1)
    for path in (
        f"pools/{pool.pk}/workers/{ONE}",
        f"question-sets/{questions.pk}/questions/{ONE}",
        f"workers/{ONE}/data",
    ):
        assert api.get(f"/api/{path}").status_code == 200, path
    moved = api.post(f"/api/runs/{run.pk}/workers/{ONE}/withdraw", {}, content_type=JSON)
    assert moved.json()["worker"] == ONE
    claims = {"workers": [ONE]}
    reply = api.post(f"/api/runs/{run.pk}/claims", claims, content_type=JSON).json()
    assert reply[0]["state"] != "unknown"


def test_lists_of_workers_name_them_by_either():
    pool = pool_with(TWO)
    run = make_run(pool=pool, k=1, left_out=[ONE], start=False)
    assert not eligibility.eligible_workers(run).filter(key=TWO).exists()
    assert eligibility.unknown_worker_keys(run) == []
    run.left_out, run.only = [], [ONE]
    assert [worker.key for worker in eligibility.eligible_workers(run)] == [ONE]
    assert eligibility.explain_ineligible(run, pool.workers.get(key=TWO)) == ""
    begun = make_run(pool=pool, k=1)
    membership.withdraw_workers(begun, [ONE])
    assert begun.candidates.get(worker__key=TWO).gone == "withdrawn"
    with pytest.raises(Refused):
        membership.withdraw_workers(begun, ["Zoe Grün"])


def test_met_questions_are_recognised_in_another_pool():
    questions = make_questions(20)
    first = make_run(pool=pool_with(TWO), question_set=questions, k=1, recorded_only=False)
    one = first.candidates.get(worker__key=ONE)
    shown = one.assignments.create(
        position=one.asked, question=questions.questions.get(number=3), step=0
    )
    Answer.objects.create(assignment=shown, run=first, response="yes", right=True, at=first.started)
    for keys in (None, [ONE]):
        later = make_run(
            pool=pool_with(ONE), question_set=questions, k=1, met=Run.Met.SKIP, start=False
        )
        assert eligibility.questions_met_before(later, keys) == {ONE: {0: [3]}}


def test_person_is_erased_by_either_spelling():
    pool, twin = pool_with(TWO), pool_with(ONE)
    people = privacy.same_person(ONE, pool.team)
    assert {row.pool for row in people} == {pool, twin}
    privacy.erase_worker(people, "ada")
    assert privacy.same_person(TWO, pool.team) == []


def test_form_reports_an_existing_key_in_another_spelling(requester):
    pool, questions = pool_with(TWO), make_questions(1)
    page = requester.post(
        admin_url("worker_add"), {"pool": pool.pk, "key": ONE, "attributes": "{}"}
    )
    assert "already in use" in page.content.decode()
    assert pool.workers.count() == 3
    questions.questions.update(key=TWO)
    form = {"question_set": questions.pk, "key": ONE, "prompt": "?", "accepted": "a", "kind": ""}
    page = requester.post(admin_url("question_add"), form)
    assert "already in use" in page.content.decode()
    assert questions.questions.count() == 1
