"""Early ends: the selection follows all answers, and the guarantee is stated."""

import csv

import numpy as np
import pytest
from django.db.models import Sum

from selection import engine, reports
from selection.algorithms import ALGORITHMS
from selection.models import Run, Skill
from selection.runs import lifecycle, manual_verdicts
from selection.runs.roster import membership
from tests.pages import admin_url, lines_of, text_of
from tests.worlds import crowd, kept_run, make_pool, make_questions, make_run, play
from topk.selected_arms import BY_ALGORITHM, BY_ANSWERS, BY_GUARANTEE

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

# Rules that select K workers; those at a mark name only the ones that are shown to reach it.
FILLING = sorted(name for name, kind in ALGORITHMS.items() if not kind.takes_mark)
CLOSE = [0.9, 0.85, 0.85, 0.8, 0.8, 0.7]


def close_crowd(seed):
    """Return a crowd of workers that are hard to tell apart."""

    def respond(assignment):
        worker = int(assignment.candidate.worker.key[1:])
        rng = np.random.default_rng([seed, worker, assignment.question.pk])
        return "yes" if rng.random() < CLOSE[worker] else "no"

    return respond


def end_early(name, seed=1, questions=25, **fields):
    """Return a run that ended unplanned after asking every remaining worker every question."""
    kind = ALGORITHMS[name]
    values = {"k": 1 if name == "lil-ucb" else 2, "algorithm": name, "epsilon": 0.02} | fields
    if "budget" in kind.needs:
        values.setdefault("budget", 2000)
    run = make_run(start=False, questions=questions, slots=60, slots_per_worker=10, **values)
    if kind.several_skills:
        Skill.objects.create(run=run, number=1, question_set=make_questions(questions), k=1)
    lifecycle.start_run(run)
    run = play(Run.objects.get(pk=run.pk), close_crowd(seed))
    if run.status != Run.Status.ENDED:
        lifecycle.stop_run(run)
        run.refresh_from_db()
    return run


def wronged_pair(run):
    """Return (unselected, selected) with as many answers, but more right ones of the first."""
    lines = reports.worker_standings(run)
    free = [line for line in lines if line.verdict not in {"accepted", "rejected"}]
    return [
        (unselected.worker, into.worker)
        for into in free
        for unselected in free
        if into.selected and not unselected.selected and unselected.number == into.number
        if unselected.answers == into.answers and unselected.right > into.right
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILLING)
def test_selection_never_has_fewer_right_of_as_many_answers(name, requester):
    """The exceptions are a verdict by hand and a proof; both are on the page."""
    for seed in (1, 2):
        run = end_early(name, seed)
        assert not run.finished
        document = reports.export_run(run)
        assert len(document["workers"]) == run.total
        if document["named_by"] == BY_GUARANTEE:
            assert "All answers since favour" in document["guarantee"]
        else:
            assert document["named_by"] == BY_ANSWERS
            assert wronged_pair(run) == []
        text = text_of(requester.get(admin_url("run_page", run.pk)))
        assert document["guarantee"] in text
        names = {row["worker"] for row in document["workers"]}
        files = csv.DictReader(lines_of(requester.get(admin_url("run_export", run.pk, "csv"))))
        assert {row["worker"] for row in files} == names


def test_planned_end_selects_as_planned():
    run = kept_run()
    assert reports.export_run(run)["named_by"] == BY_ALGORITHM
    assert "expected" not in reports.export_run(run)["workers"][0]
    spent = play(make_run(algorithm="sar", budget=120), crowd(2, good=2))
    assert spent.finished
    assert reports.export_run(spent)["named_by"] == BY_ALGORITHM


def hand_in(run, tallies):
    """Pretend that these answers came: (right, all) by worker."""
    for key, (right, answers) in tallies.items():
        run.candidates.filter(worker__key=key).update(
            rewards=right, pulls=answers, asked=answers, seen=run.started
        )
    lifecycle.stop_run(run)
    run.refresh_from_db()
    return run


def selected_keys(run):
    return {line.worker for line in reports.worker_standings(run) if line.selected}


def test_a_lucky_few_answers_do_not_outweigh_many():
    tallies = {"w0": (1, 1), "w1": (37, 40), "w2": (35, 40), "w3": (20, 40), "w4": (9, 40)}
    run = hand_in(make_run(n=5, k=2), tallies)
    assert selected_keys(run) == {"w1", "w2"}
    row = reports.export_run(run)["workers"][0]
    assert row["worker"] == "w1"
    assert row["expected"] == pytest.approx(37 / 40, abs=0.06)


