"""No code is compiled while the database is locked."""

import pytest
from django.db import connection
from numba import typeof

from selection import engine
from selection.models import Run
from tests.worlds import crowd, make_run, play
from topk.compiled import Compiled
from topk.published import kernels


class Watched:
    """An inner loop that notes for which types it is called first inside a transaction."""

    def __init__(self, loop: Compiled, late: list[str]) -> None:
        self.loop, self.late, self.known = loop, late, set()

    def __call__(self, *given):
        types = tuple(map(typeof, given))
        if types not in self.known and connection.in_atomic_block:
            self.late.append(f"{self.loop.__name__}{types}")
        self.known.add(types)
        return self.loop(*given)


@pytest.fixture
def late(monkeypatch) -> list[str]:
    found: list[str] = []
    for name in vars(kernels).copy():
        loop = getattr(kernels, name)
        if isinstance(loop, Compiled):
            monkeypatch.setattr(kernels, name, Watched(loop, found))
    return found


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("algorithm", ["lucb", "kl-lucb", "ugape-c", "ugape-b", "lil-rand-lucb"])
def test_a_start_calls_every_inner_loop_before_it_locks(late, algorithm):
    budget = 60 if algorithm == "ugape-b" else None
    run = make_run(algorithm=algorithm, budget=budget)
    play(run, crowd(1, 2), most=4)
    assert late == []


@pytest.mark.django_db(transaction=True)
def test_the_test_above_fails_without_warming(late, monkeypatch):
    monkeypatch.setattr("selection.runs.lifecycle.precompile_run", lambda run: None)
    run = make_run()
    engine.advance(run.pk)
    assert late
    assert Run.objects.get().status == "running"
