"""The state of an algorithm comes out of a database as it went in."""

import json

import numpy as np
import pytest

from topk import compact_memory, expand_memory, pack_memory

ARRAYS = [
    np.zeros(0, np.int64),
    np.arange(-5, 300),
    np.array([1, 2**31, -(2**62)]),
    np.array([0.0, -0.0, 3.0, 127.0, 128.0]),
    np.array([0.1, np.nan, np.inf, -np.inf, 1e300]),
    np.random.default_rng(0).random(1000),
]


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_an_array_comes_back_to_the_last_bit_and_can_be_written_to(array):
    [back] = expand_memory(json.loads(json.dumps(compact_memory({"it": array})))).values()
    assert (back.dtype, back.tobytes()) == (array.dtype, array.tobytes())
    back[:] = 1


def test_memory_without_arrays_stays_unchanged():
    memory = {"round": 3, "gap": 0.25, "best": [[1, 2], []], "none": None, "like": {"a": 1}}
    assert expand_memory(json.loads(json.dumps(compact_memory(memory)))) == memory


def test_a_memory_of_lists_as_it_was_stored_before_can_still_be_read():
    memory = {"round": np.int64(2), "rewards": np.array([1.0, 0.5])}
    assert expand_memory(pack_memory(memory)) == {"round": 2, "rewards": [1.0, 0.5]}


def test_an_array_takes_a_fraction_of_the_room_of_its_numbers():
    memory = {"pulls": np.arange(10_000) % 7}
    assert len(json.dumps(compact_memory(memory))) < len(json.dumps(pack_memory(memory))) / 5
