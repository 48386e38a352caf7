"""Pairs that are wrong in the same way: reported if they copy, and hardly ever otherwise."""

import numpy as np
import pytest

from topk.collusion import identical_errors

from .crowds import answers, most_alarms

RATE = 0.01 / 2


def wrong(who, asked, said, right):
    return who[~right], asked[~right], said[~right]


@pytest.mark.parametrize("choices", [3, 12])
def test_false_alarms_are_no_more_than_stated(choices, sample):
    crowds, rate = sample(150, 2000), 0.05
    found = sum(
        bool(identical_errors(*wrong(*answers(seed, choices=choices)), rate))
        for seed in range(crowds)
    )
    assert found <= most_alarms(crowds, rate)


def copied(seed, share=1.0, **crowd):
    """Let worker 1 copy the answers of worker 0."""
    who, asked, said, right = answers(seed, **crowd)
    rng = np.random.default_rng([seed, 3])
    first = {asked[i]: i for i in np.flatnonzero(who == 0)}
    for i in np.flatnonzero(who == 1):
        if asked[i] in first and rng.random() < share:
            said[i], right[i] = said[first[asked[i]]], right[first[asked[i]]]
    return who, asked, said, right


def test_copy_of_an_often_wrong_worker_is_named_with_the_original():
    who, asked, said, right = copied(2, each=60)
    pair, *others = identical_errors(*wrong(who, asked, said, right), RATE)
    assert (pair.one, pair.other) == (0, 1)
    assert not others
    assert pair.same == pair.both > pair.expected + 10
    assert pair.chance < 1e-6


def test_partial_copy_is_named_if_many_wrong_answers_are_possible():
    found = identical_errors(*wrong(*copied(2, share=0.8, each=60, choices=15)), RATE)
    assert [(pair.one, pair.other) for pair in found] == [(0, 1)]


def test_copy_is_not_found_if_only_one_wrong_answer_is_possible():
    assert not identical_errors(*wrong(*copied(2, each=60, choices=2)), RATE)


def test_pairs_do_not_depend_on_numbering_or_order():
    who, asked, said = wrong(*copied(2, each=60))
    first = identical_errors(who, asked, said, RATE)
    order = np.random.default_rng(0).permutation(who.size)
    again = identical_errors(who[order] * 7 + 3, asked[order] + 100, 50 - said[order], RATE)
    assert [(7 * pair.one + 3, 7 * pair.other + 3, pair.same) for pair in first] == [
        (pair.one, pair.other, pair.same) for pair in again
    ]
    assert [pair.chance for pair in first] == pytest.approx([pair.chance for pair in again])


def test_the_chance_is_the_exact_one():
    """Six workers are wrong on four questions, and three pairs among them are always alike."""
    questions, workers = np.repeat(np.arange(4), 6), np.tile(np.arange(6), 4)
    said = np.tile([0, 0, 1, 1, 2, 2], 4)
    found = identical_errors(workers, questions, said, 1.0)
    # Of a question's 15 pairs 3 agree; any of the 15 pairs could stand out as far.
    assert found[0].same == found[0].both == 4
    assert found[0].expected == pytest.approx(0.8)
    assert found[0].chance == pytest.approx(15 * 0.2**4)


def test_empty_input_has_no_pairs():
    nothing = np.zeros(0, np.int64)
    assert identical_errors(nothing, nothing, nothing, RATE) == []
    assert identical_errors([0], [0], [0], RATE) == []


def test_copies_are_found_in_a_large_pool():
    assert identical_errors(*wrong(*copied(2, workers=3000, each=60, choices=8)), RATE)
