"""The pace of models in a run: how many questions each may hold, and when a step waits for all.

Models learn nothing from being asked or not, so they need not finish a batch before the next.
"""

import numpy as np
from django.db.models import Exists, OuterRef

from selection.models import Assignment, Endpoint, ModelServer, Run
from topk import Promise


def read_models(run: Run, n: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Flag (n,) arms that are models; queried only if the team has model servers."""
    models = np.zeros(n, bool)
    if ModelServer.objects.filter(team=run.team_id).exists():
        endpoints = Endpoint.objects.filter(worker=OuterRef("worker"))
        rows = run.candidates.filter(Exists(endpoints)).order_by()
        models[list(rows.values_list("arm", flat=True))] = True
    return models


def may_depend_on_speed(promise: Promise) -> bool:
    """Tell if the guarantee holds although questions go to workers by their speed.

    The others assume that only answers distinguish good workers (certified.md of topk, A5), and
    good models are often slow.
    """
    return not (promise.at_the_stop or promise.average)


def has_outstanding(run: Run) -> bool:
    """Tell if a model that replies still has an open assignment of the run."""
    rows = Assignment.objects.open().filter(candidate__run=run, candidate__gone="")
    rows = rows.exclude(candidate__unaffordable=True, shown=None)
    return rows.filter(candidate__worker__endpoint__problem="").exists()
