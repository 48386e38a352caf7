"""The measurement of promises: its judgements, its files, and its results on fixed seeds."""

import csv
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from research import tables
from research.__main__ import main
from research.cells import carry_out
from research.intervals import share_interval
from research.journal import Journal
from research.processes import play_in_process
from research.validation import cases, chart, crowds, delays, latency, report, rows, suite
from research.validation.cells import Cell
from research.validation.measure import (
    Effort,
    MeasuredRun,
    budget_of,
    measure_runs,
    score_selection,
)
from research.validation.rows import Row, row_of
from selection.errors import Refused
from tests.pasts import write_past
from topk import SELECTORS, Goal
from topk.instances import two_group
from topk.simulate import Outcome

DOCS = Path(settings.BASE_DIR) / "research" / "docs" / "validation"
EFFORT = Effort(runs=3, seconds=math.inf, cap=60_000)
SURE = cases.fixed_case("sure", "Sure", np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]), 2)
EQUAL = cases.fixed_case("equal", "Equal", np.full(6, 0.5), 2)


def wanted(folder, *algorithms, pools=(SURE, EQUAL)):
    return suite.StudySettings(pools, algorithms, EFFORT, folder)


def quiet(more, title):
    pass


def run(folder, *algorithms, told=quiet):
    """Measure on the two pools, and read the table."""
    carry_out(suite.build_study(wanted(folder, *algorithms)), play_in_process, told)
    return read(folder)


def read(folder):
    return tables.read_table(folder / "results.csv", Row)


def journal(folder):
    return Journal(folder / "unfinished.jsonl", Row)


def add(journal, case, algorithm, effort=EFFORT):
    cell = Cell(case, algorithm, effort)
    journal.add(cell.key, cell.play())
    return cell


# -- cases


def test_case_gives_all_algorithms_the_same_pool_and_a_new_one_per_run():
    case = cases.beta_case(6, 2, 100, 20, 0.05, 0.05)
    assert (case.means(4) == case.means(4)).all()
    assert (case.means(4) != case.means(5)).any()


def test_cases_have_their_size_and_accuracies_between_0_and_1():
    for case in cases.list_cases():
        means = case.means(0)
        assert means.shape == (case.n,)
        assert means.min() >= 0
        assert means.max() <= 1


def test_the_names_of_all_cases_differ():
    names = [case.name for case in cases.list_cases()]
    assert len(set(names)) == len(names) == 19


def test_missing_the_one_worker_just_over_the_line_breaks_the_aggregate_promise():
    pools = {case.name: case for case in cases.adversarial_cases()}
    for name in ("one-over", "one-far-over"):
        case = pools[name]
        means = case.means(0)
        assert 0 < means.max() - means.min() - case.k * case.epsilon < 0.01


def test_recorded_crowd_has_the_accuracies_of_workers_with_enough_answers(tmp_path):
    answers, gold = write_past(tmp_path, [0.9, 0.5] * 6, 60)
    answers.rename(tmp_path / "birds.csv")
    gold.rename(tmp_path / "birds_gold.csv")
    (case,) = crowds.recorded_crowds(tmp_path)
    assert (case.name, case.n, case.k) == ("crowd-birds", 12, 2)
    assert case.means(0).mean() == pytest.approx(0.7, abs=0.1)


def test_a_folder_without_crowds_is_refused(tmp_path):
    with pytest.raises(Refused, match="has no crowd"):
        crowds.recorded_crowds(tmp_path)


# -- judgements


def outcome(*chosen):
    return Outcome(10, np.zeros(4, np.int64), np.array(chosen), ("guarantee",))


def test_regrets_are_scored_by_true_accuracy():
    played = score_selection(outcome(0, 3), np.array([0.9, 0.8, 0.7, 0.4]))
    assert played.aggregate == pytest.approx(0.2)
    assert played.explore_k == pytest.approx(0.4)


def test_tied_best_set_is_right():
    assert score_selection(outcome(0, 2), np.array([0.9, 0.5, 0.5, 0.5])).aggregate == 0


