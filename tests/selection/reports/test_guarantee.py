"""The guarantee in one sentence, the same everywhere, and its weakenings in a few words."""

import io
import pickle
from collections.abc import Callable

import pytest
from django.test import Client
from python_calamine import CalamineWorkbook

from selection import engine, reports
from selection.models import Assignment, QuestionSet, Run, Skill
from selection.questions import corrections
from selection.reports import weakenings
from selection.reports.collusion import CollusionSigns
from selection.reports.model_fit import ModelFit
from selection.runs import lifecycle, manual_verdicts
from selection.runs.roster import membership
from selection.texts import count_points
from tests.pages import admin_url, json_of, text_of
from tests.selection.api.conftest import Program
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, play
from topk import Goal, Guarantee, Problem
from topk.credible import standouts
from topk.guarantee import Doubt

from .test_model_fit import odd_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("algorithm", "sentence"),
    [
        ("lucb", "With probability at least 90%, each selected worker is at most 30 points less "),
        ("certified", "With probability at least 90%, the 2 selected are on average at most 30 "),
        ("credible", "For at least 90% of pools like this one, the 2 selected are on average at "),
    ],
)
def test_the_target_is_one_sentence_in_points(algorithm, sentence):
    assert reports.guarantee_of_run(make_run(algorithm=algorithm)).target.startswith(sentence)


@pytest.mark.parametrize("algorithm", ["lucb", "certified", "credible"])
def test_the_target_of_one_worker_counts_no_worker(algorithm):
    short = reports.guarantee_of_run(make_run(algorithm=algorithm, k=1)).target
    assert "the selected one is at most 30 points less accurate than the best" in short


def test_a_fixed_budget_guarantees_nothing():
    run = make_run(algorithm="uniform", budget=60)
    assert (
        reports.guarantee_of_run(run).text
        == "The 2 workers that look best when the budget is spent; no guarantee."
    )


def test_early_end_states_the_missed_target_and_the_achieved_guarantee():
    run = odd_run()
    lifecycle.stop_run(run)
    run.refresh_from_db()
    guaranteed = reports.guarantee_of_run(run)
    points = count_points(guaranteed.epsilon)
    target = "The target (at most 0.1 points) was not reached. For at least 90% of pools"
    assert target in guaranteed.text
    assert f"at most {points} less accurate" in guaranteed.text
    assert "The guarantee is weakened." in guaranteed.text
    assert guaranteed.reasons == ("this crowd may be of groups with very different accuracy",)


def test_too_few_answers_give_no_guarantee():
    run = play(make_run(), crowd(1, 2), most=2)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert reports.guarantee_of_run(run).text.startswith("No guarantee: there were too few")


def test_laggards_have_the_code_of_nearly_equal_workers():
    """The fragment of the sentence that named the doubt missed this one."""
    doubt = Doubt("nearly-equal", standouts.WARNING_BEHIND.format(loss=0.2))
    fit = ModelFit((pickle.loads(pickle.dumps(doubt)),))
    (weakening,) = weakenings.list_weakenings(make_run(), fit, CollusionSigns())
    assert weakening.code == "nearly-equal"
    assert weakening.short == weakenings.DOUBTS["nearly-equal"]


@pytest.mark.parametrize(
    ("difference", "words"), [(0.096, "9.6 points"), (0.01, "1 point"), (1, "100 points")]
)
def test_differences_are_points(difference, words):
    assert count_points(difference) == words


# -- each condition of a guarantee is stated through each door, of a draft and of a run


WIDE = {"slots": 60, "slots_per_worker": 10}


def with_quotas() -> Run:
    pool = make_pool(6, lang=["en", "de"])
    asked = {"attribute": "lang", "limits": {"en": [1, 1]}}
    return make_run(pool=pool, start=False, algorithm="certified", quotas=asked)


def with_kinds() -> Run:
    run = make_run(start=False, algorithm="clucb-pac", k=1, one_kind_each=True, **WIDE)
    Skill.objects.create(run=run, number=1, question_set=make_questions(200), k=1)
    return Run.objects.get(pk=run.pk)


def with_exposure_limit() -> Run:
    run = make_run(start=False)
    QuestionSet.objects.filter(pk=run.question_set_id).update(most_workers=5)
    return Run.objects.get(pk=run.pk)


def with_prices() -> Run:
    pool = make_pool(6, price=["1", "20"])
    return make_run(pool=pool, start=False, algorithm="universal", by_price=True)


def with_options(**fields: object) -> Callable[[], Run]:
    return lambda: make_run(start=False, **fields)


