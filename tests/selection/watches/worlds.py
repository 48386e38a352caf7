"""Watches with simulated gold answers."""

from datetime import timedelta

from selection import db_clock
from selection.models import GoldAnswer, Watch, WatchedWorker
from selection.watches import begin, steps
from selection.watches.gold import GivenGold
from tests.worlds import make_pool, make_questions, names


def make_watch(workers: int = 3, questions: int = 200, **settings: object) -> Watch:
    values = {"name": f"watch {next(names)}", "level": 0.8, "once_in": 100} | settings
    pool, sets = make_pool(workers), [make_questions(questions)]
    return begin.create_watch(pool, sets, dict.fromkeys(f"w{i}" for i in range(workers)), **values)


def answers(worker: str, right: str, first: int = 0) -> list[GivenGold]:
    """One gold answer for each letter, a question each: y is right, n is wrong."""
    words = {"y": "yes", "n": "no"}
    return [GivenGold(worker, f"q{first + i}", words[one]) for i, one in enumerate(right)]


def settle(watch: Watch) -> None:
    """Let the time of all open questions end, and count them."""
    rows = GoldAnswer.objects.filter(watched__watch=watch).exclude(due=None)
    rows.update(due=db_clock.database_now() - timedelta(seconds=1))
    steps.sweep_watches()
    while steps.advance_watch(watch.pk):
        pass


def state_of(watch: Watch, worker: str = "w0") -> WatchedWorker:
    return watch.workers.select_related("worker", "watch").get(worker__key=worker)