def test_verdicts_by_hand_come_on_top():
    run = make_run(n=4, k=1, algorithm="lucb")
    manual_verdicts.override_verdict(
        run.candidates.get(worker__key="w1"), -1, "ada", "knows the gold"
    )
    run = hand_in(run, {"w0": (20, 30), "w1": (29, 30), "w2": (10, 30), "w3": (3, 30)})
    assert selected_keys(run) == set()
    document = reports.export_run(run)
    assert [row["worker"] for row in document["taken_out_by_hand"]] == ["w1"]
    assert "1 rejected by hand. What is guaranteed is about the 1" in document["guarantee"]


def test_leavers_are_not_selected():
    run = make_run(n=4, k=1, questions=40)
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w1"])
    run.refresh_from_db()
    run = hand_in(run, {"w0": (20, 30), "w1": (29, 30), "w2": (10, 30), "w3": (3, 30)})
    assert selected_keys(run) == {"w0"}


def test_quotas_are_kept():
    quotas = {"attribute": "language", "limits": {"English": [1, 1]}}
    pool = make_pool(4, language=["English", "Spanish"])
    run = make_run(pool=pool, k=2, algorithm="clucb-pac", quotas=quotas)
    run = hand_in(run, {"w0": (29, 30), "w1": (2, 30), "w2": (28, 30), "w3": (10, 30)})
    assert selected_keys(run) == {"w0", "w3"}


# -- guarantees


def test_stated_guarantee_holds_for_the_selected():
    """A small ε proved of others is given up for one at most a tenth larger."""
    run = make_run(n=3, k=1, algorithm="lucb", epsilon=0.01)
    run.best_guarantee = {"epsilon": 0.085, "arms": [_arm(run, "w1")], "step": 4}
    run.save()
    run = hand_in(run, {"w0": (3600, 4000), "w1": (3400, 4000), "w2": (400, 4000)})
    document = reports.export_run(run)
    assert selected_keys(run) == {"w0"}
    assert 0.085 < document["epsilon_reached"] <= 0.0935
    assert document["named_by"] == BY_ANSWERS
    points = f"{100 * document['epsilon_reached']:g}"
    assert f"at most {points} points less accurate than the best" in document["guarantee"]
    assert document["guarantee"].endswith("The selected worker is favoured by all answers.")


def test_a_better_proof_stays_with_its_selection():
    run = make_run(n=3, k=1, algorithm="lucb", epsilon=0.01)
    run.best_guarantee = {"epsilon": 0.05, "arms": [_arm(run, "w1")], "step": 4}
    run.save()
    run = hand_in(run, {"w0": (360, 400), "w1": (340, 400), "w2": (40, 400)})
    document = reports.export_run(run)
    assert (document["named_by"], document["epsilon_reached"]) == (BY_GUARANTEE, 0.05)
    assert selected_keys(run) == {"w1"}
    assert document["guarantee"].endswith(
        "The selected worker has the strongest guarantee, from step 4. All answers since favour "
        "“w0” instead of “w1”, with a weaker guarantee."
    )


def test_proof_of_the_favoured_workers_is_stated():
    run = make_run(n=3, k=1, algorithm="lucb", epsilon=0.01)
    run.best_guarantee = {"epsilon": 0.05, "arms": [_arm(run, "w0")], "step": 4}
    run.save()
    run = hand_in(run, {"w0": (360, 400), "w1": (340, 400), "w2": (40, 400)})
    document = reports.export_run(run)
    assert (document["named_by"], document["epsilon_reached"]) == (BY_ANSWERS, 0.05)


def test_a_fixed_budget_that_ends_early_has_intervals_to_go_by():
    run = make_run(n=4, k=1, algorithm="sar", budget=5000)
    run = hand_in(run, {"w0": (380, 400), "w1": (200, 400), "w2": (100, 400), "w3": (40, 400)})
    guaranteed = reports.guarantee_of_run(run)
    assert 0 <= guaranteed.epsilon < 0.2
    assert guaranteed.text.startswith("The run ended before its plan was complete. With prob")
    assert guaranteed.scope == "every pool"
    assert not reports.export_run(run)["certified"]


def test_run_without_a_proof_has_no_guarantee():
    run = end_early("halving")
    document = reports.export_run(run)
    assert document["epsilon_reached"] is None
    assert document["guarantee"] == (
        "No guarantee: there were too few answers. "
        "The selected workers are favoured by all answers."
    )
    assert run.candidates.aggregate(all=Sum("pulls"))["all"] == document["answers_used"]


def _arm(run, key):
    return run.candidates.get(worker__key=key).arm
