"""Prepared statements."""

import pytest
from django.db import IntegrityError, connection, transaction

from selection import engine
from selection.answers.lookup import read_slip
from selection.db.prepared_statements import execute_prepared
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


def test_postgresql_keeps_the_plan_of_repeated_lookups():
    if connection.vendor != "postgresql":
        pytest.skip("no other database keeps plans for a connection")
    for number in range(20):
        read_slip(number)
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(generic_plans) FROM pg_prepared_statements")
        assert cursor.fetchone()[0] > 0


def test_an_error_is_one_that_django_knows():
    run = make_run()
    engine.advance(run.pk)
    first = open_of(run)[0]
    columns = "(id, candidate_id, position, question_id, step)"
    again = f"INSERT INTO selection_assignment {columns} VALUES (%s, %s, 99, %s, 1)"
    row = [first.pk, first.candidate_id, first.question_id]
    with pytest.raises(IntegrityError), transaction.atomic(), execute_prepared(again, row):
        pass
    assert read_slip(first.pk).run_id == run.pk


def test_lookup_connects_a_closed_connection(transactional_db):
    connection.close()
    assert read_slip(1) is None
