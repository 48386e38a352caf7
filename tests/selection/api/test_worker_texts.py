"""Texts for workers by the API: practice, files, pay, codes, limits."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from selection.models import AuditEntry, MediaFile, Practice, QuestionSet, Run
from selection.runs import worker_texts
from tests.worlds import make_questions, make_run
from topk import THIS_SET

pytestmark = pytest.mark.django_db

GIF = b"GIF89a\1\0\1\0"


@pytest.fixture
def birds(db) -> QuestionSet:
    return make_questions(3)


def test_practice_is_made_changed_and_taken_away(manager, birds):
    at = f"question-sets/{birds.pk}/practice"
    lesson = {
        "prompt": "2,5 + 1",
        "accepted": ["3.5"],
        "grading": {"number": True, "tolerance": 0.01},
        "explanation": "**Carry** it.",
        "required": True,
        "number": 2,
    }
    made = manager.post(at, lesson, Idempotency_Key="one").json()
    assert manager.post(at, lesson, Idempotency_Key="one").json() == made
    stored = Practice.objects.get()
    assert (stored.grade("3,505"), stored.required, stored.explanation) == (
        True,
        True,
        "**Carry** it.",
    )
    manager.post(at, {"prompt": "Which?", "accepted": ["a"], "choices": ["a", "b"]})
    assert [one["prompt"] for one in manager.get(at).json()] == ["Which?", "2,5 + 1"]
    changed = manager.put(f"{at}/{made['id']}", {"prompt": "1 + 1", "accepted": ["2"]}).json()
    assert changed["grading"]["number"] is changed["required"] is False
    assert manager.delete(f"{at}/{made['id']}").status_code == 204
    assert Practice.objects.get().prompt == "Which?"


@pytest.mark.parametrize(
    ("lesson", "why"),
    [
        ({"prompt": " ", "accepted": ["2"]}, "The prompt is empty"),
        ({"prompt": "?", "accepted": ["c"], "choices": ["a", "b"]}, "not among the choices"),
        ({"prompt": "?", "accepted": ["two"], "grading": {"number": True}}, "not a number"),
        ({"prompt": "?", "accepted": ["2"], "explanation": "\ufffd"}, "cannot be read"),
    ],
)
def test_impossible_practice_is_refused(manager, birds, lesson, why):
    refused = manager.post(f"question-sets/{birds.pk}/practice", lesson)
    assert refused.status_code == 422
    assert why in refused.json()["error"]
    assert not Practice.objects.exists()


def test_a_picture_is_sent_listed_replaced_and_deleted(manager, birds):
    at = f"/api/question-sets/{birds.pk}/media"

    def send(name: str, raw: bytes):
        return manager.client.post(at, {"file": SimpleUploadedFile(name, raw)})

    first = send("a bird.gif", GIF)
    assert (first.status_code, first.json()["name"], first.json()["type"]) == (
        201,
        "a-bird.gif",
        "image/gif",
    )
    assert send("a-bird.gif", GIF + b"longer").status_code == 201
    assert "is no picture" in send("bird.svg", b"<svg/>").json()["error"]
    (listed,) = manager.client.get(at).json()
    assert (listed["name"], listed["size"]) == ("a-bird.gif", len(GIF) + 6)
    assert manager.client.delete(f"{at}/a-bird.gif").status_code == 204
    assert manager.client.delete(f"{at}/a-bird.gif").status_code == 404
    assert not MediaFile.objects.exists()
    kinds = AuditEntry.objects.filter(kind__in=["upload", "delete"]).values_list("kind", flat=True)
    assert list(kinds.order_by("pk")) == ["upload", "upload", "delete"]


def test_worker_page_sets_pay_codes_and_next_steps(manager):
    run = make_run()
    at = f"runs/{run.pk}/page"
    before = manager.get(at).json()
    assert (before["pay"], before["text_at_end"]) == (None, "")
    assert before["codes"] == {
        name: worker_texts.generated_code(run, name) for name in before["codes"]
    }
    said = {
        "pay": "0.05",
        "codes": before["codes"] | {"done": " C1 "},
        "text_at_end": "On **Friday**.",
    }
    told = manager.put(at, said).json()
    assert (told["pay"], told["codes"]["done"], told["text_at_end"]) == (
        0.05,
        "C1",
        "On **Friday**.",
    )
    run.refresh_from_db()
    assert run.page["codes"] == {"done": "C1"}
    assert manager.put(at, {}).json() == before
    kinds = run.events.values_list("kind", "who").filter(kind="worker page")
    assert list(kinds) == [("worker page", "token manager")] * 2


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"codes": {"done": "C", "nothing": "C"}}, "Two outcomes have the same code"),
        ({"pay": 0.00001}, "at most 4 decimal places"),
    ],
)
def test_impossible_page_text_is_refused(manager, said, why):
    refused = manager.put(f"runs/{make_run().pk}/page", said)
    assert refused.status_code == 422
    assert why in refused.json()["error"]


def test_a_set_may_limit_how_many_meet_a_question(manager, birds):
    at = f"question-sets/{birds.pk}"
    assert manager.patch(at, {"most_workers": 5}).json()["most_workers"] == 5
    assert manager.patch(at, {"name": "Birds"}).json()["most_workers"] == 5
    assert manager.patch(at, {"most_workers": None}).json()["most_workers"] is None
    make_run(question_set=birds)
    Run.objects.update(options={"accuracy": THIS_SET})
    refused = manager.patch(at, {"most_workers": 5})
    assert refused.status_code == 409
    assert "before you limit them" in refused.json()["error"]
