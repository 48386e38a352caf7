"""Dumps: enough to recompute a run's end, and every change of one is a finding."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User

from packages.topk.tests.parameters import mostly_slow
from selection import engine, reports
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Run, Skill
from selection.questions import corrections
from selection.runs import changes, lifecycle
from selection.runs.roster import membership, roster_opening
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, play
from topk.verify import ANSWER, DumpError, digest_of, verify_dump

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ONE = [name for name, kind in ALGORITHMS.items() if not kind.several_skills]
SEVERAL = [name for name, kind in ALGORITHMS.items() if kind.takes_skills]
# One of each kind of memory: tallies, rounds, phases, the best of all looks.
FAMILIES = ["lucb", "certified", "credible", "adaptive-top-k", "kl-racing"]
FAMILIES += ["sar", "gap-e", "ugape-b", "opt-mai-budget", "same-questions"]
# Of these, `make test` ends runs of five, changes runs of two on the way, and damages dumps of two.
SOME = ["lucb", "certified", "adaptive-top-k", "sar", "same-questions"]
FEW = ["certified", "adaptive-top-k"]
DAMAGED = ["lucb", "certified", "adaptive-top-k", "sar", "ugape-b", "same-questions"]
BUDGET = 150


def run_of(name: str, start: bool = True, **fields: object) -> Run:
    values: dict[str, Any] = {
        "algorithm": name,
        "k": 1 if name == "lil-ucb" else 2,
        "slots": 120,
        "slots_per_worker": 40,
        "epsilon": 0.4,
        "questions": 1000,
    } | fields
    if "budget" in ALGORITHMS[name].needs:
        values.setdefault("budget", BUDGET)
    if ALGORITHMS[name].takes_mark:
        values.setdefault("pass_mark", 0.8)
    return make_run(start=start, **values)


def dump_document(run: Run, **how: bool) -> dict[str, Any]:
    """Return the dump as read from a file."""
    run.refresh_from_db()
    return json.loads(json.dumps(reports.dump_run(run, **how)))


def check_dump(run: Run) -> dict[str, Any]:
    """Check that the dump is verified, also without names, and agrees with the run's pages."""
    document = dump_document(run)
    verification = verify_dump(document)
    assert [str(standing) for standing in verification.findings] == []
    line = [standing for standing in reports.worker_standings(run) if standing.by_algorithm]
    assert len(verification.selection) == len(line)
    assert {name.split(",")[0] for name in verification.selection} == {
        standing.worker for standing in line
    }
    assert verification.epsilon == reports.guarantee_of_run(run).epsilon or not run.finished
    assert verify_dump(dump_document(run, anonymous=True)).same
    return document


# -- true dumps are verified


@pytest.mark.parametrize("name", mostly_slow(ONE, SOME))
def test_finished_run_is_verified(name):
    run = play(run_of(name), crowd(1, good=2), most=80)
    check_dump(run)
    assert run.steps > 1


@pytest.mark.parametrize("name", mostly_slow(FAMILIES, FEW))
def test_stopped_run_is_verified(name):
    few = {"slots": 30, "slots_per_worker": 5, "budget": 600, "questions": 3000}
    run = play(run_of(name, epsilon=0.05, **few), crowd(1, good=2), most=4)
    assert run.status == Run.Status.RUNNING
    check_dump(run)
    lifecycle.stop_run(run)
    check_dump(run)


@pytest.mark.parametrize("name", mostly_slow(FAMILIES, FEW))
def test_run_with_corrected_and_retired_gold_is_verified(name):
    question_set = make_questions(400)
    question_set.questions.filter(number__lt=40).update(accepted=["no"])
    run = run_of(name, question_set=question_set, slots=30, slots_per_worker=5)
    play(run, crowd(1, good=2), most=5)
    for question in question_set.questions.filter(number__lt=40):
        if corrections.is_asked(question):
            gold = corrections.Gold(question.prompt, ["yes"], [], {})
            corrections.correct_question(question, gold, "ada", "the key was wrong")
            break
    corrections.retire_question(question_set.questions.get(number=50), "ada", "ambiguous")
    check_dump(play(run, crowd(1, good=2), most=30))


