"""A dump is enough to recompute a run's end, and what was changed in it is named."""

import copy
import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from selection import engine, reports
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Run, Skill
from selection.questions import corrections
from selection.runs import changes, lifecycle, roster, roster_opening
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, play
from topk.verify import ANSWER, digest_of

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ONE = [name for name, kind in ALGORITHMS.items() if not kind.several_skills]
SEVERAL = [name for name, kind in ALGORITHMS.items() if kind.takes_skills]
# One of each kind of memory: tallies, rounds, phases, what was best at any look.
FAMILIES = ["lucb", "certified", "credible", "adaptive-top-k", "kl-racing", "batch-racing"]
FAMILIES += ["sar", "gap-e", "ugape-b", "opt-mai"]
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
    return make_run(start=start, **values)


def dumped(run: Run, **how: bool) -> dict[str, Any]:
    """As it comes out of a file."""
    run.refresh_from_db()
    return json.loads(json.dumps(reports.dump_run(run, **how)))


def check(run: Run) -> dict[str, Any]:
    """It holds, with names and without; and says what the run's own pages say."""
    document = dumped(run)
    found = reports.verify_dump(document)
    assert [str(one) for one in found.findings] == []
    line = [one for one in reports.worker_standings(run) if one.by_algorithm]
    assert len(found.selection) == len(line)
    assert {name.split(",")[0] for name in found.selection} == {one.worker for one in line}
    assert found.epsilon == reports.promise_status(run).epsilon or not run.finished
    assert reports.verify_dump(dumped(run, anonymous=True)).same
    return document


# -- what is true holds


@pytest.mark.parametrize("name", ONE)
def test_a_run_that_went_to_its_end_is_the_same_when_it_is_recomputed(name):
    run = play(run_of(name), crowd(1, good=2), most=80)
    check(run)
    assert run.steps > 1


@pytest.mark.parametrize("name", FAMILIES)
def test_so_is_one_that_was_stopped_on_its_way(name):
    few = {"slots": 30, "slots_per_worker": 5, "budget": 600, "questions": 3000}
    run = play(run_of(name, epsilon=0.05, **few), crowd(1, good=2), most=4)
    assert run.status == Run.Status.RUNNING
    check(run)
    lifecycle.stop_run(run)
    check(run)


@pytest.mark.parametrize("name", FAMILIES)
def test_so_is_one_in_which_gold_was_corrected_and_a_question_retired(name):
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
    check(play(run, crowd(1, good=2), most=30))


@pytest.mark.parametrize("name", FAMILIES)
def test_so_is_one_that_workers_left(name):
    run = play(run_of(name, slots=30, slots_per_worker=5), crowd(1, good=2), most=4)
    if run.status == Run.Status.RUNNING:
        roster.record_leaving(run, run.candidates.get(worker__key="w5").worker_id)
    play(run, crowd(1, good=2), most=4)
    if Run.objects.get(pk=run.pk).status == Run.Status.RUNNING:
        roster.record_leaving(run, run.candidates.get(worker__key="w4").worker_id)
    check(play(run, crowd(1, good=2), most=40))


@pytest.mark.parametrize("name", ["certified", "adaptive-top-k", "ugape-b"])
def test_so_is_one_whose_worker_did_not_pass_the_practice(name):
    run = play(run_of(name, slots=30, slots_per_worker=5, budget=600), crowd(1, good=2), most=1)
    roster.record_failed_screening(run, run.candidates.get(worker__key="w5").worker_id)
    check(play(run, crowd(1, good=2), most=30))


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("each", [False, True])
def test_so_is_one_of_several_question_sets(name, each):
    if each and not ALGORITHMS[name].matches:
        pytest.skip("It does not keep workers to one kind.")
    run = run_of(name, start=False, k=1, one_kind_each=each)
    Skill.objects.create(run=run, number=1, question_set=make_questions(1000), k=2)
    lifecycle.start_run(run)
    check(play(Run.objects.get(pk=run.pk), crowd(1, good=3), most=60))


