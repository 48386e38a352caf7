"""Explanations of verdicts: in words, with numbers, for every algorithm."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from selection import reports
from selection.algorithms import ALGORITHMS
from selection.models import Answer, Candidate, Run, Skill
from selection.questions import corrections
from selection.runs import lifecycle, manual_verdicts
from selection.runs.roster import membership
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ENDS = (
    "decides only at the end",
    "decides about all workers at the end",
    "works in rounds",
    "divides its budget into rounds",
)


def run_of(name: str, **fields: object) -> Run:
    kind = ALGORITHMS[name]
    values = {
        "algorithm": name,
        "k": 1 if name == "lil-ucb" else 2,
        "slots": 120,
        "slots_per_worker": 40,
        "epsilon": 0.4,
        "questions": 3000,
    } | fields
    if "budget" in kind.needs:
        values.setdefault("budget", 180)
    if kind.takes_mark:
        values.setdefault("pass_mark", 0.8)
    run = make_run(start=False, **values)
    if kind.several_skills:
        Skill.objects.create(run=run, number=1, question_set=make_questions(3000), k=1)
    lifecycle.start_run(run)
    return Run.objects.get(pk=run.pk)


def find_candidate(run: Run, worker: str) -> Candidate:
    candidate: Candidate = run.candidates.select_related("run", "worker").get(
        worker__key=worker, skill=0
    )
    return candidate


def explanation_text(run: Run, worker: str) -> str:
    explanation = reports.explain_candidate(find_candidate(run, worker))
    return " ".join(sentence for part in explanation.parts.values() for sentence in part)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_have_complete_explanations(name):
    run = play(run_of(name), crowd(1, good=2), most=100)
    for key in ("w0", "w5"):
        candidate = find_candidate(run, key)
        explanation = reports.explain_candidate(candidate)
        assert all(explanation.parts.values())
        assert any(end in explanation.how[0] for end in ENDS)
        text = " ".join(explanation.settled)
        if candidate.decided_in:
            assert f"in step {candidate.decided_in}, " in text
            assert f"{Candidate.Verdicts(candidate.verdict).label.capitalize()} in step" in text
        assert f"{round(candidate.rewards)} right" in explanation.answers[0]


def test_undecided_worker_has_a_reason():
    run = play(run_of("lucb", epsilon=0.05, slots=12, slots_per_worker=2), crowd(1, 2), most=4)
    text = explanation_text(run, "w1")
    assert "the target is" in text
    assert "too few answers to tell" in text or "provisionally" in text
    lifecycle.stop_run(run)
    assert "The run ended before a verdict" in explanation_text(run, "w1")


def test_explanation_names_the_bounds_as_the_page_does():
    run = play(run_of("ugape-b"), crowd(1, 2), most=4)
    meaning = reports.interval_meaning(run)
    assert "without a guarantee" in meaning
    assert f"({meaning.split(':')[0]})" in explanation_text(run, "w1")


def test_no_shows_leavers_and_verdicts_by_hand_are_explained():
    run = play(run_of("certified", epsilon=0.05, slots=6), crowd(1, good=2), most=1)
    assert "No answer of this worker counts yet" in explanation_text(run, "w3")
    membership.withdraw_workers(run, ["w4"], "ada", "asked to")
    assert "neither accepted nor rejected" in explanation_text(run, "w4")
    manual_verdicts.override_verdict(find_candidate(run, "w2"), 1, "ada", "I know her.")
    assert "By hand: accepted, because: I know her." in explanation_text(run, "w2")


def test_answers_not_in_time_and_to_retired_questions_are_told_apart():
    run = play(run_of("certified", epsilon=0.05, slots=24), crowd(1, good=2), most=2)
    assignments = (
        find_candidate(run, "w0").assignments.select_related("question").order_by("position")
    )
    corrections.retire_question(assignments[0].question, "ada", "ambiguous")
    Answer.objects.filter(pk=assignments[1].pk).update(right=False, expired=True)
    text = explanation_text(run, "w0")
    assert "1 too late, which counts as wrong" in text
    assert "1 answer to retired questions do not count" in text


def test_the_ranking_links_to_the_card_and_this_to_the_explanation(client: Client):
    client.force_login(User.objects.create_superuser("ada"))
    run = play(run_of("lucb", pool=make_pool(5)), crowd(1, good=2))
    candidate = find_candidate(run, "w0").pk
    card, url = (admin_url(f"run_{name}", run.pk, candidate) for name in ("worker", "worker_why"))
    assert card in client.get(admin_url("run_page", run.pk)).content.decode()
    assert url in client.get(card).content.decode()
    page = text_of(client.get(url))
    assert "LUCB1 decides about all workers at the end" in page