@pytest.mark.parametrize("name", mostly_slow(FAMILIES, FEW))
def test_run_with_leavers_is_verified(name):
    run = play(run_of(name, slots=30, slots_per_worker=5), crowd(1, good=2), most=4)
    if run.status == Run.Status.RUNNING:
        membership.record_leaving(run, run.candidates.get(worker__key="w5").worker_id)
    play(run, crowd(1, good=2), most=4)
    if Run.objects.get(pk=run.pk).status == Run.Status.RUNNING:
        membership.record_leaving(run, run.candidates.get(worker__key="w4").worker_id)
    check_dump(play(run, crowd(1, good=2), most=40))


@pytest.mark.parametrize("name", mostly_slow(FAMILIES, FEW))
def test_run_with_failed_practice_is_verified(name):
    run = play(run_of(name, slots=30, slots_per_worker=5, budget=600), crowd(1, good=2), most=1)
    membership.record_failed_screening(run, run.candidates.get(worker__key="w5").worker_id)
    check_dump(play(run, crowd(1, good=2), most=30))


@pytest.mark.parametrize("name", mostly_slow(SEVERAL, ordinary=("clucb-pac",)))
@pytest.mark.parametrize("one_kind_each", [False, True])
def test_run_of_several_question_sets_is_verified(name, one_kind_each):
    if one_kind_each and not ALGORITHMS[name].matches:
        pytest.skip("It does not keep workers to one kind.")
    run = run_of(name, start=False, k=1, one_kind_each=one_kind_each)
    Skill.objects.create(run=run, number=1, question_set=make_questions(1000), k=2)
    lifecycle.start_run(run)
    check_dump(play(Run.objects.get(pk=run.pk), crowd(1, good=3), most=60))


def test_run_about_its_question_set_is_verified():
    run = run_of("certified", options={"accuracy": "on this question set"}, questions=40)
    document = check_dump(play(run, crowd(1, good=2)))
    assert "on this set of 40 questions" in document["result"]["guarantee"]


def test_run_with_quotas_is_verified():
    run = run_of("certified", start=False, pool=make_pool(8, country=["fr", "it"]))
    run.quotas = {"attribute": "country", "limits": {"fr": [1, 1]}}
    run.save()
    lifecycle.start_run(run)
    check_dump(play(run, crowd(1, good=3)))


def test_run_of_recorded_answers_is_verified():
    run = run_of("certified", recorded_only=True, questions=60)
    rng = np.random.default_rng(3)
    rows = [
        AnswerRow(
            line, f"w{worker}", f"q{number}", "yes" if rng.random() < 1 - worker / 8 else "no"
        )
        for line, (worker, number) in enumerate(np.ndindex(6, 60))
    ]
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    check_dump(play(run, crowd(1, good=2)))


def test_run_with_late_joiners_is_verified():
    run = run_of("lucb", start=False, enrolling=True, pool=make_pool(4))
    lifecycle.start_run(run)
    play(run, crowd(1, good=2), most=3)
    from_outside = run.pool.workers.create(key="w9")
    roster_opening.join_roster(run, from_outside)
    roster_opening.close_roster(run)
    check_dump(play(run, crowd(1, good=2)))


@pytest.mark.parametrize("name", FEW)
def test_run_with_a_changed_epsilon_is_verified(name):
    run = play(run_of(name, epsilon=0.05, slots=30, slots_per_worker=5), crowd(1, good=2), most=5)
    changes.apply_changes(run, {"epsilon": 0.5})
    check_dump(play(run, crowd(1, good=2)))


def test_draft_cannot_be_dumped():
    with pytest.raises(Refused, match="has not begun"):
        reports.dump_run(make_run(start=False))


def test_anonymous_dump_has_no_names_and_no_texts():
    run = play(run_of("lucb"), crowd(1, good=2), most=3)
    membership.record_leaving(run, run.candidates.get(worker__key="w5").worker_id)
    text = json.dumps(reports.dump_run(run, anonymous=True), ensure_ascii=False)
    for word in ("w5", "Worker 1", "Say yes", '"yes"', "“"):
        assert word not in text
    whole = json.dumps(reports.dump_run(run), ensure_ascii=False)
    for word in ("w5", "Worker 1", "Say yes", '"yes"'):
        assert word in whole


# -- changes are findings

DUMPED: dict[str, dict[str, Any]] = {}


