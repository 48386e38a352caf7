"""Bulk inserts and updates: values come out unchanged on each database."""

from datetime import UTC, datetime
from json import dumps

import pytest
from django.db import IntegrityError, transaction

from selection.db import bulk
from selection.models import ApiToken, Worker
from tests.worlds import make_pool

pytestmark = pytest.mark.django_db

NASTY = ["plain", 'a "quoted" one', "a\\backslash", "{braces, commas}", "NULL", "None", "naïve 🙂"]


def insert(pool, keys, ignore_conflicts=False):
    columns = {"key": keys, "name": keys, "attributes": [dumps({"said": key}) for key in keys]}
    return bulk.insert_rows(Worker, columns, {"pool_id": pool.pk}, ignore_conflicts)


@pytest.mark.parametrize("at_once", [3, 20_000])
def test_texts_come_out_as_they_went_in_and_in_order(monkeypatch, at_once):
    monkeypatch.setattr(bulk, "AT_ONCE", at_once)
    pool = make_pool(0)
    assert insert(pool, NASTY) == len(NASTY)
    rows = pool.workers.order_by("pk").values_list("key", "name", "attributes")
    assert list(rows) == [(key, key, {"said": key}) for key in NASTY]


def test_empty_list_inserts_no_row():
    assert insert(make_pool(0), []) == 0


@pytest.mark.parametrize("keys", [["w1"], ["w0", "w1", "w2"]])
def test_existing_rows_are_skipped_or_refuse_the_whole_insert(keys):
    pool = make_pool(2)
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(pool, keys)
    assert pool.workers.count() == 2
    assert insert(pool, keys, ignore_conflicts=True) == len(set(keys) - {"w0", "w1"})


@pytest.mark.parametrize("n", [1, 3])
def test_rows_get_their_own_new_values(n):
    for i in range(4):
        ApiToken.issue(f"token {i}")
    ids = sorted(ApiToken.objects.values_list("pk", flat=True), reverse=True)
    moments = [None, datetime(2026, 1, 2, 3, 4, 5, 600, UTC), datetime(2026, 1, 3, tzinfo=UTC)]
    bulk.update_rows(ApiToken, ids[:n], {"used": moments[:n], "by": NASTY[1 : n + 1]})
    rows = ApiToken.objects.order_by("-pk").values_list("used", "by")
    untouched = [(None, "")] * (4 - n)
    assert list(rows) == [*zip(moments[:n], NASTY[1 : n + 1], strict=True), *untouched]


@pytest.mark.parametrize("n", [1, 3])
def test_none_keeps_the_value_of_a_kept_column(n):
    then, now = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC)
    for i in range(n):
        ApiToken.issue(f"token {i}")
    ApiToken.objects.update(used=then, by="before")
    ids = list(ApiToken.objects.order_by("pk").values_list("pk", flat=True))
    moments = [None, now, None][:n]
    bulk.update_rows(ApiToken, ids, {"used": moments, "by": ["after"] * n}, kept=("used",))
    rows = ApiToken.objects.order_by("pk").values_list("used", "by")
    assert list(rows) == [(moment or then, "after") for moment in moments]
