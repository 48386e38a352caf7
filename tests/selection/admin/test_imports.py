"""Import of files by a requester: preview, then commit."""

import pytest

from selection import engine
from selection.imports import uploads
from selection.models import Answer, Pool, RecordedAnswer, Upload
from selection.outbox import celery_messages, jobs
from selection.questions import corrections
from tests.pages import admin_url, confirm, text_of, upload
from tests.worlds import make_pool, make_questions, make_run, open_of

pytestmark = pytest.mark.django_db


def test_new_pool_leads_to_its_import(requester):
    response = requester.post(admin_url("pool_add"), {"name": "Crowd"})
    assert response["Location"] == admin_url("pool_import", Pool.objects.get().pk)


def test_workers_are_imported_after_a_preview(requester):
    pool = make_pool(1)
    preview = upload(
        requester,
        admin_url("pool_import", pool.pk),
        "\ufeffworker,name,country\r\nada,Ada,UK\r\nw0,New name,\r\n,nobody,\r\n",
    )
    text = text_of(preview)
    assert "1 new worker will be added to the pool" in text
    assert "1 worker already in it will get the name" in text
    assert "1 row cannot be imported" in text
    assert "4 The column “worker” is empty." in text
    assert pool.workers.count() == 1  # nothing yet
    page = text_of(confirm(requester, preview))
    assert "2 workers imported." in page
    assert "1 row not imported." in page
    assert pool.workers.get(key="ada").attributes == {"country": "UK"}
    assert pool.workers.get(key="w0").name == "New name"
    assert not Upload.objects.exclude(state="taken", content=b"").exists()


def test_pasted_questions_are_imported(requester):
    question_set = make_questions(0)
    pasted = "question,prompt,answer,choices\nq1,A bird?,yes,yes|no\nq2,Capital?,Paris|paris city,"
    preview = requester.post(
        admin_url("questionset_import", question_set.pk), {"pasted": pasted}, follow=True
    )
    assert "2 new questions will be added" in text_of(preview)
    confirm(requester, preview)
    assert question_set.questions.get(key="q2").accepted == ["Paris", "paris city"]
    assert question_set.questions.get(key="q1").choices == ["yes", "no"]


def test_questions_of_a_run_are_named_and_left_unchanged(requester):
    run = make_run(questions=20)
    engine.advance(run.pk)
    question = open_of(run)[0].question
    preview = upload(
        requester,
        admin_url("questionset_import", run.question_set_id),
        f"question,prompt,answer\n{question.key},Other,no\n",
    )
    page_text = text_of(preview)
    assert "has been asked, and differs: a correction grades its answers again." in page_text
    assert "Nothing in this file can be imported" in page_text


def test_a_corrected_file_asks_once_about_the_questions_that_differ(requester):
    run = make_run(questions=20)
    engine.advance(run.pk)
    asked = [row.question for row in open_of(run)][:3]
    same, *different = {question.key: question for question in asked}.values()
    rows = [f"{same.key},{same.prompt},{'|'.join(same.accepted)},{'|'.join(same.choices)}"]
    rows += [f"{question.key},Corrected?,no,yes|no" for question in different]
    text = "\n".join(["question,prompt,answer,choices", *rows, "new,New?,no,yes|no"])
    preview = upload(requester, admin_url("questionset_import", run.question_set_id), text)
    page_text = text_of(preview)
    assert "1 row skipped: nothing new." in page_text
    assert f"Correct the {len(different)} question" in page_text
    address = f"{preview.request['PATH_INFO']}?outside=correct"
    assert "answers to them graded again" in text_of(requester.get(address))
    requester.post(preview.request["PATH_INFO"], {"outside": "correct"}, follow=True)
    questions = run.question_set.questions
    assert questions.filter(prompt="Corrected?").count() == len(different)
    assert questions.filter(key="new").exists()
    undone = requester.post(preview.request["PATH_INFO"], {"undo": "1"}, follow=True)
    assert "The file corrected questions that had been asked" in text_of(undone)


GERMAN = (
    "Nr;Frage;Antwort\n1;Summe?;65,87\n2;Datum?;24.03.2025\n3;Laden?;Rewe\n4;Preis?;1.234 €\n"
    "5;Rabatt?;5 %\n6;Uhrzeit?;15:30\n"
)


