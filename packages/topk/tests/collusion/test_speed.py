"""Workers that are far too quick: reported, and hardly ever if people only differ."""

import numpy as np
import pytest

from topk.collusion import too_quick

from .crowds import answers, most_alarms, seconds, some

RATE = 0.01 / 2


@pytest.mark.parametrize(("between", "workers"), [(0.2, 40), (0.45, 40), (0.7, 40), (0.45, 12)])
def test_false_alarms_are_no_more_than_stated(between, workers, sample):
    crowds, rate, found = sample(200, 3000), 0.05, 0
    for seed in range(crowds):
        who, asked, *_ = answers(seed, workers, each=30)
        times, there = seconds(seed, who, asked, between), some(seed, who)
        found += bool(too_quick(who[there], asked[there], times[there], rate))
    assert found <= most_alarms(crowds, rate)


def hurried(*hasty, seed=3, factor=0.08):
    who, asked, *_ = answers(seed, each=30)
    times = seconds(seed, who, asked)
    return who, asked, np.where(np.isin(who, hasty), times * factor, times)


def test_worker_who_takes_a_tenth_of_the_time_is_named():
    (quick,) = too_quick(*hurried(5), RATE)
    assert quick.worker == 5
    assert quick.answers == 30
    assert 0.02 < quick.pace < 0.2


def test_several_do_not_hide_each_other():
    found = too_quick(*hurried(5, 8, 21, factor=0.03), RATE)
    assert {quick.worker for quick in found} == {5, 8, 21}


def test_speed_is_compared_on_the_same_questions():
    """A worker that got the short questions only is not quick."""
    who, asked, times = hurried()
    long = asked >= 30
    times = np.where(long, times * 40, times)
    kept = ~((who == 5) & long)
    assert too_quick(who[kept], asked[kept], times[kept], RATE) == []


def test_slightly_quicker_worker_among_similar_ones_is_not_named():
    who, asked, *_ = answers(3, each=30)
    times = seconds(3, who, asked, between=0.01, within=0.05)
    assert too_quick(who, asked, np.where(who == 5, times / 2, times), RATE) == []
    assert too_quick(who, asked, np.where(who == 5, times / 5, times), RATE)


def test_a_few_workers_or_answers_say_nothing():
    nothing = np.zeros(0)
    assert too_quick(nothing, nothing, nothing, RATE) == []
    who, asked, times = hurried(5)
    few = who < 9
    assert too_quick(who[few], asked[few], times[few], RATE) == []


@pytest.mark.parametrize("each", [12, 50])
def test_tenth_of_the_time_is_noticed_in_half_of_the_crowds(each):
    """The power of tests with less than a fifth at both lengths is too low to keep them."""
    found = 0
    for seed in range(60):
        who, asked, *_ = answers(seed, each=each)
        times = seconds(seed, who, asked)
        times[who == seed % 40] /= 10
        found += seed % 40 in [quick.worker for quick in too_quick(who, asked, times, RATE)]
    assert found > 30