def test_so_is_one_about_its_very_question_set():
    run = run_of("certified", options={"accuracy": "on this question set"}, questions=40)
    document = check(play(run, crowd(1, good=2)))
    assert "on this set of 40 questions" in document["result"]["promise"]


def test_so_is_one_with_quotas():
    run = run_of("certified", start=False, pool=make_pool(8, country=["fr", "it"]))
    run.quotas = {"attribute": "country", "limits": {"fr": [1, 1]}}
    run.save()
    lifecycle.start_run(run)
    check(play(run, crowd(1, good=3)))


def test_so_is_one_of_answers_made_elsewhere():
    run = run_of("certified", recorded_only=True, questions=60)
    rng = np.random.default_rng(3)
    rows = [
        AnswerRow(
            line, f"w{worker}", f"q{number}", "yes" if rng.random() < 1 - worker / 8 else "no"
        )
        for line, (worker, number) in enumerate(np.ndindex(6, 60))
    ]
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    check(play(run, crowd(1, good=2)))


def test_so_is_one_that_workers_joined_while_it_ran():
    run = run_of("lucb", start=False, enrolling=True, pool=make_pool(4))
    lifecycle.start_run(run)
    play(run, crowd(1, good=2), most=3)
    from_outside = run.pool.workers.create(key="w9")
    roster_opening.join_roster(run, from_outside)
    roster_opening.close_roster(run)
    check(play(run, crowd(1, good=2)))


@pytest.mark.parametrize("name", ["lucb", "certified", "adaptive-top-k"])
def test_so_is_one_whose_epsilon_was_changed(name):
    run = play(run_of(name, epsilon=0.05, slots=30, slots_per_worker=5), crowd(1, good=2), most=5)
    changes.apply_changes(run, {"epsilon": 0.5})
    check(play(run, crowd(1, good=2)))


def test_a_run_that_has_not_begun_has_nothing_to_dump():
    with pytest.raises(Refused, match="has not begun"):
        reports.dump_run(make_run(start=False))


def test_a_dump_without_names_tells_nobody_s_name_and_no_words():
    run = play(run_of("lucb"), crowd(1, good=2), most=3)
    roster.record_leaving(run, run.candidates.get(worker__key="w5").worker_id)
    text = json.dumps(reports.dump_run(run, anonymous=True), ensure_ascii=False)
    for word in ("w5", "Worker 1", "Say yes", '"yes"', "“"):
        assert word not in text
    whole = json.dumps(reports.dump_run(run), ensure_ascii=False)
    for word in ("w5", "Worker 1", "Say yes", '"yes"'):
        assert word in whole


# -- what was changed is named


@pytest.fixture(params=["lucb", "certified", "adaptive-top-k", "sar", "ugape-b"])
def document(request) -> dict[str, Any]:
    return dumped(play(run_of(request.param), crowd(1, good=2)))


def tampered(document: dict[str, Any]) -> dict[str, Any]:
    """The document to change; its digest is made anew by ``said``."""
    return copy.deepcopy(document)


def said(document: dict[str, Any]) -> str:
    """What is found in it, when whoever changed it knew to renew the digest."""
    document["digest"] = digest_of(document)
    return "; ".join(map(str, reports.verify_dump(document).findings))


def answers_of(document: dict[str, Any], arm: int = 0) -> list[list[Any]]:
    return next(row for row in document["candidates"] if row["arm"] == arm)["answers"]


QUESTION, POSITION, RIGHT, VOID, COUNTED = (ANSWER.index(name) for name in ANSWER)