@pytest.fixture(params=mostly_slow(DAMAGED, ordinary=("lucb", "certified")))
def document(request) -> dict[str, Any]:
    """Return a dump to read, of a run that is played once."""
    if request.param not in DUMPED:
        DUMPED[request.param] = dump_document(play(run_of(request.param), crowd(1, good=2)))
    return copy.deepcopy(DUMPED[request.param])


def finding_text(document: dict[str, Any]) -> str:
    """Return the findings in a changed document with a renewed digest."""
    document["digest"] = digest_of(document)
    return "; ".join(map(str, verify_dump(document).findings))


def answers_of(document: dict[str, Any], arm: int = 0) -> list[list[Any]]:
    return next(row for row in document["candidates"] if row["arm"] == arm)["answers"]


QUESTION, POSITION, RIGHT, VOID, COUNTED = (ANSWER.index(name) for name in ANSWER)


@pytest.mark.parametrize("anonymous", [False, True])
def test_text_equals_the_document_for_any_batch_size(anonymous, monkeypatch):
    run = run_of("lucb", n=7)
    play(run, crowd(1, good=2), most=3)
    monkeypatch.setattr(sys.modules["selection.reports.dump"], "AT_ONCE", 3)
    run.refresh_from_db()
    document = reports.dump_run(run, anonymous)
    assert "".join(reports.dump_text(run, anonymous)) == json.dumps(document, ensure_ascii=False)
    assert document["digest"] == digest_of(document)
    assert [len(candidate["answers"]) for candidate in document["candidates"]] == [
        candidate.asked for candidate in run.candidates.order_by("worker_id")
    ]


def test_digest_reveals_a_changed_file(document):
    document["run"]["name"] = "another"
    (finding,) = verify_dump(document).findings
    assert "its digest" in str(finding)


def test_tallies_and_replay_reveal_a_changed_answer(document):
    changed = copy.deepcopy(document)
    answer = answers_of(changed)[0]
    answer[RIGHT] = not answer[RIGHT]
    assert "answers are right, and" in finding_text(changed)
    row = next(row for row in changed["candidates"] if row["arm"] == 0)
    row["rewards"] += 1 if answer[RIGHT] else -1
    findings = finding_text(changed)
    assert "answers are right" not in findings
    assert findings or verify_dump(changed).selection == verify_dump(document).selection


def test_enough_changed_answers_change_the_selection(document):
    changed = copy.deepcopy(document)
    best = changed["result"]["selection"][0]
    for answer in answers_of(changed, best):
        answer[RIGHT] = False
    row = next(row for row in changed["candidates"] if row["arm"] == best)
    row["rewards"] = 0.0
    findings = finding_text(changed)
    assert "Selection" in findings or "does not take them" in findings or "Answers" in findings


def test_changed_verdict_is_a_finding(document):
    changed = copy.deepcopy(document)
    row = next(row for row in changed["candidates"] if row["verdict"] == 1)
    row["verdict"] = -1
    name = changed["workers"][row["worker"]]["worker"]
    assert f"Worker {name}: accepted by these answers, and stated to be rejected" in finding_text(
        changed
    )


def test_changed_selection_is_a_finding(document):
    changed = copy.deepcopy(document)
    chosen = changed["result"]["selection"]
    other = next(arm for arm in range(6) if arm not in chosen)
    chosen[0] = other
    findings = finding_text(changed)
    assert "is selected" in findings
    assert "is not" in findings


def test_changed_order_is_a_finding(document):
    """The seed decides the order of questions, and positions the order in which they count."""
    changed = copy.deepcopy(document)
    answers = answers_of(changed)
    answers[0][QUESTION], answers[1][QUESTION] = answers[1][QUESTION], answers[0][QUESTION]
    assert "did not come in the order that the seed gives" in finding_text(changed)
    changed = copy.deepcopy(document)
    answers = answers_of(changed)
    answers[-1][COUNTED], answers[0][COUNTED] = answers[0][COUNTED], None
    assert "not counted in the order asked" in finding_text(changed)


def test_changed_seed_is_a_finding(document):
    changed = copy.deepcopy(document)
    changed["run"]["seed"] += 1
    findings = finding_text(changed)
    assert "not numbered as this seed" in findings
    assert "in the order that the seed gives" in findings


