"""The usual practice: its rules, and the table of their results."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from scipy.stats import binomtest

from research import tables
from research.__main__ import main
from research.cells import carry_out
from research.processes import play_in_process
from research.validation import baselines, cases, practice, suite
from research.validation.baselines import HABITS, Labels
from research.validation.measure import Effort
from research.validation.practice import Cell, Row

TOP = Path(settings.BASE_DIR)
TABLE = TOP / "research" / "docs" / "validation" / "practice" / "results.csv"
USUAL = cases.beta_case(6, 2, 100, 20, 0.05, 0.05)
SURE = cases.fixed_case("two-group-n100", "Sure", np.repeat([1.0, 0.0], [2, 4]), 2)
EFFORT = Effort(runs=200, seconds=math.inf, cap=60_000)
ROUNDED = 1e-6


def played(rule: str, case: cases.Case = USUAL, runs: int = 200) -> Row:
    (row,) = Cell(case, rule, replace(EFFORT, runs=runs)).play()
    return row


# -- the rules


@pytest.mark.parametrize("answers", [1, 10, 37])
def test_the_interval_is_wilsons(answers):
    right = np.arange(answers + 1)
    lower, upper = baselines.wilson_interval(right, np.full(answers + 1, answers))
    for i in right.tolist():
        known = binomtest(i, answers).proportion_ci(0.95, method="wilson")
        assert (lower[i], upper[i]) == pytest.approx((known.low, known.high), abs=1e-12)


def labels(*rows: str) -> Labels:
    """A row for each worker, y or n for each question."""
    yes = np.array([[said == "y" for said in row] for row in rows])
    worker, question = np.indices(yes.shape)
    return Labels(worker.ravel(), question.ravel(), yes.ravel())


FIVE = (
    "yynynnyynnynnyyn",
    "ynnyynnynnynyyyn",
    "ynnyynnynnynnnyn",
    "nynynnnynnyynnyn",
    "ynyyynnynnyyyyny",
)
SIX = (*FIVE, "nnnnynnnynynyyyn")


def test_skills_equal_those_of_crowd_kit():
    """As crowd-kit 1.4.2 gives them: Wawa and OneCoinDawidSkene."""
    agreement = [0.8125, 0.9375, 0.9375, 0.6875, 0.6875]
    assert labels(*FIVE).majority_agreement() == pytest.approx(agreement, abs=ROUNDED)
    skills = [0.75, 1.0, 0.875, 0.625, 0.75, 0.75]
    assert labels(*SIX).skills() == pytest.approx(skills, abs=ROUNDED)


def test_workers_answer_equally_many_questions_and_five_share_each():
    drawn = Labels.draw_labels(7, np.full(20, 0.8), np.random.default_rng(1))
    assert np.bincount(drawn.worker).tolist() == [7] * 20
    assert np.bincount(drawn.question).tolist() == [5] * 28
    pairs = set(zip(drawn.worker.tolist(), drawn.question.tolist(), strict=True))
    assert len(pairs) == 140


def test_skills_are_nearer_to_the_truth_than_agreement_is():
    means = np.repeat([0.95, 0.55], [50, 50])
    drawn = Labels.draw_labels(200, means, np.random.default_rng(2))
    off = [np.abs(found - means).mean() for found in (drawn.skills(), drawn.majority_agreement())]
    assert off[0] < 0.03 < off[1]


def test_worst_swaps_are_the_gaining_ones():
    lower, upper = np.array([0.5, 0.9, 0.4]), np.array([0.3, 0.7, 0.6, 0.2])
    assert baselines.worst_swaps(lower, upper) == pytest.approx((0.7 - 0.4) + (0.6 - 0.5))
    assert baselines.worst_swaps(lower, np.array([0.7])) == pytest.approx(0.3)
    assert baselines.worst_swaps(np.array([0.9]), np.array([0.1, 0.2])) == 0


def test_ties_are_broken_at_random():
    rng = np.random.default_rng(3)
    taken = [arm for _ in range(600) for arm in baselines.top_scores(np.full(6, 0.5), 2, rng)]
    assert np.bincount(taken).min() > 150


@pytest.mark.parametrize("rule", list(HABITS))
def test_rules_find_perfect_workers_among_workers_who_are_never_right(rule):
    """Without known answers agreement is found: four workers who are never right agree."""
    row = played(rule, SURE, runs=3)
    if rule.startswith(("majority", "dawid")):
        assert row.taken == 2
    elif rule == "wilson-10":
        assert (row.taken, row.off) == (0, 3)
    else:
        assert (row.taken, row.off, row.loss) == (2, 0, 0)


# -- their results on known pools


def test_ten_questions_each_miss_in_two_pools_of_five_and_twenty_in_one_of_fifty():
    ten, twenty = played("best-10", runs=600), played("best-20", runs=600)
    assert (ten.answers, twenty.answers) == (1000, 2000)
    assert ten.low < 0.42 < ten.high
    assert twenty.low < 0.02 < twenty.high < 0.06


def test_pass_mark_admits_56_workers_of_which_two_thirds_deserve_it():
    row = played("pass-10")
    assert row.taken == pytest.approx(56, abs=1)
    assert row.deserving == pytest.approx(2 / 3, abs=0.03)
    assert row.off == row.runs


def test_the_unproved_rule_takes_a_thousand_answers_for_three_of_twelve():
    row = played("stop-and-drop", cases.beta_case(6, 2, 12, 3, 0.05, 0.05), runs=60)
    assert 900 < row.answers < 1200
    assert row.off == 0


def test_empty_selection_is_a_miss_without_loss():
    row = played("wilson-10")
    assert (row.taken, row.off) == (0, row.runs)
    assert math.isnan(row.loss)
    assert "|  | 0 |  |" in practice.section_markdown([row])


def test_ours_play_the_same_pools():
    row = played("credible", runs=6)
    assert (row.taken, row.off) == (20, 1)
    assert 500 < row.answers < 2000


# -- the table


def run(folder: Path, *algorithms: str) -> list[str]:
    effort = replace(EFFORT, runs=2)
    study = practice.build_study(suite.StudySettings([SURE, USUAL], algorithms, effort, folder))
    return carry_out(study, play_in_process, lambda more, title: None)


def test_table_keeps_the_measurements_of_other_rules(tmp_path):
    run(tmp_path, "credible", "lucb")
    said = "\n".join(run(tmp_path))
    rows = tables.read_table(tmp_path / "practice" / "results.csv", Row)
    assert len(rows) == 2 * (len(HABITS) + 1)
    page = (tmp_path / "practice" / "README.md").read_text()
    assert page.count("| `credible` | how good, on average |") == 2
    assert "| Sure, n = 6, K = 2, ε = 0.05 | 5 | 30 |" in page
    assert "10 questions each, pass mark 80 % | the price" in said


def test_the_command_prints_the_table(tmp_path, capsys):
    options = ["--quick", "--cases", "uniform-n100", "--only", "lucb", "--processes", "1"]
    assert main(["validate", "--practice", *options, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "UNIFORM" in said
    assert "| 50 questions each, then the best K | the price | 2 | 5,000 |" in said
    assert (tmp_path / "practice" / "README.md").exists()


def test_the_page_for_people_has_the_figures_that_were_measured():
    rows = tables.read_table(TABLE, Row)
    page = (TOP / "docs" / "which-algorithm.md").read_text()
    table = page.split("## Common practice")[1].split("\n## ")[0]
    measured = [row for row in rows if row.case == USUAL.name and f"`{row.rule}`" in table]
    assert len(measured) >= 8
    for row in measured:
        line = next(line for line in table.splitlines() if f"`{row.rule}`" in line)
        assert f"| {row.answers:,.0f} | {practice.format_share(row.off / row.runs)} |" in line
