"""One call from results to the k best."""

import asyncio
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import topk
from topk import ProblemError

ACCURACY = np.array([0.4, 0.95, 0.5, 0.9, 0.45, 0.55])


def draw_table(questions, seed=1):
    rng = np.random.default_rng(seed)
    return (rng.random((6, questions)) < ACCURACY[:, None]).astype(int)


def test_a_table_of_rewards_is_asked_no_oftener_than_the_guarantee_needs():
    found = topk.select(draw_table(2000), k=2, epsilon=0.1)
    assert found.workers.tolist() == [1, 3]
    assert found.complete
    assert found.answers.sum() == found.cost < 2000
    assert "at most 10 points less accurate than the best 2" in found.guarantee


def test_a_short_table_is_used_up_and_the_guarantee_is_the_one_that_holds():
    table = draw_table(20)
    found = topk.select(table, k=2, epsilon=0.01, accuracy=topk.LIKE_THESE)
    assert not found.complete
    assert found.answers.max() == 20
    assert found.workers.tolist() == [1, 3]
    assert "within 0.01 " not in found.guarantee
    assert "With probability at least 95%" in found.guarantee


def test_each_reward_of_a_row_is_taken_once():
    """Rows of known sums: what was told of a worker who answered everything is their sum."""
    found = topk.select(np.eye(6)[:, ::-1] * 0 + 1.0, k=2, epsilon=0.0001, algorithm="lucb")
    assert (found.answers == 6).all()


def test_a_function_is_asked_as_often_as_it_says():
    asked, rng = np.zeros(6, int), np.random.default_rng(4)

    def answer(worker):
        asked[worker] += 1
        return float(rng.random() < ACCURACY[worker])

    prices = np.array([1, 2, 4, 8, 16, 20])
    found = topk.select(
        answer, k=2, epsilon=0.2, n=6, algorithm="universal", prices=prices, budget=900
    )
    assert (found.answers == asked).all()
    assert found.workers.tolist() == [1, 3]
    assert found.cost == asked @ prices


def test_the_same_seed_selects_alike_and_the_order_of_workers_tells_nothing():
    table = draw_table(300)
    one, other = (topk.select(table, k=2, epsilon=0.1, seed=7) for _ in range(2))
    assert (one.answers == other.answers).all()
    equal = [topk.select(np.ones((6, 30)), k=2, seed=seed).workers.tolist() for seed in range(6)]
    assert len({tuple(workers) for workers in equal}) > 1


@pytest.mark.parametrize(
    ("answers", "asked", "message"),
    [
        ([0.5, 0.4], {}, "a table of rewards from 0 to 1"),
        ([[0.5, 2], [1, 0]], {}, "from 0 to 1, and those of the table lie from 0 to 2"),
        ([[1, 0], [1, "x"]], {}, "The table holds the text 'x'"),
        ([[1, 0], [1, 0], [1, 0]], {}, "looks transposed.*rows='items'"),
        ([[1, 0], [1, 0]], {"rows": "both"}, "rows must be 'candidates' or 'items'"),
        (lambda worker: 1.0, {}, "n must say how many workers"),
        ([[1, 0], [1, 0]], {"algorithm": "universal", "prices": [1]}, "one for each of the 2"),
        ([[1, 0], [1, 0]], {"k": 2}, "K must be at least 1 and less"),
    ],
)
def test_other_input_is_refused_in_a_sentence(answers, asked, message):
    with pytest.raises(ProblemError, match=message):
        topk.select(answers, **{"k": 1} | asked)


# -- candidates, items, and a function that asks

NAMES = ["ann", "bo", "cy", "di", "ed", "flo"]
ITEMS = [f"q{i}" for i in range(30)]
QUICK = {"k": 2, "epsilon": 0.4, "algorithm": "lucb"}


def score(name, item):
    return bool(draw_table(60)[NAMES.index(name), ITEMS.index(item)])


async def score_async(name, item):
    await asyncio.sleep(0)
    return score(name, item)


@pytest.mark.parametrize("function", [score, score_async, lambda *pair: score_async(*pair)])
def test_functions_are_asked_many_at_a_time(function):
    found = asyncio.run(topk.aselect(NAMES, ITEMS, function, concurrency=8, **QUICK))
    assert found.names == ["bo", "di"]
    assert found.calls == found.answers.sum() <= 180
    again = topk.select(NAMES, ITEMS, function, concurrency=8, **QUICK)
    assert again.names == found.names


def test_a_synchronous_call_inside_an_event_loop_names_the_other():
    async def call():
        topk.select(NAMES, ITEMS, score_async, k=2)

    with pytest.raises(ProblemError, match=r"write await topk\.aselect"):
        asyncio.run(call())


