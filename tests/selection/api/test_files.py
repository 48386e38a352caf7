"""Files by the API: the same steps as on the pages."""

from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from selection import engine
from selection.imports import uploads
from selection.models import AuditEntry, Question, RecordedAnswer, Upload, Worker
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db

GERMAN = "Arbeiter;Land\nw-1;Österreich\nw-2;Schweiz\n;Nirgends\n".encode("cp1252")


def send(program, where: str, raw: bytes | str, name: str = "f.csv", **headers: str):
    raw = raw.encode() if isinstance(raw, str) else raw
    named = {header.replace("_", "-"): value for header, value in headers.items()}
    form = {"file": SimpleUploadedFile(name, raw)}
    return program.client.post(f"/api/{where}/files", form, headers=named)


def test_a_file_of_strange_columns_is_named_looked_at_taken_and_undone(manager):
    pool = make_pool(1)
    sent = send(manager, f"pools/{pool.pk}", GERMAN, "Liste.csv")
    assert sent.status_code == 201
    file = sent.json()
    assert (file["state"], file["kind"], file["target_id"]) == ("asking", "workers", pool.pk)
    assert file["columns"] == {"Arbeiter": "attribute", "Land": "attribute"}
    assert "there is no column “worker”" in file["error"]
    at = f"files/{file['id']}"
    refused = manager.post(f"{at}/take")
    assert (refused.status_code, refused.json()["error"]) == (409, file["error"])

    named = manager.patch(at, {"columns": {"Arbeiter": "worker"}}).json()
    assert named["columns"] == {"Arbeiter": "worker", "Land": "attribute"}
    assert (named["state"], named["accepted_rows"], named["rejected_rows"], named["error"]) == (
        "done",
        2,
        1,
        "",
    )
    rows = manager.get(f"{at}/rows").json()
    assert rows[0] == {
        "line": 2,
        "key": "w-1",
        "values": {"name": "", "attributes": {"land": "Österreich"}},
        "is_new": True,
        "reason": "",
    }
    (bad,) = manager.get(f"{at}/rows", accepted="false").json()
    assert (bad["line"], bad["reason"]) == (4, "The column “Arbeiter” is empty.")
    assert not Worker.objects.filter(key="w-1").exists()

    strict = manager.post(f"{at}/take", {"strict": True})
    assert strict.json()["error"] == "Nothing was taken: 1 row would be left out."
    taken = manager.post(f"{at}/take")
    assert (taken.status_code, taken.json()["state"], taken.json()["accepted_rows"]) == (
        200,
        "taken",
        2,
    )
    assert manager.post(f"{at}/take").json() == taken.json()
    assert Worker.objects.get(key="w-1").attributes == {"land": "Österreich"}
    entry = AuditEntry.objects.filter(kind="import").get()
    assert entry.after == {"file": "Liste.csv", "workers": 2}

    assert manager.delete(at).status_code == 409
    assert manager.post(f"{at}/undo").status_code == 204
    assert not Worker.objects.filter(key="w-1").exists()
    assert manager.get(at).status_code == 404


def test_second_file_with_remembered_columns_needs_no_mapping(manager):
    pool = make_pool(1)
    first = send(manager, f"pools/{pool.pk}", GERMAN).json()
    manager.patch(f"files/{first['id']}", {"columns": {"Arbeiter": "worker"}})
    second = send(manager, f"pools/{pool.pk}", GERMAN).json()
    assert (second["state"], second["remembered"], second["accepted_rows"]) == ("done", True, 2)


def test_questions_and_answers_come_by_files_as_well(manager):
    gold, pool = make_questions(3), make_pool(3)
    text = "question,prompt,answer,choices\nbird,Is it a bird?,yes,yes|no\n"
    file = send(manager, f"question-sets/{gold.pk}", text).json()
    assert file["layout"] == "a list of gold questions"
    manager.post(f"files/{file['id']}/take")
    assert Question.objects.get(key="bird").choices == ["yes", "no"]

    run = make_run(pool=pool, question_set=gold)
    worker = pool.workers.order_by("pk")[0].key
    text = f"worker,question,response\n{worker},bird,perhaps\n{worker},nothing,yes\n"
    file = send(manager, f"runs/{run.pk}", text).json()
    assert (file["accepted_rows"], file["mismatched_rows"], file["rejected_rows"]) == (0, 1, 1)
    rows = manager.get(f"files/{file['id']}/rows", on_mismatch="wrong").json()
    assert rows[0]["values"] == {
        "worker": worker,
        "question": "bird",
        "response": "perhaps",
        "skill": "",
    }
    manager.post(f"files/{file['id']}/take", {"on_mismatch": "wrong"})
    assert RecordedAnswer.objects.get().response == "perhaps"