def test_prices_and_dates_are_recognised_and_shown_with_an_example(requester):
    question_set = make_questions(0)
    preview = upload(requester, admin_url("questionset_import", question_set.pk), GERMAN)
    page_text = text_of(preview)
    assert "number (also right: 65.87)" in page_text
    assert "date (also right: 2025-03-24)" in page_text
    confirm(requester, preview)
    right = {"1": "65.87", "2": "24.3.2025", "4": "1234", "5": "0.05", "6": "3:30 pm", "3": "rewe"}
    assert all(question_set.questions.get(key=key).grade(said) for key, said in right.items())
    assert question_set.questions.get(key="4").accepted == ["1234 €"]


def test_the_comparison_of_typed_answers_can_be_changed_before_the_import(requester):
    question_set = make_questions(0)
    preview = upload(requester, admin_url("questionset_import", question_set.pk), GERMAN)
    chosen = {"columns": "1", "question": "0", "prompt": "1", "answer": "2", "compared": "text"}
    preview = requester.post(preview.request["PATH_INFO"], chosen, follow=True)
    assert "also right" not in text_of(preview)
    confirm(requester, preview)
    assert {*map(str, question_set.questions.values_list("grading", flat=True))} == {"{}"}


def test_dates_with_two_readings_are_asked_about(requester):
    question_set = make_questions(0)
    text = "question,prompt,answer\nq1,When?,03/04/2025\nq2,When?,05/06/2025\n"
    preview = upload(requester, admin_url("questionset_import", question_set.pk), text)
    asked, _ = column_line(preview)
    assert "the month before the day: “03/04/2025” is “4 March 2025”" in asked
    chosen = {"columns": "1", "question": "0", "prompt": "1", "answer": "2"}
    chosen |= {"reading": "month first"}
    confirm(requester, requester.post(preview.request["PATH_INFO"], chosen, follow=True))
    assert question_set.questions.get(key="q2").grade("5 June 2025") is False
    assert question_set.questions.get(key="q2").grade("May 6, 2025") is True


def test_preview_tells_counted_answers_from_waiting_ones(requester):
    run = make_run(questions=50)
    engine.advance(run.pk)
    out = open_of(run)[0]
    keys = {a.question.key for a in open_of(run) if a.candidate_id == out.candidate_id}
    other = next(q.key for q in run.question_set.questions.all() if q.key not in keys)
    worker = out.candidate.worker.key
    text = (
        "worker,question,response\n"
        f"{worker},{out.question.key},yes\n"
        f"{worker},{other},no\n"
        f"stranger,{other},no\n"
    )
    preview = upload(requester, admin_url("run_import", run.pk), text)
    page_text = text_of(preview)
    assert "1 answer to open assignments will count at once" in page_text
    assert "1 answer will be held until the run asks" in page_text
    assert "4 There is no worker “stranger” in this run." in page_text
    assert not Answer.objects.exists()
    assert not RecordedAnswer.objects.exists()
    confirm(requester, preview)
    assert Answer.objects.get().assignment_id == out.pk
    assert RecordedAnswer.objects.get().question.key == other


def test_preview_says_answers_to_a_retired_question_need_its_restoration(requester):
    run = make_run()
    retired, other = run.question_set.questions.order_by("number")[:2]
    corrections.retire_question(retired, "ada", "ambiguous")
    text = (
        f"worker,question,response\nw0,{retired.key},yes\nw1,{retired.key},no\nw0,{other.key},yes"
    )
    page_text = text_of(upload(requester, admin_url("run_import", run.pk), text))
    assert "1 answer will be held until the run asks" in page_text
    assert "2 answers to retired questions will be kept and count only if" in page_text


def test_confirming_twice_imports_once(requester):
    pool = make_pool(0)
    preview = upload(requester, admin_url("pool_import", pool.pk), "worker\nada\n")
    confirm(requester, preview)
    second = text_of(confirm(requester, preview))
    assert "imported or discarded already" in second
    assert pool.workers.count() == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        (b"\xef\xbb\xbfworker\n\xff\xfe\xfa\n", "this is not text in UTF-8"),
        (b"%PDF-1.7", "is a PDF document; export the table as CSV"),
        (b"worker\nab\0c\n", "NUL character"),
    ],
)
def test_bad_file_is_refused_in_one_sentence_on_the_form(requester, text, reason):
    response = upload(requester, admin_url("pool_import", make_pool(0).pk), text)
    assert response.request["PATH_INFO"].endswith("/import/")
    assert text_of(response).count(reason) == 1
    assert not Upload.objects.exists()


