"""Positions and polygons that the charts share."""

from datetime import UTC, datetime, timedelta

from selection.charts.scales import draw_band, draw_line, place_times, spread

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_times_are_placed_by_their_distance():
    times = [START, START + timedelta(hours=1), START + timedelta(hours=4)]
    assert place_times(times, 100) == [0, 25, 100]


def test_equal_times_are_spread_evenly():
    assert place_times([START] * 3, 100) == spread(3, 100) == [0, 50, 100]


def test_a_band_goes_there_on_its_lower_line_and_back_on_its_upper_one():
    assert draw_line([0, 10], [1, 2]) == "0.0,1.0 10.0,2.0"
    assert draw_band([0, 10], [1, 2], [3, 4]) == "0.0,1.0 10.0,2.0 10.0,4.0 0.0,3.0"
