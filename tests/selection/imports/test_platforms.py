"""Recognition of the platforms' files by their columns."""

import json

import pytest

from selection.errors import Refused
from selection.imports import column_plan, platforms
from selection.imports.row_parsers import BadRow
from tests import file_rows

from .readers.files import said, workbook

BATCH = (
    "HITId,HITTypeId,Title,Description,Keywords,Reward,CreationTime,MaxAssignments,"
    "RequesterAnnotation,AssignmentDurationInSeconds,AutoApprovalDelayInSeconds,Expiration,"
    "NumberOfSimilarHITs,LifetimeInSeconds,AssignmentId,WorkerId,AssignmentStatus,AcceptTime,"
    "SubmitTime,AutoApprovalTime,ApprovalTime,RejectionTime,RequesterFeedback,WorkTimeInSeconds,"
    "LifetimeApprovalRate,Last30DaysApprovalRate,Last7DaysApprovalRate,Input.question_id,"
    "Input.image_url,Answer.label,Approve,Reject"
)


def batch(*rows: tuple[str, str, str]) -> str:
    """(worker, question, label)"""
    names = BATCH.split(",")
    lines = [BATCH]
    for worker, question, label in rows:
        own = {"WorkerId": worker, "Input.question_id": question, "Answer.label": label}
        lines.append(",".join(f'"{own.get(name, name.lower())}"' for name in names))
    return "\n".join(lines)


# -- workers


def test_mturks_worker_file():
    raw = (
        "Worker ID,Number of HITs approved or rejected - Lifetime,Your Lifetime Approval Rate,"
        "CURRENT-Birds,UPDATE-Birds\nA1,12,100%,90,\nA2,3,50%,,Revoke\n"
    )
    plan, (first, second) = said("workers", raw)
    assert plan.title == "MTurk's worker file"
    assert (first.worker, second.worker) == ("A1", "A2")
    assert first.attributes["current-birds"] == "90"
    assert not any("update" in name for name in second.attributes)


def test_workers_of_mturks_batch_results():
    plan, rows = said("workers", batch(("A1", "q1", "yes"), ("A1", "q2", "no"), ("A2", "q1", "no")))
    assert (plan.title, plan.repeats) == ("MTurk's batch results", True)
    assert [(row.worker, row.attributes) for row in rows] == [("A1", {}), ("A1", {}), ("A2", {})]


@pytest.mark.parametrize("name", ["Participant id", "Participant ID", "participant_id"])
def test_prolifics_export(name):
    raw = (
        f"Submission id,{name},Status,Started at,Completed at,Time taken,Completion code,Age,Sex\n"
        "s1,5f2a0c1e9b3d4a0012345678,APPROVED,2026-01-01,2026-01-01,61,C0DE,31,Female\n"
    )
    plan, (row,) = said("workers", raw)
    assert plan.title == "a Prolific export"
    assert (row.worker, row.attributes) == (
        "5f2a0c1e9b3d4a0012345678",
        {"age": "31", "sex": "Female"},
    )


@pytest.mark.parametrize(
    "header", ["Submission id,Participant id,Status,Started at", "x,PROLIFIC_PID,y,z"]
)
@pytest.mark.parametrize("key", ["5F2A0C1E9B3D4A0012345678", "5f2a0c1e", "ada@x.org"])
def test_what_is_no_id_of_prolific_is_refused(header, key):
    _, (row,) = said("workers", f"{header}\ns1,{key},APPROVED,2026\n")
    assert "is no id of Prolific" in row.why


def test_a_list_of_ids_has_no_header_to_lose():
    raw = "5f2a0c1e9b3d4a0012345678\n5f2a0c1e9b3d4a0012345679\n"
    plan, rows = said("workers", raw)
    assert not plan.headed
    assert [(row.line, row.worker[-1]) for row in rows] == [(1, "8"), (2, "9")]
    _, named = said("workers", "Worker ID\nA1\n")
    assert [row.worker for row in named] == ["A1"]


def test_a_german_excel_file_of_workers():
    raw = workbook([["worker", "Name", "Größe", "Stadt"], ["A1", "Jörg", 1.8, "Köln"]])
    _, (row,) = said("workers", raw)
    assert (row.worker, row.name) == ("A1", "Jörg")
    assert row.attributes == {"größe": "1.8", "stadt": "Köln"}