def test_empty_form_asks_for_a_file_or_text(requester):
    response = requester.post(admin_url("pool_import", make_pool(0).pk), {"pasted": " "})
    assert "Choose a file or paste its lines" in text_of(response)


def test_answers_for_a_draft_are_refused(requester):
    run = make_run(start=False)
    response = upload(
        requester, admin_url("run_import", run.pk), "worker,question,response\nw0,q0,yes\n"
    )
    assert "is still a draft. Start it before you import answers." in text_of(response)


def test_the_bad_rows_can_be_downloaded(requester):
    preview = upload(requester, admin_url("pool_import", make_pool(0).pk), "worker\nada\nada\n")
    file = requester.get(preview.request["PATH_INFO"] + "?problems=csv")
    assert '3,"This worker is there already, in line 2."' in file.getvalue().decode()


def test_a_file_for_one_pool_cannot_be_taken_into_another(requester):
    pool, other = make_pool(0), make_pool(0)
    preview = upload(requester, admin_url("pool_import", pool.pk), "worker\nada\n")
    moved = preview.request["PATH_INFO"].replace(f"/{pool.pk}/", f"/{other.pk}/")
    assert requester.get(moved).status_code == 404
    requester.post(moved)
    assert other.workers.count() == 0


def test_answers_outside_the_choices_are_named_or_counted_as_wrong_by_a_switch(requester):
    run = make_run()
    run.question_set.questions.update(choices=["yes", "no"])
    engine.advance(run.pk)
    one, two = open_of(run)[:2]
    lines = [f"{a.candidate.worker.key},{a.question.key},{word}" for a, word in ((one, "yes"),)]
    lines.append(f"{two.candidate.worker.key},{two.question.key},maybe")
    text = "\n".join(["worker,question,response", *lines])
    preview = upload(requester, admin_url("run_import", run.pk), text)
    page_text = text_of(preview)
    assert "“maybe” is not among the choices: yes | no." in page_text
    assert "Count the 1 answer outside the choices as wrong" in page_text
    assert "Import 1 answer" in page_text
    url = preview.request["PATH_INFO"]
    switched = requester.get(url, {"outside": "wrong"})
    assert "Import 2 answers" in text_of(switched)
    assert "not among the choices" not in text_of(switched)
    assert 'type="hidden" name="outside" value="wrong"' in switched.content.decode()
    requester.post(url, {"outside": "wrong"})
    assert Answer.objects.get(pk=one.pk).right
    assert not Answer.objects.get(pk=two.pk).right


def test_answers_outside_the_choices_are_left_out_without_the_switch(requester):
    run = make_run()
    run.question_set.questions.update(choices=["yes", "no"])
    engine.advance(run.pk)
    out = open_of(run)[0]
    text = f"worker,question,response\n{out.candidate.worker.key},{out.question.key},maybe\n"
    confirm(requester, upload(requester, admin_url("run_import", run.pk), text))
    assert not Answer.objects.exists()


SWAPPED = (
    "the columns seem to be swapped. Name the columns, or correct the names in the first line."
)


def test_swapped_columns_of_answers_are_told_in_one_sentence(requester):
    run = make_run()
    engine.advance(run.pk)
    rows = [f"{a.question.key},{a.candidate.worker.key},yes" for a in open_of(run)]
    text = "\n".join(["worker,question,response", *rows])
    page_text = text_of(upload(requester, admin_url("run_import", run.pk), text))
    assert "The column “question” has this run's workers" in page_text
    assert page_text.count(SWAPPED) == 1
    rows = [f"{a.candidate.worker.key},yes,{a.question.key}" for a in open_of(run)]
    text = "\n".join(["worker,question,response", *rows])
    page_text = text_of(upload(requester, admin_url("run_import", run.pk), text))
    assert "The column “response” has this run's questions" in page_text