@pytest.mark.parametrize(
    ("goal", "played", "wrong"),
    [
        (Goal.AGGREGATE, MeasuredRun(1, 0.05, 0.4, False), False),
        (Goal.AGGREGATE, MeasuredRun(1, 0.06, 0.0, False), True),
        (Goal.EXPLORE_K, MeasuredRun(1, 0.4, 0.05, False), False),
        (Goal.EXPLORE_K, MeasuredRun(1, 0.0, 0.06, False), True),
        (Goal.EXACT, MeasuredRun(1, 0.001, 0.001, False), True),
        (Goal.EXACT, MeasuredRun(1, 0.0, 0.0, False), False),
    ],
)
def test_a_run_is_judged_by_the_goal_of_its_own_algorithm(goal, played, wrong):
    assert rows.is_missed(played, goal, 0.05) is wrong


def test_the_interval_is_the_exact_binomial_one():
    assert share_interval(0, 100) == pytest.approx((0, 1 - 0.005**0.01))
    assert share_interval(100, 100) == pytest.approx((0.005**0.01, 1))
    assert share_interval(0, 0) == (0, 1)


def made_up(*regrets, capped=0):
    runs = [MeasuredRun(100, regret, 0.0, False) for regret in regrets]
    lost = [MeasuredRun(900, 0.0, 0.0, True)] * capped
    return row_of(SURE, "adaptive-top-k", [*runs, *lost], 900)


def test_a_promise_is_broken_only_when_chance_cannot_explain_the_misses():
    assert not made_up(*[0.2] * 4, *[0.0] * 36).broken
    assert made_up(*[0.2] * 14, *[0.0] * 26).broken


def test_runs_given_up_at_the_cap_count_neither_as_kept_nor_as_missed():
    row = made_up(0.2, 0.0, capped=2)
    assert (row.runs, row.capped, row.violations, row.rate) == (4, 2, 1, 0.5)
    assert row.answers == 500


def test_a_fixed_budget_promises_nothing_and_is_still_judged_by_its_goal():
    (row,) = Cell(EQUAL, "uniform", EFFORT).play()
    assert row.promise == "none"
    assert not row.broken
    assert row.answers == budget_of(SELECTORS["uniform"], EQUAL.n) == 120


# -- measuring


def test_more_runs_only_add_to_fewer():
    few, many = (list(measure_runs(SURE, "lucb", Effort(runs, math.inf, 10**6))) for runs in (2, 5))
    assert many[:2] == few


def test_cell_out_of_time_still_has_its_least_runs():
    assert len(list(measure_runs(SURE, "lucb", Effort(50, 0.0, 10**6)))) == 5


def test_a_cell_that_only_runs_into_the_cap_is_left_when_its_time_is_up():
    (played,) = measure_runs(EQUAL, "lil-lucb", Effort(50, 0.0, 600))
    assert played.capped


def test_an_algorithm_that_cannot_is_skipped_with_the_reason_in_words():
    (row,) = Cell(SURE, "lil-ucb", EFFORT).play()
    assert not row.runs
    assert "K must be 1" in row.skipped


@pytest.mark.parametrize("algorithm", SELECTORS)
def test_no_algorithm_breaks_its_promise_on_a_small_pool(algorithm):
    """With three runs and delta .05 the exact test sees only three misses of three."""
    (row,) = Cell(SURE, algorithm, EFFORT).play()
    assert not row.broken


# -- files


def test_an_interrupted_measurement_goes_on_where_it_was(tmp_path):
    def interrupt(more, title):
        if title == "lucb on equal":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "uniform", "lucb", told=interrupt)
    assert len(journal(tmp_path).kept) == 4
    told = []
    run(tmp_path, "uniform", "lucb", told=lambda more, title: told.append(more))
    assert told == [4]
    run(tmp_path / "whole", "uniform", "lucb")
    whole, resumed = (folder / "results.csv" for folder in (tmp_path / "whole", tmp_path))
    assert resumed.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "unfinished.jsonl").exists()