@pytest.mark.parametrize("anonymous", [False, True])
def test_as_text_it_is_the_same_however_few_workers_are_read_at_once(anonymous, monkeypatch):
    run = run_of("lucb", n=7)
    play(run, crowd(1, good=2), most=3)
    monkeypatch.setattr(sys.modules["selection.reports.dump"], "AT_ONCE", 3)
    run.refresh_from_db()
    document = reports.dump_run(run, anonymous)
    text = reports.dump_text(run, anonymous)
    assert "".join(text.pieces) == json.dumps(document, ensure_ascii=False)
    assert text.digest == document["digest"] == digest_of(document)
    assert [len(one["answers"]) for one in document["candidates"]] == [
        one.asked for one in run.candidates.order_by("worker_id")
    ]


def test_a_file_that_was_changed_is_told_by_its_digest(document):
    document["run"]["name"] = "another"
    (found,) = reports.verify_dump(document).findings
    assert "its digest" in str(found)


def test_a_changed_answer_is_told_by_the_tallies_and_by_what_the_algorithm_makes_of_it(document):
    changed = tampered(document)
    answer = answers_of(changed)[0]
    answer[RIGHT] = not answer[RIGHT]
    assert "answers are right, and" in said(changed)
    row = next(row for row in changed["candidates"] if row["arm"] == 0)
    row["rewards"] += 1 if answer[RIGHT] else -1
    found = said(changed)
    assert "answers are right" not in found
    assert (
        found or reports.verify_dump(changed).selection == reports.verify_dump(document).selection
    )


def test_enough_changed_answers_change_whom_it_selects(document):
    changed = tampered(document)
    best = changed["result"]["selection"][0]
    for answer in answers_of(changed, best):
        answer[RIGHT] = False
    row = next(row for row in changed["candidates"] if row["arm"] == best)
    row["rewards"] = 0.0
    found = said(changed)
    assert "Selection" in found or "does not take them" in found or "Answers" in found


def test_a_changed_verdict_is_named(document):
    changed = tampered(document)
    row = next(row for row in changed["candidates"] if row["verdict"] == 1)
    row["verdict"] = -1
    name = changed["workers"][row["worker"]]["worker"]
    assert f"Worker {name}: accepted by these answers, and stated to be rejected" in said(changed)


def test_a_changed_selection_is_named(document):
    changed = tampered(document)
    chosen = changed["result"]["selection"]
    other = next(arm for arm in range(6) if arm not in chosen)
    chosen[0] = other
    found = said(changed)
    assert "is selected" in found
    assert "is not" in found


def test_a_changed_order_is_named(document):
    """The seed says which question comes when, and positions in which order they count."""
    changed = tampered(document)
    own = answers_of(changed)
    own[0][QUESTION], own[1][QUESTION] = own[1][QUESTION], own[0][QUESTION]
    assert "did not come in the order that the seed gives" in said(changed)
    changed = tampered(document)
    own = answers_of(changed)
    own[-1][COUNTED], own[0][COUNTED] = own[0][COUNTED], None
    assert "not counted in the order asked" in said(changed)


def test_a_changed_seed_is_named(document):
    changed = tampered(document)
    changed["run"]["seed"] += 1
    found = said(changed)
    assert "not numbered as this seed" in found
    assert "in the order that the seed gives" in found


def test_an_answer_left_out_is_named(document):
    changed = tampered(document)
    del answers_of(changed)[0]
    assert "without a gap" in said(changed)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("epsilon", 0.01, "ε"), ("promise", "The best, for certain.", "what holds is")],
)
def test_a_changed_promise_is_named(name, value, told):
    document = dumped(play(run_of("lucb"), crowd(1, good=2)))
    document["result"][name] = value
    assert told in said(document)


def test_an_end_that_was_not_reached_is_named():
    run = play(run_of("lucb", epsilon=0.05, slots=12, slots_per_worker=2), crowd(1, good=2), most=5)
    lifecycle.stop_run(run)
    document = dumped(run)
    document["run"]["ending"] = "promise"
    assert "by these answers the gap is" in said(document)


def test_a_proof_that_was_not_made_is_named():
    run = play(run_of("lucb", epsilon=0.05, slots=30), crowd(1, good=2), most=9)
    lifecycle.stop_run(run)
    document = dumped(run)
    assert document["proof"]
    document["proof"]["epsilon"] /= 2
    assert "was proved, and" in said(document)