# -- questions and answers


def studio(ground_truth: bool = True, **data: str) -> str:
    choice = {"value": {"choices": ["Bird"]}, "from_name": "label", "type": "choices"}
    given = {"completed_by": 3, "result": [choice], "was_cancelled": False}
    cancelled = given | {"was_cancelled": True}
    annotations = [given | {"ground_truth": ground_truth}, cancelled]
    return json.dumps([{"id": 17, "data": data or {"text": "What?"}, "annotations": annotations}])


def test_label_studios_ground_truth_becomes_questions():
    plan, (row,) = said("questions", studio(text="What is it?"))
    assert plan.title == "a Label Studio export"
    assert (row.question, row.prompt, row.accepted) == ("17", "What is it?", ["Bird"])
    assert said("questions", studio(ground_truth=False))[1] == []


def test_a_picture_beside_a_text_is_shown_and_one_alone_is_the_prompt():
    _, (both,) = said("questions", studio(text="What is it?", image="https://a.b/1.jpg"))
    assert both.prompt == "What is it?\n\n![](<https://a.b/1.jpg>)"
    _, (alone,) = said("questions", studio(image="https://a.b/1.jpg"))
    assert alone.prompt == "https://a.b/1.jpg"


def test_label_studios_annotations_become_answers():
    _, (row,) = said("answers", studio(ground_truth=False, question_id="q7", text="What?"))
    assert (row.worker, row.question, row.response) == ("3", "q7", "Bird")


def test_toloka_style_golden_tasks_become_questions_and_others_are_passed_over():
    raw = (
        "INPUT:id\tINPUT:image\tGOLDEN:result\tHINT:text\tTASK:overlap\n"
        "q1\thttps://a.b/1.jpg\tcat\t\t3\nq2\thttps://a.b/2.jpg\t\t\t3\n"
    )
    plan, (row,) = said("questions", raw)
    assert plan.title == "a Toloka-style file"
    assert (row.question, row.prompt, row.accepted) == ("q1", "https://a.b/1.jpg", ["cat"])


def test_toloka_style_task_without_a_name_is_named_by_its_prompt():
    _, (row,) = said("questions", "INPUT:image\tGOLDEN:result\nhttps://a.b/1.jpg\tcat\n")
    assert row.question == row.prompt == "https://a.b/1.jpg"


def test_toloka_style_results_become_answers():
    raw = (
        "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:link\tASSIGNMENT:assignment_id\t"
        "ASSIGNMENT:worker_id\tASSIGNMENT:started\tASSIGNMENT:status\n"
        "https://a.b/1.jpg\tcat\t\thttps://l\ta1\tw9\t2026\tAPPROVED\n"
    )
    _, (row,) = said("answers", raw)
    assert (row.worker, row.question, row.response) == ("w9", "https://a.b/1.jpg", "cat")


def test_answers_of_mturks_batch_results():
    plan, rows = said("answers", batch(("A1", "q1", "yes"), ("A2", "q1", "no")))
    assert plan.title == "MTurk's batch results"
    assert [(row.worker, row.question, row.response) for row in rows] == [
        ("A1", "q1", "yes"),
        ("A2", "q1", "no"),
    ]


@pytest.mark.parametrize("worker", ["PROLIFIC_PID", "Participant id", "worker"])
@pytest.mark.parametrize("question", ["question", "task"])
@pytest.mark.parametrize("response", ["response", "label"])
def test_crowd_kits_triples_and_own_files_of_prolific_participants(worker, question, response):
    _, (row,) = said("answers", f"{question};{worker};{response}\nt1;5f2a;yes\n")
    assert (row.worker, row.question, row.response) == ("5f2a", "t1", "yes")


def test_label_studios_csv_names_tasks_by_their_number():
    raw = (
        "annotation_id,annotator,created_at,id,label,lead_time,text\n9,a@b.org,x,7,Gull,1.5,What?\n"
    )
    plan, (row,) = said("answers", raw)
    assert plan.title == "Label Studio's CSV or short JSON"
    assert (row.worker, row.question, row.response) == ("a@b.org", "7", "Gull")


def test_labels_that_crowd_kit_aggregated_are_known_answers():
    assert file_rows.parse_gold("task,agg_label\nq1,yes\nq2,no\n", "f") == {
        "q1": "yes",
        "q2": "no",
    }


