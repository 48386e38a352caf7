"""Numpy's linear algebra keeps to one thread in every process of ours."""

import os
import subprocess
import sys

import pytest

SAID = "import os, sys, {house}; print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"


def said(house, **environment):
    plain = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    made = subprocess.run(
        [sys.executable, "-c", SAID.format(house=house)],
        env=plain | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.split()


@pytest.mark.parametrize("house", ["crowdselect", "research"])
def test_thread_limit_is_set_before_numpy_loads(house):
    assert said(house) == ["1", "False"]


def test_chosen_thread_limit_is_respected():
    assert said("crowdselect", OPENBLAS_NUM_THREADS="3") == ["3", "False"]
