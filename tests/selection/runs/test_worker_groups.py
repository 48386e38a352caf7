"""Runs of workers in known groups, each with a population of its own."""

import csv
import io
import json
from typing import Any

import pytest

from selection import engine, exports, reports
from selection.engine import arrays
from selection.errors import Refused
from selection.forecast import draft_forecast
from selection.models import Run
from selection.runs import changes, lifecycle
from selection.runs.roster import enrolment, membership
from selection.runs.settings import drafts, validation
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, play
from topk.verify import digest_of, verify_dump

pytestmark = pytest.mark.django_db

RULE: dict[str, Any] = {"algorithm": "universal", "epsilon": 0.2, "k": 2, "slots": 60}
GROUPED = RULE | {"grouped_by": "source"}
SENTENCE = "whatever population each group of workers comes from"
ASSUMED = "nothing distinguished the good workers of a group from the others of the group"


def label_of(run: Run, key: str) -> str:
    return str(run.options["groups"][run.candidates.get(worker__key=key).arm])


def test_a_run_by_groups_goes_from_its_start_to_its_export_and_verification():
    pool = make_pool(10, source=["proven", "proven", "new", "new", ""])
    run = play(make_run(pool=pool, **GROUPED), crowd(3, good=2))
    assert run.ending == "promise"
    labels = [label_of(run, f"w{i}") for i in range(5)]
    assert labels == ["proven", "proven", "new", "new", "not given"]
    status = reports.guarantee_of_run(run)
    assert SENTENCE in status.text
    assert SENTENCE in status.text
    assert ASSUMED in status.assumptions
    text = b"".join(exports.make_file(run, "csv").pieces).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {(row["worker"], row["group"]) for row in rows} == {("w0", "proven"), ("w1", "proven")}
    for anonymous in (False, True):
        document = json.loads(json.dumps(reports.dump_run(run, anonymous=anonymous)))
        assert document["run"]["grouped_by"] == "source"
        assert ("proven" in str(document["run"]["options"]["groups"])) != anonymous
        assert not verify_dump(document).findings


def test_a_verification_recomputes_the_guarantee_by_the_groups():
    """Other groups certify another epsilon: a run that ended early says which."""
    run = make_run(
        pool=make_pool(8, source=["a", "b"]), questions=40, **GROUPED | {"epsilon": 0.05}
    )
    play(run, crowd(3, good=4))
    document = json.loads(json.dumps(reports.dump_run(run)))
    assert not verify_dump(document).findings
    assert 0 < document["result"]["epsilon"] < 1
    del document["run"]["options"]["groups"]
    document["digest"] = digest_of(document)
    about = {finding.about for finding in verify_dump(document).findings}
    assert about
    assert "File" not in about


def test_single_group_asks_and_ends_like_no_groups():
    same = {"pool": make_pool(8, source=["all"]), "question_set": make_questions(200)}
    plain, grouped = (
        play(make_run(**same, **fields), crowd(3, good=4)) for fields in (RULE, GROUPED)
    )
    counts = [
        list(run.candidates.order_by("arm").values_list("worker__key", "asked", "rewards"))
        for run in (plain, grouped)
    ]
    assert counts[0] == counts[1]
    gaps = [list(run.history.values_list("gap", flat=True)) for run in (plain, grouped)]
    assert gaps[0] == gaps[1]


def test_a_withdrawn_worker_keeps_their_group():
    run = make_run(pool=make_pool(9, source=["a", "b", "c"]), **GROUPED)
    for _ in range(3):
        engine.advance(run.pk)
        answer_all(run, crowd(3, good=4))
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w2"])
    state = arrays.load_arrays(Run.objects.get(pk=run.pk)).selector.state
    assert state.gone_groups == ("c",)
    assert state.gone[1, 0] > 0
    run = play(run, crowd(3, good=4))
    assert run.ending == "promise"
    document = json.loads(json.dumps(reports.dump_run(run, anonymous=True)))
    assert not verify_dump(document).findings


def test_joining_worker_belongs_to_their_group():
    run = make_run(pool=make_pool(8, source=["a", "b"]), enrolling=True, **GROUPED)
    enrolment.enrol_worker(run, "late", attributes={"Source": "b"})
    enrolment.enrol_worker(run, "later", attributes={"source": "z"})
    enrolment.enrol_worker(run, "last")
    run.refresh_from_db()
    assert run.options["groups"][-3:] == ["b", "z", "not given"]
    assert engine.advance(run.pk) is not None
    assert SENTENCE in reports.guarantee_of_run(run).text


@pytest.mark.parametrize(
    ("fields", "values", "message"),
    [
        ({"algorithm": "certified"}, ["a", "b"], "Certified knows no groups of workers; Universal"),
        ({"grouped_by": "sauce"}, ["a", "b"], "No worker of this pool has the attribute “sauce”."),
        ({}, [str(i) for i in range(8)], "By “source” every worker would be a group of their own"),
    ],
)
def test_a_run_that_cannot_use_its_groups_is_refused(fields, values, message):
    run = make_run(pool=make_pool(8, source=values), start=False, **GROUPED | fields)
    faults = validation.validate_stored_run(run, 8)
    assert list(faults) == ["grouped_by"]
    assert message in faults["grouped_by"]
    with pytest.raises(Refused, match=message.split("“")[0]):
        lifecycle.start_run(run)


def test_too_many_groups_are_refused():
    values = [str(i % 51) for i in range(60)]
    run = make_run(pool=make_pool(60, source=values), start=False, **GROUPED)
    reason = validation.validate_stored_run(run, 60)["grouped_by"]
    assert reason == (
        "“source” has 51 values, but there can be at most 50 groups: choose an attribute with "
        "fewer."
    )


def test_a_copy_has_the_setting_and_gets_its_own_groups():
    run = make_run(pool=make_pool(8, source=["a", "b"]), **GROUPED)
    copied = drafts.copy_run(run, "Again")
    assert copied.grouped_by == "source"
    assert "groups" not in copied.options


def test_a_changed_epsilon_and_a_forecast_speak_of_the_groups():
    run = make_run(pool=make_pool(8, source=["a", "b"]), **GROUPED)
    assert SENTENCE in changes.preview_changes(run, {"epsilon": 0.1})["epsilon"]
    draft = make_run(pool=make_pool(8, source=["a", "b"]), start=False, **GROUPED)
    draft_forecast.request_draft_forecast(draft)
    assert draft_forecast.draft_forecast(draft).rough == "The forecast ignores groups of workers."
