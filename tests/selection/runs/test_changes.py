"""Changes of a started run: preview, change under its lock, history."""

from datetime import timedelta

import pytest

from selection import engine, reports
from selection.errors import Conflict, Refused
from selection.models import Candidate, Run
from selection.runs import changes, lifecycle, manual_verdicts
from selection.runs.roster import membership, previews
from selection.runs.settings import drafts
from tests.worlds import answer_all, crowd, kept_run, make_questions, make_run, open_of, play

pytestmark = pytest.mark.django_db


def events_of(run: Run) -> list[tuple[str, str, str]]:
    return [(event.kind, event.who, event.why) for event in run.events.all()]


def reload_run(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def test_preview_states_the_effects_and_changes_no_setting():
    run = make_run(budget=100)
    said = changes.preview_changes(run, {"budget": 200, "slots": 12, "epsilon": 0.4})
    assert list(said) == ["budget", "epsilon"]
    assert (
        "The budget is 200 answers instead of 100 answers: 200 more assignments" in said["budget"]
    )
    assert "at most 40 points less accurate than the 2nd best" in said["epsilon"]
    assert (reload_run(run).budget, reload_run(run).epsilon) == (100, 0.3)
    assert not run.events.exclude(kind="start").exists()


def test_change_is_applied_and_logged_with_author_and_reason():
    run = make_run(budget=100)
    wanted = {"budget": 50, "slots": 3, "slots_per_worker": 2, "minutes": 5, "hours_to_come": 4.0}
    changes.apply_changes(run, wanted | {"name": "Other"}, "ann", "cheaper")
    now = reload_run(run)
    assert {name: getattr(now, name) for name in wanted} == wanted
    assert now.name == "Other"
    assert {(kind, "ann", "cheaper") for kind in (*wanted, "name")} < set(events_of(run))


def test_budget_is_not_lowered_below_the_handed_out_answers():
    run = make_run(budget=100)
    engine.advance(run.pk)
    out = len(open_of(run))
    with pytest.raises(Refused, match=f"cannot be below the {out} assignments"):
        changes.apply_changes(run, {"budget": out - 1})
    changes.apply_changes(run, {"budget": out})
    answer_all(run, crowd(1, 2))
    engine.advance(run.pk)
    assert reload_run(run).ending == Run.Ending.BUDGET


@pytest.mark.parametrize("algorithm", ["lucb", "adaptive-top-k"])
def test_run_out_of_budget_continues_once_it_is_raised(algorithm):
    respond = crowd(3, 2)
    run = play(make_run(algorithm=algorithm, budget=60, questions=3000, slots=60), respond)
    assert run.ending == Run.Ending.BUDGET
    lifecycle.archive_run(run)
    with pytest.raises(Refused, match="cannot be below the 60 assignments"):
        changes.apply_changes(run, {"budget": 59})
    said = changes.apply_changes(run, {"budget": 40_000}, "ann")
    assert "The run goes on." in said["budget"]
    again = reload_run(run)
    assert (again.state, again.ending, again.ended) == ("running", "", None)
    done = play(again, respond)
    assert done.ending == Run.Ending.GUARANTEE
    assert {"reopen", "budget"} < {kind for kind, _, _ in events_of(run)}


def test_a_run_that_ended_otherwise_does_not_go_on_by_another_budget():
    run = make_run(budget=60)
    lifecycle.stop_run(run)
    with pytest.raises(Conflict, match="stopped by hand: the budget no longer matters"):
        changes.preview_changes(reload_run(run), {"budget": 900})
    with pytest.raises(Conflict, match=r"has ended; its max\. open assignments cannot change"):
        changes.preview_changes(reload_run(run), {"slots": 900})


def test_a_fixed_budget_stays():
    run = make_run(algorithm="sar", budget=600)
    with pytest.raises(Refused, match="plans with its budget from the start"):
        changes.preview_changes(run, {"budget": 700})


def test_relaxing_epsilon_ends_a_run_that_has_proved_as_much():
    run = make_run(questions=3000, slots=200, slots_per_worker=50, epsilon=0.02)
    run = play(run, crowd(3, 2), most=3)
    gap = run.history.order_by("-number").first().gap
    assert 0.02 < gap < 0.9
    said = changes.apply_changes(run, {"epsilon": round(gap + 0.01, 3)}, "ann")
    assert "The run has achieved this already" in said["epsilon"]
    engine.advance(run.pk)
    assert reload_run(run).ending == Run.Ending.GUARANTEE
    assert reports.guarantee_of_run(reload_run(run)).epsilon == pytest.approx(gap + 0.01, abs=0.001)


def test_tightening_epsilon_lets_a_run_go_on_longer():
    ends = []
    for tighter in (False, True):
        run = make_run(questions=3000, slots=200, slots_per_worker=50, seed=5)
        run = play(run, crowd(3, 2), most=2)
        if tighter:
            changes.apply_changes(run, {"epsilon": 0.2})
        ends.append(reports.read_progress(play(run, crowd(3, 2))).counted)
    assert ends[1] > ends[0]


def test_certified_keeps_the_weights_that_it_began_with():
    run = make_run(algorithm="certified")
    changes.apply_changes(run, {"epsilon": 0.2})
    changes.apply_changes(run, {"epsilon": 0.1})
    assert reload_run(run).options["tuned_for"] == 0.3
    engine.advance(run.pk)


@pytest.mark.parametrize("algorithm", ["halving", "kl-racing", "improved-top-k", "lil-lucb"])
def test_epsilon_stays_where_rounds_or_bounds_are_made_of_it(algorithm):
    run = make_run(algorithm=algorithm)
    with pytest.raises(Refused, match=r"Copy the run to change it|does not use ε"):
        changes.preview_changes(run, {"epsilon": 0.4})


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"epsilon": 1.5}, "Epsilon must be at least 0 and below 1"),
        ({"budget": 0}, "at least 1 answer"),
        ({"minutes": 0}, "Enter 1 or more"),
        ({"delta": 0.5}, "delta cannot change after the run started"),
        ({"enrol_most": 9}, "closed: open it first"),
    ],
)
def test_impossible_change_is_refused_in_a_sentence(wanted, why):
    run = make_run()
    with pytest.raises(Refused, match=why):
        changes.apply_changes(run, wanted)
    assert events_of(run) == [("start", "", "")]