def test_swapped_columns_of_workers_and_questions_are_told_in_one_sentence(requester):
    text = "worker,name\nAda,w0\nGrace,w1\n"
    page_text = text_of(upload(requester, admin_url("pool_import", make_pool(3).pk), text))
    assert "The column “name” has this pool's workers" in page_text
    text = "question,prompt,answer\nA bird?,q0,yes\nA dog?,q1,yes\n"
    url = admin_url("questionset_import", make_questions(3).pk)
    page_text = text_of(upload(requester, url, text))
    assert "The column “prompt” has this set's questions" in page_text
    assert page_text.count(SWAPPED) == 1


def test_a_questions_file_says_how_answers_are_compared(requester):
    question_set = make_questions(0)
    text = (
        "question,prompt,answer,choices,grading\n"
        "q1,How long?,3.5,,number ±0.1\n"
        "q2,Which symbol?,Pa,,exact\n"
        "q3,Why?,so,,roughly\n"
        "q4,How many?,three,,number\n"
        "q5,A bird?,yes,yes,\n"
        "q6,A bird?,yes,yes|YES,\n"
    )
    preview = upload(requester, admin_url("questionset_import", question_set.pk), text)
    page_text = text_of(preview)
    assert "4 “roughly” is no way of grading" in page_text
    assert "5 “three” is not a number" in page_text
    assert "6 There is only one choice" in page_text
    assert "7 There is only one choice" in page_text
    confirm(requester, preview)
    assert question_set.questions.get(key="q1").grading == {"number": True, "tolerance": 0.1}
    assert question_set.questions.get(key="q2").grading == {"case": True, "spaces": True}
    assert question_set.questions.count() == 2


# -- columns


def test_unknown_columns_are_chosen_on_the_page_and_remembered(requester):
    pool = make_pool(0)
    address = admin_url("pool_import", pool.pk)
    text = "Chiffre;Wer;Stadt\nA1;Jörg;Köln\n".encode("cp1252")
    preview = upload(requester, address, text)
    page_text = text_of(preview)
    assert "We couldn’t tell which column holds the Worker ID. Choose it below" in page_text
    assert "Jörg" in page_text
    assert "Western European (Windows)" in page_text
    chosen = {"columns": "1", "worker": "0", "name": "1", "attributes": ["2"]}
    preview = requester.post(preview.request["PATH_INFO"], chosen, follow=True)
    assert "1 new worker will be added" in text_of(preview)
    confirm(requester, preview)
    worker = pool.workers.get()
    assert (worker.key, worker.name, worker.attributes) == ("A1", "Jörg", {"stadt": "Köln"})
    second = text_of(upload(requester, address, text))
    assert "The columns are assigned as in your last file with these columns." in second


def column_line(page) -> tuple[str, str]:
    """The part of the page that asks about columns, and the line of the recognised ones."""
    form = page.content.decode().split('class="cs-card cs-columns"')[1].split("</form>")[0]
    asked, line = form.rsplit("<summary>", 1)
    return asked, line.split("</summary>")[0]


def test_recognised_columns_are_one_line_and_nothing_is_asked(requester):
    run = make_run()
    text = "Kennung;Frage;Antwort\nw0;q1;ja\n"
    asked, line = column_line(upload(requester, admin_url("run_import", run.pk), text))
    assert "<select" not in asked
    assert line.startswith("Worker ID ← Kennung, Question ← Frage, Answer ← Antwort ·")


def test_only_the_unrecognised_column_is_asked_for_with_a_suggestion(requester):
    run = make_run()
    text = "Wer;Frage;Antwort\nw0;q1;yes\n"
    page = upload(requester, admin_url("run_import", run.pk), text)
    asked, line = column_line(page)
    assert asked.count("<select") == 1
    assert '<option value="0" selected>Wer</option>' in asked
    assert line.startswith("Question ← Frage, Answer ← Antwort ·")
    chosen = {"columns": "1", "worker": "0", "question": "1", "response": "2"}
    again = requester.post(page.request["PATH_INFO"], chosen, follow=True)
    assert column_line(again)[1].startswith("Worker ID ← Wer, Question ← Frage")


UNCLEAR = "question,choices,answer,level\nA bird?,yes|no,1,easy\nA dog?,yes|no,0,easy\n"


