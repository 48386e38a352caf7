"""The pace of models in a run: how many questions each may hold, and when a step waits for all.

Models learn nothing from being asked or not, so they need not finish a batch before the next.
"""

from datetime import timedelta

import numpy as np
from django.db.models import Exists, OuterRef, Q

from selection import db_clock
from selection.models import Assignment, Endpoint, ModelCall, ModelServer, Run
from topk import Guarantee


def read_models(run: Run, n: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Flag (n,) arms that are models; queried only if the team has model servers."""
    models = np.zeros(n, bool)
    if ModelServer.objects.filter(team=run.team_id).exists():
        endpoints = Endpoint.objects.filter(worker=OuterRef("worker"))
        rows = run.candidates.filter(Exists(endpoints)).order_by()
        models[list(rows.values_list("arm", flat=True))] = True
    return models


def may_depend_on_speed(guarantee: Guarantee) -> bool:
    """Tell if the guarantee holds although questions go to workers by their speed.

    The others assume that only answers distinguish good workers (certified.md of topk, A5), and
    good models are often slow.
    """
    return not (guarantee.at_the_stop or guarantee.average)


# Consecutive failures of a model that replied before from which a run waits for it, and until
# which; in between is about a quarter of an hour.
FEW_FAILURES, MANY_FAILURES = 3, 12
LONG_REST = timedelta(minutes=1)  # a longer one follows a failure that somebody has to mend


def is_held(run: Run) -> bool:
    """Tell if a step of a run of models alone waits until a failing one replies or is set aside.

    Without its answers those of the others may decide nothing, and each costs money. It waits for a
    bounded number of failures, and for no long rest.
    """
    endpoint = "candidate__worker__endpoint__"
    replied = ModelCall.objects.replied().filter(run=run, worker=OuterRef("candidate__worker"))
    fresh = Q(candidate__pulls=0) & ~Q(Exists(replied))
    failing = Q(**{f"{endpoint}failures__gt": 0}) & fresh
    failing |= Q(**{f"{endpoint}failures__gte": FEW_FAILURES})
    long_rest = Q(**{f"{endpoint}rests_until__gt": db_clock.database_now() + LONG_REST})
    rows = Assignment.objects.open().filter(failing, candidate__run=run, candidate__gone="")
    rows = rows.filter(**{f"{endpoint}failures__lt": MANY_FAILURES})
    return rows.exclude(long_rest).exclude(candidate__unaffordable=True).exists()


def has_outstanding(run: Run) -> bool:
    """Tell if a model that replies still has an open assignment of the run."""
    rows = Assignment.objects.open().filter(candidate__run=run, candidate__gone="")
    rows = rows.exclude(candidate__unaffordable=True, shown=None)
    return rows.filter(candidate__worker__endpoint__problem="").exists()