def test_a_survey_s_columns_are_given_questions_and_their_answers_taken(manager):
    run = make_run(pool=make_pool(3))
    worker = run.pool.workers.order_by("pk")[0].key
    text = f"Chiffre,Zeit,Frage 7,Say yes to 1.\n{worker},3,yes,no\n"
    file = send(manager, f"runs/{run.pk}", text).json()
    assert (file["state"], file["questions"]) == ("asking", {})
    at, kennung = f"files/{file['id']}", {"Chiffre": "worker"}
    for wrong, told in (("q777", "no question “q777”"), ("q1", "Two columns")):
        refused = manager.patch(at, {"columns": kennung, "questions": {"Frage 7": wrong}})
        assert (refused.status_code, told in refused.json()["error"]) == (422, True)
    asked = {"Frage 7": "Say yes to 7."}
    named = manager.patch(at, {"columns": kennung, "questions": asked}).json()
    assert named["questions"] == {"Frage 7": "q7", "Say yes to 1.": "q1"}
    asked = {"Say yes to 1.": ""}
    named = manager.patch(at, {"columns": kennung, "questions": asked}).json()
    assert (named["state"], named["questions"], named["accepted_rows"]) == (
        "done",
        {"Frage 7": "q7"},
        1,
    )
    manager.post(f"{at}/take")
    kept = RecordedAnswer.objects.get()
    assert (kept.question.key, kept.response) == ("q7", "yes")


def test_the_same_file_under_the_same_key_comes_once(manager):
    pool = make_pool(1)
    first = send(manager, f"pools/{pool.pk}", GERMAN, Idempotency_Key="one")
    again = send(manager, f"pools/{pool.pk}", GERMAN, Idempotency_Key="one")
    assert first.json() == again.json()
    assert Upload.objects.count() == 1
    other = send(manager, f"pools/{pool.pk}", GERMAN + b"w-3;\n", Idempotency_Key="one")
    assert other.status_code == 422
    assert bytes(Upload.objects.get().content) == GERMAN


def test_unreadable_and_too_large_files_are_explained(manager, monkeypatch):
    pool = make_pool(1)
    refused = send(manager, f"pools/{pool.pk}", b"\xd0\xcf\x11\xe0 an old spreadsheet", "a.xls")
    assert refused.status_code == 422
    monkeypatch.setattr(uploads, "MOST_FILE", 10)
    large = send(manager, f"pools/{pool.pk}", GERMAN, "Liste.csv")
    assert large.json()["error"] == "Liste.csv is larger than 0 MB; split it into parts."
    missing = manager.client.post(f"/api/pools/{pool.pk}/files", {})
    assert (missing.status_code, missing.json()["field"]) == (422, "file")


def test_a_long_file_is_followed_and_put_aside(manager, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 0)
    rows = "worker\n" + "".join(f"w{number}\n" for number in range(3000))
    pool = make_pool(1)
    file = send(manager, f"pools/{pool.pk}", rows).json()
    at = f"files/{file['id']}"
    assert (file["state"], file["accepted_rows"], 20 < file["percent"] < 50) == (
        "waiting",
        1000,
        True,
    )
    refused = manager.post(f"{at}/take")
    assert (refused.status_code, "still being read" in refused.json()["error"]) == (409, True)
    assert manager.post(f"{at}/undo").status_code == 409
    assert manager.delete(at).status_code == 204
    assert manager.get(at).status_code == manager.get(f"files/{uuid4()}").status_code == 404


def test_a_file_with_two_readings_is_refused_until_one_is_named(manager):
    question_set = make_questions(0)
    raw = "question,choices,answer,level\nA bird?,yes|no,1,easy\nA dog?,yes|no,0,easy\n"
    file = send(manager, f"question-sets/{question_set.pk}", raw).json()
    assert (file["state"], file["columns"]["level"]) == ("asking", "")
    assert file["readings"] == {"numbers from 0": ["1", "no"], "1 is yes": ["1", "yes"]}
    assert "“no” (numbers from 0), or “yes” (1 is yes): choose the “reading”" in file["error"]
    wrong = manager.patch(f"files/{file['id']}", {"reading": "roman"})
    assert wrong.json()["error"].startswith("“roman” is no reading of answers: there are text,")
    file = manager.patch(f"files/{file['id']}", {"reading": "1 is yes"}).json()
    assert (file["state"], file["reading"]) == ("done", "1 is yes")
    manager.post(f"files/{file['id']}/take")
    assert question_set.questions.get(key="A bird?").accepted == ["yes"]


def test_the_comparison_of_typed_answers_is_recognised_and_can_be_named(manager):
    question_set = make_questions(0)
    raw = "Frage;Antwort\nSumme?;65,87\nDatum?;24.03.2025\n"
    file = send(manager, f"question-sets/{question_set.pk}", raw).json()
    rows = manager.get(f"files/{file['id']}/rows").json()
    assert [row["values"]["grading"] for row in rows] == [{"number": True}, {"date": "any"}]
    wrong = manager.patch(f"files/{file['id']}", {"comparison": "roughly"})
    assert "“roughly” is no way of grading" in wrong.json()["error"]
    assert (
        manager.patch(f"files/{file['id']}", {"comparison": "text"}).json()["comparison"] == "text"
    )
    rows = manager.get(f"files/{file['id']}/rows").json()
    assert [row["values"]["grading"] for row in rows] == [{}, {}]


def test_a_corrected_file_corrects_asked_questions_on_request(manager):
    run = make_run(questions=5)
    engine.advance(run.pk)
    raw = "question,prompt,answer,choices\nq0,Corrected?,no,yes|no\n"
    file = send(manager, f"question-sets/{run.question_set_id}", raw).json()
    assert (file["accepted_rows"], file["mismatched_rows"]) == (0, 1)
    manager.post(f"files/{file['id']}/take", {"on_mismatch": "correct"})
    assert run.question_set.questions.get(key="q0").prompt == "Corrected?"
