"""The lookup of rows by thousands of numbers at once."""

import numpy as np
import pytest

from selection.models import Worker
from tests.worlds import make_pool

pytestmark = pytest.mark.django_db


def test_lookup_finds_existing_rows_among_many_missing_ones():
    pool = make_pool(5)
    ids = list(pool.workers.order_by("id").values_list("id", flat=True))
    wanted = np.array([*ids[1:4], *range(10**6, 10**6 + 70_000)])  # more than one by one would go
    found = Worker.objects.filter(pk__among=wanted).order_by("id").values_list("id", flat=True)
    assert list(found) == ids[1:4]


def test_two_lookups_find_the_intersection():
    pool = make_pool(5)
    ids = np.array(pool.workers.order_by("id").values_list("id", flat=True))
    both = pool.workers.filter(pk__among=ids[:3]).filter(pk__among=ids[1:])
    assert set(both.values_list("id", flat=True)) == set(ids[1:3].tolist())


def test_empty_lookup_finds_no_row():
    pool = make_pool(2)
    assert not pool.workers.filter(pk__among=[]).exists()
    assert pool.workers.exclude(pk__among=[]).count() == 2
