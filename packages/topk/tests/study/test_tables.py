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


def test_a_column_of_other_texts_is_refused():
    frame = frame_of().assign(note="text")
    with pytest.raises(ProblemError, match="a table of rewards from 0 to 1"):
        topk.select(frame, **QUICK)


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
