"""The study of the honesty of forecasts."""

import numpy as np
import pytest

from research.validation import cases
from research.validation.forecasts import Cell, believed_range, build_study
from research.validation.measure import QUICK
from research.validation.suite import StudySettings


def test_study_reports_how_often_the_band_held_the_true_price(tmp_path):
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


def test_study_takes_the_pools_with_a_prior_belief(tmp_path):
    made = build_study(StudySettings(cases.list_cases(), ["credible", "lucb"], QUICK, tmp_path))
    names = [cell.case.name for cell in made.cells]
    assert "two-group-n100" in names
    assert "two-group-n1000" not in names
    assert {cell.algorithm for cell in made.cells} == {"credible"}


def test_a_recorded_crowd_is_believed_in_tenths():
    case = cases.fixed_case("crowd-x", "Recorded crowd x", np.linspace(0.52, 0.88, 11), 2)
    assert believed_range(case) == (0.5, 0.9)