def test_a_line_cut_off_by_a_kill_is_measured_again(tmp_path):
    first = add(journal(tmp_path), SURE, "lucb")
    with (tmp_path / "unfinished.jsonl").open("a") as file:
        file.write('{"key": "uni')
    again = journal(tmp_path)
    assert list(again.kept) == [first.key]
    add(again, SURE, "uniform")
    assert len(journal(tmp_path).kept) == 2


def test_unfinished_runs_survive_another_measurement(tmp_path):
    run(tmp_path, "uniform")
    left = add(journal(tmp_path), EQUAL, "uniform")
    run(tmp_path, "lucb")
    assert list(journal(tmp_path).kept) == [left.key]


def test_cells_of_another_effort_are_measured_again(tmp_path):
    add(journal(tmp_path), SURE, "lucb", Effort(9, 1.0, 100))
    told = []
    study = suite.build_study(wanted(tmp_path, "lucb", pools=[SURE]))
    carry_out(study, play_in_process, lambda more, title: told.append(more))
    assert told == [0, 1]


@pytest.mark.parametrize("kind", ["", "chart", "delays"])
def test_the_committed_tables_are_read_and_written_to_the_letter(kind, tmp_path):
    tables.keep_rows(tmp_path / "results.csv", read(DOCS / kind), Row)
    text = (DOCS / kind / "results.csv").read_bytes()
    assert (tmp_path / "results.csv").read_bytes() == text


def test_a_committed_table_is_gone_on_with(tmp_path):
    table = tmp_path / "results.csv"
    shutil.copy(DOCS / "results.csv", table)
    old = table.read_text().splitlines()
    run(tmp_path, "uniform")
    new = table.read_text().splitlines()
    assert len(set(old) - set(new)) == 1  # "sure" is a pool of the table
    assert len(set(new) - set(old)) == 2  # "equal" is none


def test_measuring_some_algorithms_again_keeps_the_rows_of_the_others(tmp_path):
    run(tmp_path, "uniform", "lucb")
    found = [(row.case, row.algorithm) for row in run(tmp_path, "lucb")]
    assert sorted(found) == [(c, a) for c in ("equal", "sure") for a in ("lucb", "uniform")]
    assert [case for case, _ in found] == ["sure", "sure", "equal", "equal"]


def test_the_same_seeds_give_the_same_files(tmp_path):
    for folder in ("one", "two"):
        run(tmp_path / folder, "uniform", "lucb")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_broken_promise_stands_out_in_the_table():
    row = made_up(*[0.2] * 14, *[0.0] * 26)
    assert "**14 of 40**" in report.rows_markdown([row])
    assert "- `adaptive-top-k` on sure: **14 of 40**" in report.rows_markdown([row])


# -- a crowd that takes its time

RNG_SEED = 5
PROMPT = latency.CrowdLatency("prompt")


def hands(truth, manner=PROMPT):
    return latency.OpenAssignments(np.array(truth), manner, np.random.default_rng(RNG_SEED))


def test_answers_count_in_the_order_of_asking_and_all_of_them():
    crowd = hands([1.0, 0.0])
    crowd.give(np.array([3, 2]))
    assert crowd.pending.tolist() == [3, 2]
    counted = []
    while crowd.pending.any():
        counted += zip(*crowd.wait(), strict=True)
    assert sorted(counted) == [(0, 1.0)] * 3 + [(1, 0.0)] * 2


def test_a_lost_assignment_counts_as_not_right_when_its_time_is_up():
    crowd = hands([1.0], latency.CrowdLatency("gone", lost=1.0))
    crowd.give(np.array([1]))
    assert crowd.room.tolist() == [latency.EACH - 1]
    assert crowd.wait() == ([0], [0.0])
    assert latency.DUE <= crowd.now <= latency.DUE + 2 * latency.STEP
    assert crowd.room.tolist() == [latency.EACH]


def test_answers_behind_a_lost_one_wait_without_taking_a_hand():
    crowd = hands([1.0])
    crowd._held[0].extend([(latency.DUE, 0.0), (1.0, 1.0)])
    crowd.now = 2.0
    assert crowd.pending.tolist() == [2]
    assert crowd.room.tolist() == [latency.EACH - 1]
    assert crowd.wait() == ([0, 0], [0.0, 1.0])