# -- files of other kinds


def test_a_file_of_another_kind_is_told_where_it_belongs():
    gold = ["question", "prompt", "answer", "choices"]
    assert "Import it into a question set" in platforms.suggest_other_kind("workers", gold)
    assert "Import it into a pool" in platforms.suggest_other_kind(
        "answers", ["Worker ID", "UPDATE-Birds"]
    )
    assert "Import it into a run" in platforms.suggest_other_kind(
        "questions", ["worker", "task", "label"]
    )
    assert platforms.suggest_other_kind("answers", ["worker", "task", "said"]) == ""
    mturk = ["HITId", "AssignmentId", "WorkerId", "Input.id", "Answer.label"]
    assert platforms.suggest_other_kind("questions", mturk) == (
        "This looks like MTurk's batch results, not a file of gold questions. Import the answers "
        "into a run, or the workers into a pool."
    )


def test_columns_can_be_named_by_hand_and_wrong_names_are_refused():
    columns = ["Kennung", "Voller Name", "Stadt", "Notiz"]
    pairs = [("Kennung", "worker"), ("Voller Name", "name"), ("Notiz", "")]
    plan = column_plan.apply_column_choices(
        platforms.recognise_columns("workers", columns), columns, pairs
    )
    assert plan.fields == {"worker": "Kennung", "name": "Voller Name"}
    assert plan.attributes == ["Stadt"]
    with pytest.raises(Refused, match="no column “Ort”; the file has Kennung"):
        column_plan.apply_column_choices(
            platforms.recognise_columns("workers", columns), columns, [("Ort", "worker")]
        )
    with pytest.raises(Refused, match="choose worker, name, email, attribute"):
        column_plan.apply_column_choices(
            platforms.recognise_columns("workers", columns), columns, [("Stadt", "city")]
        )


def test_signature_ignores_order_and_spelling_of_column_names():
    assert platforms.columns_signature(["Worker ID", "Name"]) == platforms.columns_signature(
        ["name", "worker_id"]
    )
    assert platforms.columns_signature(["Worker ID"]) != platforms.columns_signature(["Name"])


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("w\u202e1", "an invisible character (U+202E)"),
        ("w\u200b1", "an invisible character (U+200B)"),
        ("1.23E+15", "was a longer number before a spreadsheet rounded it"),
        ("1,23E+15", "was a longer number before a spreadsheet rounded it"),
        ("w" * 201, "longer than 200 characters"),
        ("", "The column “Worker ID” is empty."),
    ],
)
def test_invalid_name_is_refused_with_its_column(cell, why):
    _, (row,) = said("workers", f'Worker ID;name\n"{cell}";Ada\n')
    assert isinstance(row, BadRow)
    assert why in row.why


def test_a_text_that_turns_the_reading_around_is_refused_and_other_languages_are_not():
    _, (bad, good) = said(
        "questions", "question,prompt,answer\nq1,a\u202eb,yes\nq2,\u2067שלום\u2069 \u200fعربي,yes\n"
    )
    assert "reverses the direction of the text" in bad.why
    assert good.prompt == "\u2067שלום\u2069 \u200fعربي"


@pytest.mark.parametrize(
    "raw",
    [
        "worker,SessionIP,AssignmentId,Bonus,Age\nA1,203.0.113.7,as1,0,44\n",
        "Teilnehmer;IP-Adresse;Sitzungs-ID;Age\nA1;203.0.113.7;s1;44\n",
        "participant;adresse IP;session;Age\nA1;2001:db8::1;s1;44\n",
        "worker,where,user agent,Age\nA1,2001:db8::1,Firefox,44\n",
        "worker,IP adresi,response_id,LocationLatitude,Age\nA1,203.0.113.7,r1,1.5,44\n",
        "_worker_id,_unit_id,_trust,_ip,x\nA1,u1,44,203.0.113.7,1\n",
    ],
)
def test_nothing_about_a_computer_or_a_visit_becomes_an_attribute(raw):
    _, (row,) = said("workers", raw)
    assert row.worker == "A1"
    assert [*row.attributes.values()] == ["44"]


def test_a_membership_is_no_address_of_a_computer():
    _, (row,) = said("workers", "worker,membership,zip\nA1,gold,10115\n")
    assert row.attributes == {"membership": "gold", "zip": "10115"}