def test_two_readings_of_the_answers_are_asked_about_with_an_example(requester):
    question_set = make_questions(0)
    page = upload(requester, admin_url("questionset_import", question_set.pk), UNCLEAR)
    asked, line = column_line(page)
    assert "The answers can be read in more than one way." in text_of(page)
    assert "1 for yes, 0 for no: “1” is “yes”" in asked
    assert "left out: level" in line
    chosen = {"columns": "1", "prompt": "0", "choices": "1", "answer": "2", "question": "0"}
    page = requester.post(page.request["PATH_INFO"], chosen | {"reading": "1 is yes"}, follow=True)
    confirm(requester, page)
    assert question_set.questions.get(key="A bird?").accepted == ["yes"]


def test_choices_in_columns_stay_when_another_column_changes(requester):
    question_set = make_questions(0)
    text = "Chiffre,question,A,B,answer\nq7,Which?,gull,bat,B\n"
    page = upload(requester, admin_url("questionset_import", question_set.pk), text)
    assert "Choices ← A, B" in column_line(page)[1]
    chosen = {"columns": "1", "question": "0", "prompt": "1", "answer": "4"}
    page = requester.post(page.request["PATH_INFO"], chosen, follow=True)
    confirm(requester, page)
    question = question_set.questions.get(key="q7")
    assert (question.accepted, question.choices) == (["bat"], ["gull", "bat"])


def test_the_help_is_a_list(requester):
    page = requester.get(admin_url("questionset_import", make_questions(0).pk)).content.decode()
    assert "<li>tolerance, for numbers: 0.01 or 5%.</li>" in page


def test_column_cannot_have_two_meanings(requester):
    preview = upload(requester, admin_url("pool_import", make_pool(0).pk), "Chiffre;Wer\nA1;Ada\n")
    chosen = {"columns": "1", "worker": "0", "name": "0"}
    page = requester.post(preview.request["PATH_INFO"], chosen, follow=True)
    assert "The column “Chiffre” is chosen twice" in text_of(page)


def test_a_wrongly_detected_encoding_can_be_changed(requester):
    pool = make_pool(0)
    text = "worker,name\nA1,Łukasz\nA2,Marek\n".encode("cp1250")
    preview = upload(requester, admin_url("pool_import", pool.pk), text)
    chosen = {"columns": "1", "worker": "0", "name": "1", "encoding": "cp1250"}
    confirm(requester, requester.post(preview.request["PATH_INFO"], chosen, follow=True))
    assert pool.workers.get(key="A1").name == "Łukasz"


def test_a_file_of_another_kind_and_a_problem_of_all_rows_are_told_in_one_sentence(requester):
    gold = "question,prompt,answer\nq1,A bird?,yes\n"
    text = text_of(upload(requester, admin_url("pool_import", make_pool(0).pk), gold))
    assert "This looks like a file of gold questions, not a file of workers." in text
    assert "Import it into a question set." in text
    rounded = "worker\n" + "".join(f"{i}.1E+15\n" for i in range(9))
    text = text_of(upload(requester, admin_url("pool_import", make_pool(0).pk), rounded))
    assert text.count("before a spreadsheet rounded it") == 1


def test_an_import_is_undone_from_its_page(requester):
    pool = make_pool(1)
    address = admin_url("pool_import", pool.pk)
    preview = upload(requester, address, "worker,name\nw0,New\nada,Ada\n")
    confirm(requester, preview)
    assert "Last imported here: file.csv , 2 workers" in text_of(requester.get(address))
    page = requester.get(preview.request["PATH_INFO"])
    assert "Undo this import" in text_of(page)
    undone = requester.post(preview.request["PATH_INFO"], {"undo": "1"}, follow=True)
    assert "Import of file.csv undone." in text_of(undone)
    assert list(pool.workers.values_list("key", "name")) == [("w0", "Worker 0")]
    assert "Last imported" not in text_of(requester.get(address))


def test_a_large_file_says_how_far_it_is_checked(requester, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 0)
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **how: None)
    pool = make_pool(0)
    text = "worker\n" + "".join(f"w{i}\n" for i in range(2500))
    preview = upload(requester, admin_url("pool_import", pool.pk), text)
    assert "1,000 of about 2,501 rows checked." in text_of(preview)
    assert "Import 2,500" not in text_of(preview)
    jobs.work_on_job(Upload.objects.get().pk)
    preview = requester.get(preview.request["PATH_INFO"])
    assert "Import 2,500 workers" in text_of(preview)
    confirm(requester, preview)
    assert pool.workers.count() == 2500
