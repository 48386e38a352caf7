from functools import partial

import numpy as np
import pytest

from topk import ProblemError
from topk.adapters.pytest import assert_none_better, check_none_better  # noqa: F401

ITEMS = range(300)


def draw(strength, name, item):
    return np.random.default_rng([ord(name), item]).random() < strength[name]


def test_default_that_is_best_passes_before_all_items_are_asked():
    score = partial(draw, {"a": 0.9, "b": 0.6, "c": 0.5})
    assert check_none_better("a", "abc", ITEMS, score, epsilon=0.1) < 450


def test_better_candidate_is_named():
    score = partial(draw, {"a": 0.5, "b": 0.9})
    with pytest.raises(AssertionError, match=r"'b' beats 'a' by more than 0\.05: at least \.?0"):
        check_none_better("a", ["b"], ITEMS, score)


@pytest.mark.parametrize(("less", "passes"), [(15, True), (16, False)])
def test_all_items_decide_exactly(less, passes):
    """Of 300 items, 15 are the share .05 that is still allowed."""
    right = {"a": 200, "b": 200 + less}

    def check():
        check_none_better("a", ["b"], ITEMS, lambda name, item: item < right[name], epsilon=0.05)

    if passes:
        check()
    else:
        with pytest.raises(AssertionError):
            check()


@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_verdict_is_rarely_wrong(delta):
    """The better one is better by .06 of 100 items: 100 runs, with at most delta of them wrong."""
    wrong = 0
    for seed in range(100):
        try:
            check_none_better(
                "a",
                ["b"],
                range(100),
                lambda name, item: item < {"a": 60, "b": 66}[name],
                delta=delta,
                seed=seed,
            )
            wrong += 1
        except AssertionError:
            pass
    assert wrong <= 100 * delta


def test_bad_arguments_are_refused():
    with pytest.raises(ProblemError, match="candidate besides"):
        check_none_better("a", ["a"], ITEMS, lambda *_: 1)
    with pytest.raises(ProblemError, match="score of 'a' is 2"):
        check_none_better("a", ["b"], ITEMS, lambda *_: 2)


def test_exception_is_a_missing_result_and_shown_as_a_warning():
    def ask(name, item):
        if name == "b" and item % 50 == 7:
            raise TimeoutError("no reply")
        return item < {"a": 200, "b": 205}[name]

    with pytest.warns(UserWarning, match="of 'b' are missing.*TimeoutError: no reply"):
        assert check_none_better("a", ["b"], ITEMS, ask, epsilon=0.05) > 300


def test_candidate_that_always_fails_is_set_aside():
    def ask(name, item):
        if name == "b":
            raise ConnectionError("refused")
        return True

    with pytest.warns(UserWarning, match="10 results of 'b' .* It was set aside"):
        check_none_better("a", ["b", "c"], ITEMS, ask)


def test_default_that_always_fails_fails_the_test():
    def ask(name, item):
        raise ConnectionError("refused")

    with pytest.raises(AssertionError, match="'a' failed 10 times in a row: ConnectionError"):
        check_none_better("a", ["b"], ITEMS, ask)


def test_fixture_is_found_by_its_name(assert_none_better):  # noqa: F811
    assert assert_none_better is check_none_better