def test_omitted_answer_is_a_finding(document):
    changed = copy.deepcopy(document)
    del answers_of(changed)[0]
    assert "without a gap" in finding_text(changed)


@pytest.mark.parametrize(
    ("name", "value", "finding"),
    [("epsilon", 0.01, "ε"), ("guarantee", "The best, for certain.", "what holds is")],
)
def test_changed_guarantee_is_a_finding(name, value, finding):
    document = dump_document(play(run_of("lucb"), crowd(1, good=2)))
    document["result"][name] = value
    assert finding in finding_text(document)


def test_false_ending_is_a_finding():
    run = play(run_of("lucb", epsilon=0.05, slots=12, slots_per_worker=2), crowd(1, good=2), most=5)
    lifecycle.stop_run(run)
    document = dump_document(run)
    document["run"]["ending"] = "guarantee"
    assert "by these answers the gap is" in finding_text(document)


def test_false_proof_is_a_finding():
    run = play(run_of("lucb", epsilon=0.05, slots=30), crowd(1, good=2), most=9)
    lifecycle.stop_run(run)
    document = dump_document(run)
    assert document["best_guarantee"]
    document["best_guarantee"]["epsilon"] /= 2
    assert "was guaranteed, and" in finding_text(document)


# -- without Django


ALONE = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"django", "celery", "selection", "crowdselect"}:
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Nothing())
from topk.verify.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_core_package_alone_verifies_a_dump(tmp_path: Path):
    path = tmp_path / "dump.json"
    document = dump_document(play(run_of("adaptive-top-k"), crowd(1, good=2)), anonymous=True)
    path.write_text(json.dumps(document))
    ran = verify_alone(path)
    assert (ran.returncode, "is the same" in ran.stdout) == (0, True), ran.stderr
    document["result"]["epsilon"] = 0.001
    path.write_text(json.dumps(document))
    ran = verify_alone(path)
    assert (ran.returncode, "The dump says otherwise" in ran.stdout) == (1, True)
    path.write_text("[]")
    assert (verify_alone(path).returncode, verify_alone(path).stderr[:15]) == (2, "This is no dump")


def verify_alone(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ALONE, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("spoilt", [None, [], {}, {"format": "crowdselect-run", "version": 2}])
def test_foreign_documents_are_refused(spoilt):
    with pytest.raises(DumpError, match="This"):
        verify_dump(spoilt)


@pytest.mark.slow
def test_damaged_dump_is_refused_or_has_a_finding():
    """Every value is removed once, and once replaced by a value of another type."""
    run = play(run_of("adaptive-top-k", slots=30, slots_per_worker=5), crowd(1, good=2), most=3)
    document = dump_document(run, anonymous=True)
    for part in ("run", "result", "memory"):
        for name in document[part]:
            for value in (None, "x", -1, [], {}, 1e30):
                spoilt = copy.deepcopy(document)
                spoilt[part][name] = value
                assert spoilt == document or has_findings(spoilt)
    for name in set(document) - {"anonymous", "digest", "software"}:
        spoilt = {key: value for key, value in document.items() if key != name}
        with pytest.raises(DumpError):
            verify_dump(spoilt)


def has_findings(document: dict[str, Any]) -> bool:
    try:
        return not verify_dump(document).same
    except DumpError as error:
        return str(error).endswith(".")


# -- the page


def test_run_page_offers_the_dump(client):
    client.force_login(User.objects.create_superuser("ada"))
    run = play(run_of("lucb"), crowd(1, good=2))
    assert "Download full run data" in text_of(client.get(admin_url("run_page", run.pk)))
    whole, bare = admin_url("run_dump_json", run.pk), admin_url("run_export", run.pk, "dump")
    for address, named in ((whole, True), (bare, False)):
        document = json.loads(client.get(address).getvalue())
        assert verify_dump(document).same
        assert ("Worker 1" in json.dumps(document)) == named


def test_a_run_goes_on_while_it_is_dumped():
    run = make_run()
    engine.advance(run.pk)
    answer_all(run, crowd(1, good=2))
    check_dump(run)


def test_run_with_questions_met_before_is_verified():
    run = run_of("certified", questions=60)
    run.candidates.filter(worker__key="w0").update(met=[1, 2, 3, 4, 5], skipped=5)
    check_dump(play(run, crowd(1, good=2), most=20))