@pytest.mark.parametrize("is_async", [False, True])
def test_a_mapping_names_functions_and_objects(is_async):
    asks = {name: lambda item, name=name: score(name, item) for name in NAMES}
    if is_async:
        asks = {name: lambda item, name=name: score_async(name, item) for name in NAMES}
        found = asyncio.run(topk.aselect(asks, ITEMS, **QUICK))
    else:
        found = topk.select(asks, ITEMS, **QUICK)
    assert found.names == ["bo", "di"]
    initials = {name[0]: name for name in NAMES}
    assert topk.select(initials, ITEMS, score, **QUICK).names == ["b", "d"]


@pytest.mark.parametrize("is_async", [False, True])
def test_an_exception_is_an_absence_and_too_many_set_a_candidate_aside(is_async):
    def fail_sometimes(name, item):
        if name == "bo" or (name == "cy" and item == "q7"):
            raise TimeoutError("no reply")
        return score(name, item)

    async def fail_later(name, item):
        return fail_sometimes(name, item)

    settings = QUICK | {"epsilon": 0.1, "set_aside_after": 4}
    if is_async:
        found = asyncio.run(topk.aselect(NAMES, ITEMS, fail_later, **settings))
    else:
        found = topk.select(NAMES, ITEMS, fail_sometimes, **settings)
    assert "di" in found.names
    assert "bo" not in found.names
    assert found.set_aside == {"bo": "TimeoutError: no reply"}
    assert found.unreadable["bo"]["TimeoutError: no reply"] >= 4
    assert found.unreadable["cy"] == {"TimeoutError: no reply": 1}
    assert "Set aside: bo." in found.guarantee
    assert "Missing results: " in found.guarantee
    assert found.answers[1] == 0


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_call_that_is_cancelled_from_within_is_an_absence(concurrency):
    def cancel(name, item):
        if name == "cy" and item == "q7":
            raise asyncio.CancelledError
        return score(name, item)

    async def cancel_later(name, item):
        return cancel(name, item)

    settings = QUICK | {"epsilon": 0.01, "concurrency": concurrency}
    for function in (cancel, cancel_later):
        found = topk.select(NAMES, ITEMS, function, **settings)
        assert list(found.unreadable) == ["cy"]


def test_a_selection_ends_if_nearly_all_candidates_fail():
    def fail(name, item):
        raise PermissionError("no key")

    with pytest.raises(topk.StudyError, match=r"Only 2 .*PermissionError: no key") as refusal:
        topk.select(NAMES, ITEMS, fail, k=2, set_aside_after=3)
    best = refusal.value.study.best
    assert len(best.names) == 2
    assert "no guarantee" in best.guarantee


@pytest.mark.parametrize("is_async", [False, True])
def test_stop_iteration_says_that_a_candidate_has_no_more_items(is_async):
    def end_early(name, item):
        if name == "ann" and item >= 5:
            raise StopIteration
        return bool(draw_table(60)[NAMES.index(name), item % 60])

    async def end_early_later(name, item):
        return end_early(name, item)

    function = end_early_later if is_async else end_early
    found = topk.select(NAMES, score=function, budget=200, **QUICK)
    assert found.answers[0] == 5
    assert found.unreadable == found.set_aside == {}


@pytest.mark.parametrize("is_async", [False, True])
def test_an_interruption_keeps_what_was_told(tmp_path, is_async):
    asked = []

    def interrupt(name, item):
        asked.append((name, item))
        if len(asked) == 20:
            raise KeyboardInterrupt
        return score(name, item)

    async def interrupt_later(name, item):
        return interrupt(name, item)

    function = interrupt_later if is_async else interrupt
    settings = QUICK | {"path": tmp_path / "study.db", "budget": 30}
    with pytest.raises(KeyboardInterrupt) as raised:
        topk.select(NAMES, ITEMS, function, **settings)
    assert len(raised.value.study.results) == 19
    told = {(name, item) for name, item, _ in raised.value.study.results}
    del asked[:]
    asked += [None] * 20
    assert topk.select(NAMES, ITEMS, function, **settings).calls == 30
    assert len(asked) == 20 + 11
    assert not told & set(asked[20:])


def test_a_result_of_another_kind_is_named_and_the_others_are_kept():
    def answer(name, item):
        return "yes" if name == "cy" else score(name, item)

    with pytest.raises(ProblemError, match=r"\(cy, q\d+\) is 'yes': a result is True") as raised:
        topk.select(NAMES, ITEMS, answer, **QUICK)
    assert raised.value.study.results


def test_a_study_of_the_caller_stays_open():
    study = topk.Study(NAMES, ITEMS, **QUICK)
    assert topk.select(study, score=score, progress=True).names == study.best.names
    study.tell({})


def test_selection_works_without_numba():
    code = (
        "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None; import topk;"
        "print(topk.select([[0] * 30, [1] * 30, [0, 1] * 15], k=1, epsilon=0.3).names)"
    )
    top = Path(topk.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=top, capture_output=True, text=True)
    assert done.stdout == "[1]\n", done.stderr


def test_study_without_a_score_is_refused():
    with pytest.raises(ProblemError, match="needs a score"):
        topk.select(topk.Study(["a", "b", "c"], range(5), k=1))