# -- commands, and without Django


def test_the_commands_write_a_dump_and_recompute_it(tmp_path: Path):
    run, out = play(run_of("certified"), crowd(1, good=2)), StringIO()
    path = tmp_path / "dump.json"
    call_command("dump_run", run.pk, out=path, anonymous=True, stdout=out)
    call_command("verify", path, stdout=out)
    assert "recomputed and is the same" in out.getvalue()
    document = json.loads(path.read_text())
    document["run"]["seed"] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(CommandError, match="does not say what its answers say"):
        call_command("verify", path, stdout=out)
    with pytest.raises(CommandError, match="no run “1000000”"):
        call_command("dump_run", 10**6, out=path)


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


def test_a_third_party_recomputes_it_with_the_core_alone(tmp_path: Path):
    path = tmp_path / "dump.json"
    document = dumped(play(run_of("adaptive-top-k"), crowd(1, good=2)), anonymous=True)
    path.write_text(json.dumps(document))
    ran = alone(path)
    assert (ran.returncode, "is the same" in ran.stdout) == (0, True), ran.stderr
    document["result"]["epsilon"] = 0.001
    path.write_text(json.dumps(document))
    ran = alone(path)
    assert (ran.returncode, "The dump says otherwise" in ran.stdout) == (1, True)
    path.write_text("[]")
    assert (alone(path).returncode, alone(path).stderr[:15]) == (2, "This is no dump")


def alone(path: Path) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(here)}
    command = [sys.executable, "-c", ALONE, str(path)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize("spoilt", [None, [], {}, {"format": "crowdselect-run", "version": 2}])
def test_what_is_no_dump_is_refused(spoilt):
    with pytest.raises(Refused, match="This"):
        reports.verify_dump(spoilt)


def test_a_dump_that_is_spoilt_anywhere_is_refused_in_a_sentence_or_said_to_differ():
    """Every value in it is left out once, and once replaced by something of another kind."""
    run = play(run_of("adaptive-top-k", slots=30, slots_per_worker=5), crowd(1, good=2), most=3)
    document = dumped(run, anonymous=True)
    for part in ("run", "result", "memory"):
        for name in document[part]:
            for value in (None, "x", -1, [], {}, 1e30):
                spoilt = copy.deepcopy(document)
                spoilt[part][name] = value
                assert spoilt == document or differs(spoilt)
    for name in set(document) - {"anonymous", "digest", "software"}:
        spoilt = {key: value for key, value in document.items() if key != name}
        with pytest.raises(Refused):
            reports.verify_dump(spoilt)


def differs(document: dict[str, Any]) -> bool:
    try:
        return not reports.verify_dump(document).same
    except Refused as refusal:
        return str(refusal).endswith(".")


# -- the page


def test_the_run_s_page_has_it_to_download(client):
    client.force_login(User.objects.create_superuser("ada"))
    run = play(run_of("lucb"), crowd(1, good=2))
    assert "Dump to verify" in text_of(client.get(admin_url("run_page", run.pk)))
    whole, bare = admin_url("run_dump_json", run.pk), admin_url("run_export", run.pk, "dump")
    for address, words in ((whole, True), (bare, False)):
        document = json.loads(client.get(address).getvalue())
        assert reports.verify_dump(document).same
        assert ("Worker 1" in json.dumps(document)) == words


def test_a_run_goes_on_while_it_is_dumped():
    run = make_run()
    engine.advance(run.pk)
    answer_all(run, crowd(1, good=2))
    check(run)


def test_so_is_one_whose_worker_met_questions_in_another_run():
    run = run_of("certified", questions=60)
    run.candidates.filter(worker__key="w0").update(met=[1, 2, 3, 4, 5], skipped=5)
    check(play(run, crowd(1, good=2), most=20))
