"""Crowds of any size: a single statement of the database answers all outstanding assignments."""

from django.db.models import Case, F, Q, TextField, Value, When
from django.db.models.functions import Mod, Now

from selection.db import bulk
from selection.models import Answer, Assignment, Run

# Two primes: being right depends on worker and question only, without a visible pattern.
WORKER, QUESTION = 7919, 104_729


def answer_out(run: Run, good: int = 90, bad: int = 60) -> int:
    """Answer all outstanding assignments; return their number.

    Workers of the first fifth are right ``good`` times of a hundred, the others ``bad`` times.
    """
    drawn = Mod(F("candidate_id") * WORKER + F("question_id") * QUESTION, Value(100))
    able = Mod(F("candidate__worker_id"), Value(5))
    right = Q(able=0, drawn__lt=good) | Q(able__gt=0, drawn__lt=bad)
    outstanding = (
        Assignment.objects.open().filter(candidate__run=run).annotate(drawn=drawn, able=able)
    )
    columns = {
        "assignment_id": F("pk"),
        "run_id": Value(run.pk),
        "response": Case(When(right, Value("yes")), default=Value("no"), output_field=TextField()),
        "right": Case(When(right, Value(True)), default=Value(False)),
        "expired": Value(False),
        "void": Value(False),
        "at": Now(),
    }
    return bulk.insert_from(Answer, columns, outstanding)
