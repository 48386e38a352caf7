"""Numbers of many rows, read as arrays."""

from datetime import UTC, datetime

import numpy as np
import pytest
from django.db import connection
from django.db.models import Q

from selection.db.read_columns import Seconds, read_table
from selection.models import Candidate
from tests.worlds import make_run

COLUMNS = ("arm", "id", "verdict", "rewards", "left")


@pytest.fixture
def run():
    run = make_run(n=7)
    run.candidates.filter(arm=2).update(rewards=0.1, verdict=-1, gone="left")
    return run


@pytest.mark.django_db
def test_columns_read_numbers_of_many_kinds_to_the_last_bit(run):
    rows = run.candidates.annotate(left=~Q(gone="")).order_by("-arm")
    read = read_table(rows, COLUMNS)
    assert read.dtype == np.float64
    assert read.T.tolist() == [list(map(float, row)) for row in rows.values_list(*COLUMNS)]


@pytest.mark.django_db
@pytest.mark.parametrize("rows", [Candidate.objects.filter(arm=99), Candidate.objects.none()])
def test_columns_without_rows_are_empty(rows):
    assert read_table(rows, ("arm", "rewards")).shape == (2, 0)


@pytest.mark.django_db
def test_null_is_not_read_as_a_number(run):
    """PostgreSQL sends nulls in fewer bytes, which would shift the rest."""
    if connection.vendor == "postgresql":
        with pytest.raises(ValueError, match="null"):
            read_table(run.candidates, ("arm", "decided_in"))
    else:
        assert np.isnan(read_table(run.candidates, ("arm", "decided_in"))[1]).all()


@pytest.mark.django_db
@pytest.mark.parametrize("fraction", [0, 1, 999, 499_500, 500_000, 999_499, 999_500, 999_999])
def test_moments_are_read_to_the_microsecond(run, fraction):
    at = datetime(2026, 11, 26, 23, 59, 59, fraction, UTC)
    run.candidates.update(seen=at)
    (seconds,) = read_table(run.candidates.annotate(at=Seconds("seen")), ("at",))
    assert [datetime.fromtimestamp(one, UTC) for one in seconds] == [at] * 7
