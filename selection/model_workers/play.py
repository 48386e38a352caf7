"""A run of models from its start to its end in one process, without Celery and Redis."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from selection import db_clock, engine, wakeups
from selection.errors import Refused
from selection.models import Endpoint, ModelSpending, Run

from . import claims, ledger
from .call_pool import CallPool
from .dispatcher import Dispatcher

WAIT = 0.2  # seconds of a turn without an outcome
PATIENCE = 60.0  # seconds without any reply or call in flight, then the run is given up
RENEWAL = 10.0  # seconds after which the hold is renewed
LOOK = 1.0  # seconds between two looks at another process's hold
HOLD = timedelta(minutes=1)  # after the death of its process, others may make the calls


def play_run(run: Run, tell: Callable[[Run], None]) -> None:
    """Take steps and make calls until the run ends; ``tell`` is called after each turn.

    Raises Refused if no model has replied for a minute, and the run can be continued later. Before
    it leaves a run that goes on, it counts the replies that came last.
    """
    idle, replies, renewal = 0.0, 0, 0.0
    only = frozenset([run.pk])
    with wakeups.silenced(), CallPool() as pool:
        dispatcher = Dispatcher(pool, only)
        try:
            while run.status == Run.Status.RUNNING:
                began = time.monotonic()
                if began - renewal > RENEWAL:
                    hold_run(run.pk)
                    renewal = began
                if claims.is_running_low(run.pk):
                    engine.advance(run.pk)
                if not dispatcher.take_turn(WAIT):
                    ledger.close_interrupted()  # of a process that was killed
                    time.sleep(WAIT)
                run.refresh_from_db()
                tell(run)
                before, replies = replies, run.model_calls.replied().count()
                if replies > before:
                    idle = 0.0
                elif not dispatcher.is_busy:
                    idle += time.monotonic() - began
                if idle > PATIENCE:
                    raise Refused(_describe_problems(run))
        except (Refused, KeyboardInterrupt):
            dispatcher.finish()
            engine.advance(run.pk)
            run.refresh_from_db()
            if not run.finished:
                raise
        finally:
            dispatcher.finish()
            ModelSpending.objects.filter(run=run).update(held_until=None)


def hold_run(run_id: int) -> None:
    """Keep other processes from making the run's calls: they may be allowed fewer addresses."""
    until = db_clock.database_now() + HOLD
    ModelSpending.objects.update_or_create(run_id=run_id, defaults={"held_until": until})


def wait_for_hold(run: Run, tell: Callable[[str], object]) -> bool:
    """Wait until the hold of a process that was killed has passed; False if a process renews it."""
    first = _read_hold(run.pk)
    if first:
        tell(f"Another process made calls of the run “{run}” a moment ago: waiting for its end.")
    while hold := _read_hold(run.pk):
        if hold != first:
            return False
        time.sleep(LOOK)
    return True


def _read_hold(run_id: int) -> datetime | None:
    now = db_clock.database_now()
    rows = ModelSpending.objects.filter(run=run_id, held_until__gt=now)
    return rows.values_list("held_until", flat=True).first()


def _describe_problems(run: Run) -> str:
    failing = Endpoint.objects.filter(worker__candidates__run=run).exclude(problem="")
    first = failing.first()
    if first is None:
        return "Nothing has moved for a minute."
    text = f"No model has replied for a minute. “{first.worker}”: {first.problem}"
    if too_dear := run.candidates.filter(unaffordable=True).count():
        text += f" ({too_dear} others wait for a higher limit of money.)"
    return text
