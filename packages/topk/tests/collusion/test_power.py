"""The stated detection power is that of simulated sharing."""

import numpy as np
import pytest

from topk.collusion import compare, copying_power, identical_errors

from .crowds import answers

RATE = 0.01 / 2
WORKERS, TRIALS = 40, 120


def stated(crowd, rate=RATE):
    """The power of copying for a crowd of ``answers``."""
    who, asked, said, right = crowd
    able = compare(who[~right], asked[~right], said[~right], rate)[1]
    number = np.where(right, -1, said)
    return copying_power(who, asked, number, able, rate)


def is_copier_found(crowd, rng):
    """Let one worker send the answers of another; return True if ``identical_errors`` reports the
    two.
    """
    who, asked, said, right = (column.copy() for column in crowd)
    source, copier = rng.choice(WORKERS, 2, replace=False)
    first = {asked[i]: i for i in np.flatnonzero(who == source)}
    for i in np.flatnonzero(who == copier):
        if (j := first.get(asked[i])) is not None:
            said[i], right[i] = said[j], right[j]
    found = identical_errors(who[~right], asked[~right], said[~right], RATE)
    return {int(source), int(copier)} in [{pair.one, pair.other} for pair in found]


@pytest.mark.slow
@pytest.mark.parametrize(("each", "choices"), [(12, 4), (40, 4), (60, 12), (60, 2)])
def test_the_stated_power_is_that_of_planted_sharing(each, choices):
    """The tolerance is four standard errors of both estimates, at most 0.21."""
    crowd = answers(3, each=each, choices=choices, questions=60)
    rng = np.random.default_rng(9)
    simulated = np.mean([is_copier_found(crowd, rng) for _ in range(TRIALS)])
    middle = (stated(crowd) + simulated) / 2
    error = np.sqrt(max(middle * (1 - middle), 0.01) * (1 / TRIALS + 1 / 400))
    assert stated(crowd) == pytest.approx(simulated, abs=4 * error)


def test_a_dozen_answers_have_hardly_any_power_and_sixty_of_many_choices_much():
    assert stated(answers(3, each=12)) < 0.05
    assert stated(answers(3, each=60, choices=12)) > 0.5


def test_single_wrong_answer_gives_no_power_to_show_copying():
    assert stated(answers(3, each=60, choices=2)) == 0


def test_power_is_the_same_however_workers_are_numbered():
    who, asked, said, right = answers(3, each=40)
    assert stated((who * 3 + 5, asked, said, right)) == stated((who, asked, said, right))


def test_empty_input_has_no_power():
    nothing = np.zeros(0, np.int64)
    able = compare(nothing, nothing, nothing, RATE)[1]
    assert copying_power(nothing, nothing, nothing, able, RATE) == 0
    assert copying_power([3], [0], [0], able, RATE) == 0
