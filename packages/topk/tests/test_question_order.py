"""The order of a worker's questions. Runs that go on depend on it, so it is pinned in numbers."""

import numpy as np
import pytest

from topk import question_order

LAST_SEED = 2**31 - 1
WHOLE_DECKS = [
    (0, 0, [0]),
    (7, 3, [0]),
    (0, 0, [0, 1]),
    (7, 0, [1, 0]),
    (7, 1, [0, 1]),
    (0, 0, [0, 2, 1]),
    (7, 0, [2, 0, 1]),
    (LAST_SEED, 5, [2, 0, 1]),
    (7, 0, [9, 4, 8, 0, 3, 6, 2, 1, 5, 7]),
    (7, 1, [2, 6, 9, 5, 0, 7, 8, 4, 1, 3]),
    (LAST_SEED, 999, [2, 9, 3, 6, 7, 4, 5, 8, 0, 1]),
]
PLACES = [0, 1, 2, 3, 4, 5, 500, 501, 996, 997, 998, 999]
OF_A_THOUSAND = [
    (0, 0, [471, 323, 895, 637, 71, 364, 565, 541, 838, 411, 326, 52]),
    (7, 0, [886, 925, 31, 685, 73, 454, 734, 314, 504, 694, 28, 290]),
    (7, 1, [884, 980, 527, 324, 642, 65, 971, 220, 944, 253, 447, 90]),
    (LAST_SEED, 999, [560, 725, 151, 526, 62, 516, 757, 434, 445, 919, 833, 140]),
]
RANKED = [0, 1, 999]
RANKS = [
    (0, 0, [12103184956288865414, 16965494097514110161, 3446552167019289063]),
    (7, 0, [14602521892564604090, 11300706942943552286, 16510426253919895745]),
    (7, 1, [17043244092399385030, 17556626421472724533, 13109762250991266599]),
    (LAST_SEED, 999, [12642773931832432998, 3979842478065508946, 8301467336663645457]),
]


@pytest.mark.parametrize(("seed", "arm", "order"), WHOLE_DECKS)
def test_a_small_deck_is_in_the_order_it_always_had(seed, arm, order):
    dealt = question_order.questions_at(seed, [arm] * len(order), np.arange(len(order)), len(order))
    assert dealt.tolist() == order


@pytest.mark.parametrize(("seed", "arm", "numbers"), OF_A_THOUSAND)
def test_a_large_deck_is_in_the_order_it_always_had(seed, arm, numbers):
    assert question_order.questions_at(seed, [arm] * len(PLACES), PLACES, 1000).tolist() == numbers


@pytest.mark.parametrize(("seed", "arm", "keys"), RANKS)
def test_keys_that_shuffle_a_deck_never_change(seed, arm, keys):
    assert question_order.shuffle_ranks(seed, [arm] * len(RANKED), RANKED).tolist() == keys


def test_decks_of_several_arms_are_dealt_at_once():
    seed, first, second = 7, WHOLE_DECKS[8], WHOLE_DECKS[9]
    arms = np.repeat([first[1], second[1]], 10)
    dealt = question_order.questions_at(seed, arms, np.tile(np.arange(10), 2), 10)
    assert dealt.tolist() == first[2] + second[2]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 16, 17, 1000])
def test_decks_hold_each_question_once(size):
    for arm in range(20):
        dealt = question_order.questions_at(3, [arm] * size, np.arange(size), size)
        assert sorted(dealt.tolist()) == list(range(size))


@pytest.mark.parametrize("place", [-1, 3])
def test_a_deck_has_no_place_outside(place):
    with pytest.raises(ValueError, match="positions 0 to 2"):
        question_order.questions_at(7, [0], [place], 3)


@pytest.mark.parametrize("size", [1, 2, 17, 100])
def test_remaining_questions_keep_their_order(size):
    rng = np.random.default_rng(size)
    for arm in range(5):
        met = rng.permutation(size)[: rng.integers(size)].tolist()
        order = question_order.questions_at(7, np.full(size, arm), np.arange(size), size)
        left = [number for number in order.tolist() if number not in met]
        places = rng.permutation(len(left))
        assert question_order.questions_without(7, arm, places, size, met).tolist() == [
            left[i] for i in places
        ]
