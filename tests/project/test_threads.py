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
def test_it_is_said_before_numpy_is_loaded(house):
    assert said(house) == ["1", "False"]


def test_who_says_otherwise_is_heard():
    assert said("crowdselect", OPENBLAS_NUM_THREADS="3") == ["3", "False"]
