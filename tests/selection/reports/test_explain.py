"""Why a worker stands where they stand: in words, with numbers, for every algorithm."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from selection import reports
from selection.algorithms import ALGORITHMS
from selection.models import Answer, Candidate, Run, Skill
from selection.questions import corrections
from selection.runs import lifecycle, manual_verdicts, roster
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ENDS = ("decides at its end only", "works in rounds", "shares its budget out in rounds")


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
    run = make_run(start=False, **values)
    if kind.several_skills:
        Skill.objects.create(run=run, number=1, question_set=make_questions(3000), k=1)
    lifecycle.start_run(run)
    return Run.objects.get(pk=run.pk)


def of(run: Run, worker: str) -> Candidate:
    found: Candidate = run.candidates.select_related("run", "worker").get(
        worker__key=worker, skill=0
    )
    return found


def words(run: Run, worker: str) -> str:
    found = reports.explain_candidate(of(run, worker))
    return " ".join(sentence for _, part in found.parts() for sentence in part)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_says_how_it_decides_what_settled_it_and_what_would_have_changed_it(name):
    run = play(run_of(name), crowd(1, good=2), most=100)
    for key in ("w0", "w5"):
        candidate = of(run, key)
        found = reports.explain_candidate(candidate)
        assert all(part for _, part in found.parts())
        assert any(end in found.how[0] for end in ENDS)
        said = " ".join(found.settled)
        if candidate.decided_in:
            assert f"in step {candidate.decided_in}, " in said
            assert f"{Candidate.Verdicts(candidate.verdict).label.capitalize()} in step" in said
        assert f"{round(candidate.rewards)} right" in found.answers[0]
        assert "the worker would" in found.otherwise[0]


@pytest.mark.parametrize("name", ["lucb", "certified", "adaptive-top-k", "sar"])
def test_what_would_have_changed_it_does_and_one_less_does_not(name):
    """Told by grading so many of the stored answers the other way round."""
    run = play(run_of(name), crowd(1, good=2))
    candidate = of(run, "w0")
    sentence = reports.explain_candidate(candidate).otherwise[0]
    count = int(sentence.removeprefix("Had the last ").split()[0])
    for turned, selected in ((count, False), (count - 1, True)):
        rows = Answer.objects.filter(assignment__candidate=candidate, right=True)
        last = list(rows.exclude(applied_in=None).order_by("-assignment__position")[:turned])
        Answer.objects.filter(pk__in=[row.pk for row in last]).update(right=False)
        again = reports.explain_candidate(candidate).otherwise[0]
        assert again.startswith("Had the last") or "would not" in again
        assert ("would not be selected" in again) == selected
        Answer.objects.filter(pk__in=[row.pk for row in last]).update(right=True)


def test_one_who_is_undecided_is_told_why():
    run = play(run_of("lucb", epsilon=0.05, slots=12, slots_per_worker=2), crowd(1, 2), most=4)
    said = words(run, "w1")
    assert "is wanted" in said
    assert "do not tell" in said or "settled" in said
    lifecycle.stop_run(run)
    assert "The run ended before it was decided" in words(run, "w1")


def test_one_who_gave_no_answer_left_or_was_decided_by_hand_is_told_so():
    run = play(run_of("certified", epsilon=0.05, slots=6), crowd(1, good=2), most=1)
    assert "No answer of this worker counts yet" in words(run, "w3")
    roster.withdraw_workers(run, ["w4"], "ada", "asked to")
    assert "neither accepted nor rejected" in words(run, "w4")
    manual_verdicts.override_verdict(of(run, "w2"), 1, "ada", "I know her.")
    assert "By hand: accepted, because: I know her." in words(run, "w2")


def test_answers_not_in_time_and_to_retired_questions_are_told_apart():
    run = play(run_of("certified", epsilon=0.05, slots=24), crowd(1, good=2), most=2)
    own = of(run, "w0").assignments.select_related("question").order_by("position")
    corrections.retire_question(own[0].question, "ada", "ambiguous")
    Answer.objects.filter(pk=own[1].pk).update(right=False, expired=True)
    said = words(run, "w0")
    assert "1 not given in time, which counts as not right" in said
    assert "1 answer to retired questions counts for nothing" in said.replace(" count ", " counts ")


def test_the_command_says_it_for_every_kind_of_task_and_refuses_who_is_not_there():
    out = StringIO()
    run = play(run_of("multi-sar"), crowd(1, good=2))
    call_command("explain", run.pk, "w0", stdout=out)
    assert out.getvalue().count("What would have changed it") == 2
    with pytest.raises(CommandError, match="no worker “nobody”"):
        call_command("explain", run.pk, "nobody")


def test_the_standings_lead_to_a_page_that_says_it(client: Client):
    client.force_login(User.objects.create_superuser("ada"))
    run = play(run_of("lucb", pool=make_pool(5)), crowd(1, good=2))
    url = admin_url("run_worker_why", run.pk, of(run, "w0").pk)
    assert url in client.get(admin_url("run_page", run.pk)).content.decode()
    page = text_of(client.get(url))
    assert "LUCB1 decides at its end only" in page
    assert "the worker would not be selected" in page