def test_a_name_that_is_taken_is_refused():
    run, other = make_run(), make_run()
    with pytest.raises(Refused, match="There is another run of the name"):
        changes.preview_changes(run, {"name": other.name})


def test_a_draft_is_changed_in_its_form():
    with pytest.raises(Conflict, match="edit it in its form"):
        changes.preview_changes(make_run(start=False), {"budget": 9})


# -- verdicts by hand


def chosen_workers(run: Run) -> set[str]:
    return {line.worker for line in reports.worker_standings(run) if line.selected}


def test_a_verdict_by_hand_stands_beside_the_algorithms_and_is_undone():
    run = kept_run()
    assert chosen_workers(run) == {"w0", "w1"}
    out, other = (run.candidates.get(worker__key=key) for key in ("w0", "w5"))
    with pytest.raises(Refused, match="Enter a reason"):
        manual_verdicts.override_verdict(out, -1)
    manual_verdicts.override_verdict(out, -1, "ann", "she copied")
    manual_verdicts.override_verdict(other, 1, "ann", "a friend")
    assert chosen_workers(run) == {"w1", "w5"}
    document = reports.export_run(run)
    by = {row["worker"]: (row["selected_by"], row["by_hand_why"]) for row in document["workers"]}
    assert by == {"w1": ("algorithm", ""), "w5": ("hand", "a friend")}
    assert [row["worker"] for row in document["taken_out_by_hand"]] == ["w0"]
    assert "1 accepted by hand and 1 rejected by hand." in document["guarantee"]
    assert "not about verdicts by hand" in document["guarantee"]
    for row in (out, other):
        manual_verdicts.override_verdict(row, None, "ann")
    assert chosen_workers(run) == {"w0", "w1"}
    assert "by hand" not in reports.export_run(run)["guarantee"]
    assert [kind for kind, _, _ in events_of(run)].count("by hand") == 4


def test_the_same_verdict_twice_is_refused():
    row = make_run().candidates.first()
    manual_verdicts.override_verdict(row, 1, "", "why")
    with pytest.raises(Refused, match="is accepted by hand already"):
        manual_verdicts.preview_verdict(row, 1)


# -- the roster, said before


