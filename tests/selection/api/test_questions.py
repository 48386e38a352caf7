"""Question sets and gold questions by the API."""

import pytest

from selection import engine
from selection.models import Answer, QuestionSet
from tests.worlds import answer_all, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def sums(db):
    return QuestionSet.objects.create(name="Sums")


def question(key: str, **fields: object) -> dict[str, object]:
    return {"question": key, "prompt": "1 + 1", "accepted": ["2"]} | fields


def put(manager, item, *questions):
    return manager.put(f"question-sets/{item.pk}/questions", {"questions": questions}).json()


def test_a_set_is_made_shown_changed_and_deleted(manager):
    made = manager.post("question-sets", {"name": "Sums", "instructions": "Add."}).json()
    at = f"question-sets/{made['id']}"
    assert (made["instructions"], made["questions"]) == ("Add.", 0)
    assert manager.patch(at, {"tries": 2, "markdown": False}).json()["tries"] == 2
    changed = manager.patch(at, {"name": "More sums"}).json()
    assert (changed["tries"], changed["markdown"]) == (2, False)
    assert manager.patch(at, {"tries": None}).json()["tries"] is None
    assert (changed["name"], changed["instructions"]) == ("More sums", "Add.")
    assert [one["id"] for one in manager.get("question-sets", search="MORE").json()] == [made["id"]]
    assert manager.delete(at).status_code == 204
    assert manager.get("question-sets").json() == []


def test_a_set_that_a_run_needs_stays(manager):
    run = make_run(n=4, start=False)
    assert manager.delete(f"question-sets/{run.question_set_id}").status_code == 409


def test_questions_come_with_their_way_of_grading(manager, sums):
    near = question("near", accepted=["3.5"], grading={"number": True, "tolerance": 0.1})
    reply = put(manager, sums, near, question("exact", grading={"case": True}), question("plain"))
    ticked = {"choices": ["2", "3", "4"], "accepted": ["2", "3"], "grading": {"multiple": True}}
    assert reply["added"] == 3
    assert put(manager, sums, question("ticked", **ticked))["added"] == 1
    assert sums.questions.get(key="ticked").grade("3|2")
    assert sums.questions.get(key="near").grading == {"number": True, "tolerance": 0.1}
    assert sums.questions.get(key="exact").grading == {"case": True}
    assert sums.questions.get(key="plain").grading == {}
    assert sums.questions.get(key="near").grade("3,45")
    shown = manager.get(f"question-sets/{sums.pk}/questions/near").json()
    assert (shown["accepted"], shown["grading"]["tolerance"]) == (["3.5"], 0.1)


def test_questions_have_columns_for_templates(manager, sums):
    put(manager, sums, question("one", columns={"topic": "Art"}))
    shown = manager.get(f"question-sets/{sums.pk}/questions/one").json()
    assert shown["columns"] == {"topic": "Art"}
    (row,) = put(manager, sums, question("two", columns={"topic": "\0"}))["rows"]
    assert "unreadable character" in str(row)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"prompt": " "}, "The prompt is empty"),
        ({"accepted": [""]}, "An answer or a choice is empty"),
        ({"choices": ["3", "4"]}, "The answer “2” is not among the choices 3 | 4."),
        ({"choices": ["2"]}, "There is only one choice"),
        ({"grading": {"number": True, "case": True}}, "has no capitals, spaces, accents or order"),
        ({"grading": {"multiple": True, "order": True}}, "multiple or order, not both"),
        ({"grading": {"multiple": True}}, "There are no choices to tick"),
        ({"grading": {"tolerance": 1}}, "A tolerance or a unit needs a comparison as numbers."),
        ({"grading": {"number": True}, "accepted": ["two"]}, "“two” is not a number"),
        ({"question": " q"}, "no spaces around them"),
    ],
)
def test_a_bad_question_is_refused_by_itself(manager, sums, fields, words):
    reply = put(manager, sums, question("q") | fields, question("good"))
    assert [row["result"] for row in reply["rows"]] == ["refused", "added"]
    assert words in reply["rows"][0]["reason"]


def test_sending_the_same_again_changes_nothing(manager, sums):
    rows = [question("a"), question("b", choices=["2", "3"], grading={"number": True})]
    assert put(manager, sums, *rows)["added"] == 2
    assert put(manager, sums, *rows)["unchanged"] == 2


def asked_run():
    run = make_run(questions=3)
    engine.advance(run.pk)
    answer_all(run, lambda slip: "no")
    return run


def test_correction_of_an_asked_question_grades_its_answers_again(manager):
    run = asked_run()
    put_again = put(manager, run.question_set, question("q1", prompt="Say yes to 1."))
    assert "has been asked" in put_again["rows"][0]["reason"]
    at = f"question-sets/{run.question_set_id}/questions/q1"
    corrected = {"prompt": "Say no.", "accepted": ["no"]}
    without_reason = manager.put(at, corrected)
    assert without_reason.status_code == 422
    assert "Give a reason" in without_reason.json()["error"]
    reply = manager.put(at, corrected | {"reason": "The key was wrong."}).json()
    assert reply["runs"] == [{"id": run.pk, "name": run.name}]
    assert reply["question"]["accepted"] == ["no"]
    graded = Answer.objects.filter(run=run, assignment__question__key="q1")
    assert graded
    assert all(graded.values_list("right", flat=True))


def test_a_question_is_retired_and_restored(manager):
    run = asked_run()
    at = f"question-sets/{run.question_set_id}/questions"
    retired = manager.post(f"{at}/q1/retire", {"reason": "Nobody can know."}).json()
    assert retired["question"]["retired_reason"] == "Nobody can know."
    found = manager.get(at, retired=True).json()
    assert [one["question"] for one in found] == ["q1"]
    assert manager.post(f"{at}/q1/retire", {"reason": "Again."}).status_code == 409
    assert (
        manager.post(f"{at}/q1/restore", {"reason": "One can."}).json()["question"]["retired_at"]
        is None
    )


@pytest.mark.parametrize("way", ["number", 5, [], True])
def test_a_way_of_grading_is_an_object(manager, sums, way):
    body = {"questions": [question("q", grading=way)]}
    reply = manager.put(f"question-sets/{sums.pk}/questions", body)
    assert reply.status_code == 422
    assert "grading" in reply.json()["field"]


@pytest.mark.parametrize("body", [[], 5])
def test_a_body_is_an_object(manager, sums, body):
    reply = manager.patch(f"question-sets/{sums.pk}", body)
    assert reply.status_code == 422
