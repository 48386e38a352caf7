"""Beliefs as pools that can be drawn."""

import numpy as np
import pytest

from selection.errors import Refused
from selection.forecast import (
    DefaultBelief,
    PastBelief,
    RangeBelief,
    belief_from_named_run,
    past_belief,
)
from selection.models import Run
from tests import worlds


def pools(belief, n=200, many=200):
    return np.array([belief.draw(n, np.random.default_rng([1, i])) for i in range(many)])


@pytest.mark.parametrize(
    "belief", [RangeBelief(0.6, 0.9), DefaultBelief(), PastBelief("x", (9, 1, 5), (10, 10, 10))]
)
def test_pools_are_accuracies_and_differ_by_more_than_luck(belief):
    drawn = pools(belief)
    assert ((drawn > 0) & (drawn < 1)).all()
    by_luck = drawn.std(axis=1).mean() / np.sqrt(drawn.shape[1])
    assert drawn.mean(axis=1).std() > 2 * by_luck


def test_most_workers_are_in_the_range_and_the_others_on_either_side():
    drawn = pools(RangeBelief(0.6, 0.9))
    inside = ((drawn >= 0.6) & (drawn <= 0.9)).mean()
    assert 0.65 < inside < 0.85
    assert (drawn < 0.6).mean() > 0.08
    assert (drawn > 0.9).mean() > 0.06


@pytest.mark.parametrize("ends", [(0.9, 0.6), (0, 1), (0.6, 0.6), (float("nan"), 0.9)])
def test_invalid_range_is_refused(ends):
    with pytest.raises(Refused, match=r"for example 0\.6-0\.9"):
        RangeBelief(*ends)


def test_a_crowd_like_a_past_one_has_its_accuracies():
    good_and_poor = [(19, 20)] * 40 + [(6, 20)] * 40
    drawn = pools(past_belief("a file", good_and_poor))
    assert 0.55 < drawn.mean() < 0.7
    assert (np.abs(drawn - 0.62) < 0.1).mean() < 0.25  # mostly one or the other


def test_past_belief_needs_two_workers_with_answers():
    assert past_belief("a file", [(3, 4), (0, 0), (1, 4)]).answers == (4, 4)
    with pytest.raises(Refused, match="fewer than two workers"):
        past_belief("a file", [(3, 4), (0, 0)])


@pytest.mark.django_db
def test_a_run_can_be_learned_from_by_name_or_number():
    run = worlds.make_run(4)
    run.candidates.update(pulls=10, rewards=7)
    assert (
        belief_from_named_run(run.name, Run.objects.all()).answers
        == belief_from_named_run(str(run.pk), Run.objects.all()).answers
        == (10,) * 4
    )
    assert run.name in belief_from_named_run(run.name, Run.objects.all()).words


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["nobody", "99999", "9" * 40, "²"])
def test_a_run_that_is_not_there_is_refused(name):
    with pytest.raises(Refused, match="no run"):
        belief_from_named_run(name, Run.objects.all())
