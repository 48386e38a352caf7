"""The study of whether forecasts are honest."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from research.validation import cases, honest_forecasts
from research.validation.forecasts import Cell, believed_range, build_study
from research.validation.measure import FULL, QUICK
from research.validation.suite import StudySettings


def test_it_says_how_often_the_band_held_the_true_price(tmp_path):
    case = cases.beta_case(6, 2, 8, 2, 0.3, 0.1)
    cell = Cell(case, "credible", 0.6, 0.9, 3)
    (row,) = cell.play()
    assert row.held + row.below + row.above == pytest.approx(1)
    assert row.low <= row.median <= row.high
    made = build_study(StudySettings([], ["credible"], QUICK, tmp_path))
    made.journal.parent.mkdir(parents=True)
    said = made.write([row])
    assert f"held {row.held:.0%} of the true prices" in said[0]
    assert "| `credible` | 3 |" in (tmp_path / "forecasts" / "README.md").read_text()


def test_it_takes_the_pools_of_which_something_is_believed(tmp_path):
    made = build_study(StudySettings(cases.list_cases(), ["credible", "lucb"], QUICK, tmp_path))
    names = [cell.case.name for cell in made.cells]
    assert "two-group-n100" in names
    assert "two-group-n1000" not in names
    assert {cell.algorithm for cell in made.cells} == {"credible"}


def test_a_recorded_crowd_is_believed_in_tenths():
    case = cases.fixed_case("crowd-x", "Recorded crowd x", np.linspace(0.52, 0.88, 11), 2)
    assert believed_range(case) == (0.5, 0.9)


def test_a_cell_can_be_sent_to_another_machine():
    cell = Cell(cases.beta_case(6, 2, 8, 2, 0.3, 0.1), "credible", 0.6, 0.9, 3)
    assert Cell.read(json.loads(json.dumps(asdict(cell)))).key == cell.key


def test_ten_cases_have_a_belief_that_is_true(tmp_path):
    names = ["credible", "certified", "kl-lucb", "lucb"]
    cells = honest_forecasts.build_study(StudySettings([], names, FULL, tmp_path)).cells
    assert (len(cells), len({cell.key for cell in cells})) == (10, 10)
    assert {(cell.runs, cell.simulated) for cell in cells} == {(25, 60)}
    for cell in cells:
        drawn = cell.case.means(0)
        for number in range(1, 40):
            drawn = np.append(drawn, cell.case.means(number))
        assert 0.7 < np.mean((drawn > cell.low) & (drawn < cell.high)) < 0.9
    (only,) = honest_forecasts.build_study(StudySettings([], ["lucb"], FULL, tmp_path)).cells
    assert only.case.title == "Beta(6,2), n = 20, K = 4, ε = 0.2"
