"""Rows that foreign keys lead to, read in one query."""

import pytest

from selection.db.related import attach_related
from selection.models import Assignment, Candidate, ModelCall
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


def test_rows_are_read_once_and_attached(django_assert_num_queries):
    run = make_run(n=3)
    candidates = list(Candidate.objects.filter(run=run))
    with django_assert_num_queries(1):
        (found,) = attach_related(candidates, "run")
        assert found == run
        assert [candidate.run for candidate in candidates] == [run] * 3


def test_no_rows_need_no_query(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert attach_related([], "run") == []


def test_attaching_skips_empty_keys_and_deleted_rows():
    gone = ModelCall(assignment_id=12345)
    assert attach_related([ModelCall(), gone], "assignment") == []
    assert gone.assignment is None
    lost = Assignment(candidate_id=12345)
    assert attach_related([lost], "candidate") == []
    with pytest.raises(Candidate.DoesNotExist):
        _ = lost.candidate


def test_attached_rows_equal_a_join():
    run = make_run(n=4)
    joined = {one.pk: one.question.key for one in open_of(run)}
    assignments = list(Assignment.objects.filter(candidate__run=run))
    attach_related(assignments, "question")
    assert {one.pk: one.question.key for one in assignments} == joined
