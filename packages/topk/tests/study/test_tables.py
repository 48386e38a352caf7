"""Tables of results in the forms in which people have them."""

import sys

import numpy as np
import pandas
import pytest

import topk
from topk import ProblemError

NAMES, ITEMS = ["ann", "bo", "cy"], [f"q{i}" for i in range(40)]
RESULTS = np.random.default_rng(1).random((3, 40)) < np.array([[0.3], [0.9], [0.4]])
QUICK = {"k": 1, "epsilon": 0.2, "algorithm": "lucb"}


def frame_of(values=RESULTS):
    return pandas.DataFrame(values, index=NAMES, columns=ITEMS)


def test_a_frame_is_named_by_its_index_and_the_result_is_a_frame():
    found = topk.select(frame_of(), **QUICK)
    assert found.names == ["bo"]
    assert isinstance(found.frame, pandas.DataFrame)
    assert found.frame.index[0] == "bo"
    assert found.frame.loc["bo", "selected"]
    assert found.frame["answers"].sum() == found.calls


def test_a_frame_without_an_index_is_named_by_its_column_of_texts():
    frame = frame_of().rename_axis("model").reset_index()
    assert topk.select(frame, **QUICK).names == ["bo"]


def test_polars_and_arrow_tables_give_tables_of_their_own():
    for library in ("polars", "pyarrow"):
        module = pytest.importorskip(library)
        columns = {"model": NAMES} | {item: RESULTS[:, i] for i, item in enumerate(ITEMS)}
        build = module.DataFrame if library == "polars" else module.table
        found = topk.select(build(columns), **QUICK)
        assert found.names == ["bo"]
        assert isinstance(found.frame, type(build(columns)))


def test_lists_and_results_by_item_are_tables_of_their_names():
    by_name = dict(zip(NAMES, RESULTS.tolist(), strict=True))
    assert topk.select(by_name, **QUICK).names == ["bo"]
    by_item = {name: dict(zip(ITEMS, row, strict=True)) for name, row in by_name.items()}
    del by_item["bo"]["q0"]
    found = topk.select(by_item, **QUICK | {"epsilon": 0.0001})
    assert found.names == ["bo"]
    assert found.answers[1] <= 39


@pytest.mark.parametrize("missing", [None, np.nan, pandas.NA])
def test_missing_cells_are_not_asked(missing):
    frame = frame_of().astype("boolean" if missing is pandas.NA else object)
    frame.loc["cy", ITEMS[:30]] = missing
    found = topk.select(frame, **QUICK | {"epsilon": 0.0001})
    assert found.answers[2] <= 10
    assert found.calls == found.answers.sum()
    assert found.unreadable == {}


def test_a_transposed_frame_is_noticed_and_read_when_its_rows_are_said():
    with pytest.raises(ProblemError, match="40 rows and 3 columns, and looks transposed"):
        topk.select(frame_of().T, **QUICK)
    assert topk.select(frame_of().T, rows="items", **QUICK).names == ["bo"]


def test_columns_may_be_numbered_as_pandas_numbers_them():
    found = topk.select(pandas.DataFrame(RESULTS, index=NAMES), **QUICK)
    assert found.names == ["bo"]
    assert topk.select(pandas.DataFrame(RESULTS), **QUICK).names == [1]


def list_results(items):
    pairs = [(name, item) for name in NAMES for item in items]
    return pandas.DataFrame(pairs, columns=["model", "item"]).assign(ok=RESULTS.ravel())


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (frame_of().assign(note="text"), "column 'note' holds the text 'text'"),
        (
            frame_of(np.where(RESULTS, "cat", "dog")),
            "column 'q0' holds the text .* their key first",
        ),
        (frame_of(RESULTS * 4 + 1), "from 0 to 1, and .* from 1 to 5: rescale"),
        (list_results(ITEMS), r"one result in each row .*pivot\(index='model', columns='item', "),
        (list_results(range(40)), r"one result in each row .* values='ok'\)"),
        (frame_of().rename(columns={"q1": "q0"}), "column 'q0' occurs twice"),
        ([["cat", "dog"], ["cat", "cat"]], "The table holds the text 'cat'"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_the_way_out(frame, message):
    with pytest.raises(ProblemError, match=message):
        topk.select(frame, **QUICK)


def test_missing_cells_are_named_in_the_guarantee():
    """A candidate with cells where it is wrong left out looks better than it is."""
    frame = frame_of().astype(float)
    frame = frame.where((frame.index != "cy")[:, None] | (frame == 1))
    found = topk.select(frame, **QUICK)
    assert "Missing results: " in found.guarantee
    assert "whatever they would have been" in found.guarantee
    assert "Missing results" not in topk.select(frame_of(), **QUICK).guarantee


def test_a_table_is_about_its_own_items_unless_they_are_scores_or_too_many():
    assert "on this set of 40 questions" in topk.select(RESULTS, k=1, epsilon=0.3).guarantee
    like = topk.select(RESULTS, k=1, epsilon=0.3, accuracy=topk.LIKE_THESE).guarantee
    scores = topk.select(RESULTS * 0.5, k=1, epsilon=0.3).guarantee
    assert "accuracy on questions like these" in like
    assert "score on questions like these" in scores
    assert "like these" in topk.select(np.tile(RESULTS, 26), k=1, epsilon=0.3).guarantee


@pytest.mark.parametrize("name", ["narwhals", "tqdm"])
def test_a_missing_optional_package_is_named(monkeypatch, name):
    for module in [each for each in sys.modules if each.split(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ProblemError, match=f"pip install {name}"):
        topk.select(frame_of() if name == "narwhals" else RESULTS, progress=True, **QUICK)