def test_answers_come_in_time_as_often_as_they_are_right():
    crowd = hands(np.full(2000, 0.8), latency.CrowdLatency("slow", slow=0.2, lost=0.05))
    crowd.give(np.ones(2000, int))
    rewards = []
    while crowd.pending.any():
        rewards += crowd.wait()[1]
    expected = crowd.manner.in_time(0.8)
    assert abs(np.mean(rewards) - expected) < 4 * math.sqrt(expected * (1 - expected) / 2000)


@pytest.mark.parametrize("algorithm", ["certified", "credible", "lucb"])
def test_open_questions_at_the_stop_are_paid(algorithm):
    means = np.repeat([0.95, 0.2], [2, 6])
    asked = {"k": 2, "epsilon": 0.2, "delta": 0.1}
    outcome = latency.play_with_latency(algorithm, means, PROMPT, 8, 60_000, RNG_SEED, **asked)
    assert outcome.reasons == ("guarantee",)
    assert outcome.selection.tolist() == [0, 1]
    assert outcome.pulls == outcome.pulls_per_arm.sum()


@pytest.mark.parametrize(("algorithm", "most"), [("certified", 3_500), ("credible", 1_400)])
def test_limit_of_open_questions_makes_our_algorithms_no_dearer(algorithm, most):
    asked = {"k": 20, "epsilon": 0.1, "delta": 0.01}
    pulls = latency.play_with_latency(
        algorithm, two_group(100, 20), PROMPT, 200, 60_000, RNG_SEED, **asked
    ).pulls
    assert pulls < most


def test_the_table_of_delays_compares_with_one_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(delays, "CASES", (SURE.name,))
    monkeypatch.setattr(delays, "AT_ONCE", (1, 4))
    for algorithm in delays.OURS:
        study = delays.build_study(wanted(tmp_path, algorithm, "uniform"))
        assert len(study.cells) == 4
        carry_out(study, play_in_process, quiet)
    found = read(tmp_path / "delays")
    assert len(found) == 8
    page = (tmp_path / "delays" / "README.md").read_text()
    assert page.count("| slow and lost | 4 |") == page.count("| prompt | 1 |") == 2
    ours = {row.case: row.answers for row in found if row.algorithm == "credible"}
    alone, four = (ours[f"{SURE.name}, prompt, {at_once}"] for at_once in (1, 4))
    assert f"| {four:,.0f} | {four / alone - 1:+.0%} |" in page


# -- the command


def test_the_quick_command_measures_every_small_case_and_writes_table_and_plots(tmp_path):
    names = ["--only", "uniform", "kl-lucb"]
    assert main(["validate", "--quick", *names, "--out", str(tmp_path), "--quiet"]) == 0
    with (tmp_path / "results.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2 * 18
    assert {line["algorithm"] for line in lines} == {"uniform", "kl-lucb"}
    assert not any(row.broken for row in read(tmp_path))
    assert "chance allow\n\nNone." in (tmp_path / "README.md").read_text()


def test_the_chart_leaves_out_algorithms_that_it_does_not_show(tmp_path):
    study = chart.build_study(wanted(tmp_path, "lucb", "uniform"))
    assert {cell.algorithm for cell in study.cells} == {"lucb"}
    small = [replace(study.cells[0], effort=EFFORT)]
    carry_out(replace(study, cells=small), play_in_process, quiet)
    assert 0 < (tmp_path / "pool-size.png").stat().st_size < 60_000
    assert [row.n for row in read(tmp_path / "chart")] == [25]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--only", "nonesuch"], "There is no algorithm “nonesuch”"),
        (["--cases", "nonesuch"], "There is no case “nonesuch”"),
        (["--crowds", "/nowhere"], "has no crowd"),
    ],
)
def test_impossible_measurement_is_refused_in_one_line(words, why, capsys):
    assert main(["validate", *words]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1