THIS_SET = {"accuracy": "on this question set"}
CONDITIONS = {
    "quotas": (with_quotas, "among all selections that keep to the quotas"),
    "kinds of task": (with_kinds, "nobody for two of them"),
    "a limit of workers per question": (with_exposure_limit, "Questions that enough workers have"),
    "a pass mark": (with_options(pass_mark=0.7), "70%"),
    "a rule for a mark": (
        with_options(algorithm="mark-all", pass_mark=0.9),
        "at least 60%, the pass mark of 90% less ε",
    ),
    "a finite question set": (
        with_options(algorithm="certified", options=THIS_SET, questions=40),
        "on this set of 40 questions",
    ),
    "prices": (with_prices, "prices tell nothing of accuracy"),
    "an average": (with_options(algorithm="credible"), "not a guarantee for every pool"),
    "recorded answers": (with_options(recorded_only=True), "Some answers were recorded elsewhere"),
}


def read_doors(requester: Client, token: str, run: Run) -> dict[str, str]:
    """Read what each door says of the run's guarantee."""
    program = Program(token)
    doors = {
        "page": text_of(requester.get(admin_url("run_page", run.pk))),
        "report": text_of(requester.get(admin_url("run_report", run.pk))),
        "API": str(program.get(f"runs/{run.pk}").json()),
        "API, selection": str(program.get(f"runs/{run.pk}/selection").json()),
    }
    if run.status != Run.Status.DRAFT:
        doors["JSON"] = str(json_of(requester.get(admin_url("run_export", run.pk, "json"))))
        workbook = requester.get(admin_url("run_export", run.pk, "xlsx")).getvalue()
        sheet = CalamineWorkbook.from_filelike(io.BytesIO(workbook)).get_sheet_by_name("Run")
        doors["Excel"] = str(sheet.to_python())
    return doors


def check_doors(requester: Client, token: str, run: Run, words: str) -> None:
    silent = [name for name, said in read_doors(requester, token, run).items() if words not in said]
    assert not silent, f"{silent} do not say: {words}"


@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_door_states_what_qualifies_the_guarantee(condition, requester, token):
    build, words = CONDITIONS[condition]
    run = build()
    check_doors(requester, token, run, words)
    if run.recorded_only:  # without answers it does not start
        return
    lifecycle.start_run(run)
    if play(run, crowd(1, 2), most=20).status != Run.Status.ENDED:
        lifecycle.stop_run(run)
    check_doors(requester, token, Run.objects.get(pk=run.pk), words)


def test_each_door_states_an_open_roster(requester, token):
    run = make_run(start=False, enrolling=True)
    check_doors(requester, token, run, "The roster is open.")
    lifecycle.start_run(run)
    check_doors(requester, token, Run.objects.get(pk=run.pk), "The roster is open, with 6 workers")


def test_each_door_states_what_happened_to_the_run(requester, token):
    absent = crowd(1, 2)
    run = make_run(n=8, **WIDE)
    for _ in range(4):
        engine.advance(run.pk)
        answer_all(run, lambda one: None if one.candidate.worker.key == "w7" else absent(one))
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w6"])
    retired = Assignment.objects.filter(candidate__run=run).first().question
    corrections.retire_question(retired, "a misprint", "ada")
    lifecycle.stop_run(Run.objects.get(pk=run.pk))
    run = Run.objects.get(pk=run.pk)
    manual_verdicts.override_verdict(run.candidates.get(worker__key="w5"), 1, "ada", "known")
    doors = read_doors(requester, token, run)
    for words in (
        "1 accepted by hand",
        "1 was withdrawn",
        "of the 6 who took part to the end",
        "1 worker without a counted answer is not covered",
        "old questions were corrected or retired during the run",
        "The target (at most 30 points) was not reached",
        "That a worker came or stayed away is assumed",
    ):
        silent = [name for name, said in doors.items() if words not in said]
        assert not silent, f"{silent} do not say: {words}"


def test_running_rule_without_an_early_bound_guarantees_nothing_yet():
    """Its target was shown as what is guaranteed now."""
    run = play(make_run(algorithm="lil-clucb"), crowd(1, 2), most=3)
    guarantee = reports.guarantee_of_run(run)
    assert guarantee.text.startswith("No guarantee yet")
    assert "the 2 selected are the best 2" in guarantee.target


def test_figure_that_covers_the_stop_alone_is_about_an_end_now():
    run = play(make_run(algorithm="universal", epsilon=0.01), crowd(1, 2), most=8)
    guarantee = reports.guarantee_of_run(run)
    assert guarantee.epsilon is not None
    assert guarantee.text.startswith("If the run ended now: with probability at least 90%")


def test_small_numbers_are_never_rounded_to_a_stronger_statement():
    statement = Guarantee(Goal.EXPLORE_K, "confidence", "")
    sentence = statement.sentence(Problem(5, 2, epsilon=0.00025, delta=0.0000005))
    assert "probability at least 99.99995%" in sentence
    assert "at most 0.025 points" in sentence