def test_withdrawal_states_the_workers_of_the_remaining_guarantee():
    run = play(make_run(), crowd(1, 2), most=2)
    said = previews.preview_withdrawal(run, ["w3"])
    assert "the best 2 of the other 5" in said
    assert "A share of the risk δ covers the workers who answered and left" in said
    membership.withdraw_workers(run, ["w3"], "ann")
    assert "“w3” takes part again" in previews.take_back(run, ["w3"])
    with pytest.raises(Refused, match="already left this run"):
        previews.preview_withdrawal(run, ["w3"])


def test_withdrawing_too_many_says_that_the_run_ends():
    run = make_run()
    assert "ends at once" in previews.preview_withdrawal(run, ["w1", "w2", "w3", "w4"])


def test_no_preview_of_a_roster_changes_it():
    run = make_run()
    previews.preview_withdrawal(run, ["w1"])
    previews.open_roster(run)
    assert not Candidate.objects.exclude(gone="").exists()
    assert not reload_run(run).enrolling


# -- concluding, copying, comparing


def test_an_ended_run_is_put_aside_and_taken_up():
    run = make_run()
    with pytest.raises(Conflict, match="only a run that is ended"):
        lifecycle.archive_run(run)
    lifecycle.stop_run(run)
    lifecycle.archive_run(run, "ann")
    assert reload_run(run).state == "archived"
    with pytest.raises(Conflict, match="archived already"):
        lifecycle.archive_run(run)
    lifecycle.unarchive_run(run, "ann")
    assert reload_run(run).state == "ready for review"


def test_a_run_that_kept_its_guarantee_or_was_stopped_is_not_reopened():
    kept = kept_run()
    stopped = make_run()
    lifecycle.stop_run(stopped)
    for run in (kept, stopped):
        with pytest.raises(Conflict, match="Only a run whose budget was spent"):
            lifecycle.reopen_run(run)


def test_a_fixed_budget_that_is_spent_is_not_reopened():
    run = play(make_run(algorithm="sar", budget=60, slots=60), crowd(3, good=2))
    assert run.finished
    with pytest.raises(Conflict, match="cannot go on"):
        lifecycle.reopen_run(run)


def test_a_spent_budget_is_raised_before_its_run_goes_on():
    run = play(make_run(budget=12, epsilon=0.01), crowd(3, good=2))
    assert run.ending == "budget"
    with pytest.raises(Conflict, match="raise it"):
        lifecycle.reopen_run(run)
    assert reload_run(run).status == "ended"


def test_reopening_gives_back_the_time_in_which_it_stood_still():
    run = make_run(budget=13)
    engine.advance(run.pk)
    run.candidates.update(seen="2026-01-01T00:00Z")
    lifecycle.stop_run(run)
    Run.objects.filter(pk=run.pk).update(ended="2026-01-02T00:00Z", ending="budget")
    lifecycle.reopen_run(run)
    assert run.candidates.first().seen > run.started - timedelta(days=2)


def test_a_copy_is_a_draft_of_the_same_settings_with_a_seed_of_its_own():
    run = make_run(options={"eta": 2.0}, algorithm="ugape-b", budget=500)
    copied = drafts.copy_run(run, "Again", who="ann")
    for field in drafts.COPIED:
        assert getattr(copied, field) == getattr(run, field)
    assert (copied.status, copied.options) == ("draft", {"eta": 2.0})
    assert copied.seed != run.seed
    assert drafts.copy_run(run, "Once more", same_seed=True).seed == run.seed
    assert events_of(copied)[-1][:2] == ("copy", "ann")
    with pytest.raises(Refused, match="another run of the name"):
        drafts.copy_run(run, "Again")
    assert drafts.name_copy(run) == f"{run.name}, copy"
    drafts.copy_run(run, f"{run.name}, copy")
    assert drafts.name_copy(run) == f"{run.name}, copy 2"


def test_a_copy_has_the_further_skills_and_can_start():
    first, second = make_questions(9), make_questions(9)
    run = make_run(algorithm="multi-sar", budget=99, question_set=first, start=False)
    run.further.create(question_set=second, k=1, number=1)
    lifecycle.start_run(reload_run(run))
    copied = drafts.copy_run(reload_run(run), "Again")
    assert [(each.question_set_id, each.k) for each in copied.skills] == [
        (first.pk, 2),
        (second.pk, 1),
    ]
    lifecycle.start_run(copied)
