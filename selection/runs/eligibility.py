"""Who of a pool may be in a run, and which of its questions they have met before.

A worker is the same in every pool of a team by their key. A question is the same in every question
set of a team by its key and its text together, so that a set that was copied or imported again
counts; both however their accents and spaces are written. Met is what was shown, in any run, or
answered, also elsewhere. What is known at the start, or when somebody joins, is written down with
the worker and stays: a run is repeated from what is stored.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from selection.models import (
    Assignment,
    Candidate,
    Question,
    Run,
    Worker,
    exposure,
    map_to_stored,
    plain_key,
    stored_spellings,
)
from topk import LIKE_THESE, THIS_SET

Met = Run.Met
ODD = "[^ -~]"  # other than ASCII: it may be spelt in several ways
# By worker's key, by number of skill, the numbers of questions.
MetBefore = dict[str, dict[int, list[int]]]


def eligible_workers(run: Run) -> QuerySet[Worker]:
    """The workers of its pool who may be in it, in order of id."""
    rows = run.pool.workers.order_by("id")
    if run.only:
        rows = rows.filter(key__in=stored_spellings(run.only))
    if run.left_out:
        rows = rows.exclude(key__in=stored_spellings(run.left_out))
    if run.met == Met.OUT and run.question_set_id and not run.recorded_only:
        rows = rows.exclude(key__in=stored_spellings(questions_met_before(run)))
    return rows


def unknown_worker_keys(run: Run) -> list[str]:
    """The ids that the run names, to be asked or left out, of nobody in its pool: mistyped, mostly.

    Whoever comes into the pool later may have one.
    """
    named = dict.fromkeys([*run.only, *run.left_out])
    there = map_to_stored(named, run.pool.workers.all())
    known = run.pool.workers.filter(key__in=list(there.values()))
    found = set(known.values_list("key", flat=True))
    return [key for key in named if there[key] not in found]


def count_eligible(run: Run) -> int:
    return eligible_workers(run).count()


def default_met_policy(options: dict[str, Any]) -> Met:
    """What is best done about questions met before, for a run of these options of its algorithm."""
    return Met.OUT if options.get("accuracy") == THIS_SET else Met.SKIP


class AffectedWorkers(NamedTuple):
    """workers of the run's pool who met any question, and the most that one of them met"""

    workers: int
    most: int


def count_passed_over(run: Run) -> tuple[tuple[int, int], ...]:
    """(questions, workers): how many workers are not asked so many of its first question set, of
    those that may still be asked, because they met them before."""
    if run.met != Met.SKIP or run.recorded_only or not run.question_set_id:
        return ()
    met = questions_met_before(run)
    if not met:
        return ()
    askable, may = (
        exposure.askable_numbers(run.question_set),
        eligible_workers(run).values_list("key", flat=True),
    )
    sizes = [
        len(askable.intersection(met[key].get(0, ()))) for key in map(plain_key, may) if key in met
    ]
    return tuple(sorted(Counter(size for size in sizes if size).items()))


def count_affected(run: Run) -> AffectedWorkers:
    sizes = [sum(map(len, each.values())) for each in questions_met_before(run).values()]
    return AffectedWorkers(len(sizes), max(sizes, default=0))


def explain_ineligible(run: Run, worker: Worker) -> str:
    """Why this worker of its pool cannot join it, in a sentence; empty if they can."""
    if run.left_out and worker.key in stored_spellings(run.left_out):
        return f"“{worker}” is among those whom this run leaves out."
    if run.only and worker.key not in stored_spellings(run.only):
        return f"This run is for certain workers only, and “{worker}” is none of them."
    if run.met == Met.AGAIN or not questions_met_before(run, [worker.key]):
        return ""
    if run.met == Met.OUT:
        return f"“{worker}” has met questions of this run before."
    return refuse_met(run, 1).get("met", "")


# -- what they met


def questions_met_before(run: Run, keys: Sequence[str] | None = None) -> MetBefore:
    """What workers of its pool met in other runs, by their ids as ``plain_key`` has them; of these
    keys only, if any are given."""
    places, sets = _same_questions(run)
    asked = Q(question_set__in=sets) | Q(further__question_set__in=sets)
    earlier = Run.objects.filter(asked, team=run.pool.team_id).exclude(pk=run.pk)
    rows = Assignment.objects.filter(
        Q(shown__isnull=False) | Q(answer__response__gt=""),
        candidate__run__in=earlier.values("pk"),
    ).filter(_candidates_of_keys(run, keys))
    found: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    columns = rows.order_by().values_list("candidate__worker__key", "question_id")
    for key, question in columns.iterator(5000):
        for skill, number in places.get(question, ()):
            found[plain_key(key)][skill].add(number)
    return {key: {skill: sorted(own) for skill, own in each.items()} for key, each in found.items()}


def _candidates_of_keys(run: Run, keys: Sequence[str] | None) -> Q:
    """Candidates of these keys, or of all of the run's pool, however they are spelt elsewhere."""
    if keys is not None:
        return Q(candidate__worker__key__in=stored_spellings(keys))
    own = run.pool.workers.order_by()
    odd = stored_spellings(own.filter(key__regex=ODD).values_list("key", flat=True))
    mine = Q(candidate__worker__key__in=own.values("key"))
    return mine | Q(candidate__worker__key__in=odd) if odd else mine


def _same_questions(run: Run) -> tuple[dict[int, list[tuple[int, int]]], set[int]]:
    """By id of every question that is the same as one of the run: (skill, number) in the run; and
    the question sets that these are in."""
    skill_of = {skill.question_set_id: skill.number for skill in run.skills}
    own = Question.objects.filter(question_set__in=skill_of).order_by()
    named: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for of_set, number, key, prompt in own.values_list("question_set", "number", "key", "prompt"):
        named[_question_identity(key, prompt)].append((skill_of[of_set], number))
    odd = stored_spellings(own.filter(key__regex=ODD).values_list("key", flat=True))
    same_key = Question.objects.filter(
        Q(key__in=own.values("key")) | Q(key__in=odd), question_set__team=run.pool.team_id
    )
    places, sets = {}, set()
    for pk, of_set, key, prompt in same_key.order_by().values_list(
        "id", "question_set", "key", "prompt"
    ):
        if (same := _question_identity(key, prompt)) in named:
            places[pk] = named[same]
            sets.add(of_set)
    return places, sets


def _question_identity(key: str, prompt: str) -> tuple[str, str]:
    """A text from a form has other ends of lines than the same one from a file."""
    return plain_key(key), " ".join(plain_key(prompt).split())


# -- what comes of it


def pass_over(run: Run, candidates: Sequence[Candidate]) -> None:
    """Write down with these, before they are stored, what their workers met and get no more."""
    if run.met != Met.SKIP or run.recorded_only:
        return
    met = questions_met_before(
        run, [row.worker.key for row in candidates] if len(candidates) < 50 else None
    )
    for row in candidates:
        sizes = run.skills[row.skill].deck_size
        row.met = [
            n for n in met.get(plain_key(row.worker.key), {}).get(row.skill, []) if n < sizes
        ]
        row.skipped = len(row.met)


def refuse_met(run: Run, workers: int) -> dict[str, str]:
    """Whether questions may be passed over, by field.

    workers  how many met any
    """
    this_set = run.options.get("accuracy") == THIS_SET
    if run.met != Met.SKIP or not this_set or not workers or run.recorded_only:
        return {}
    have = "One worker has" if workers == 1 else f"{workers:,} workers have"
    return {
        "met": f"{have} met questions of this run before, and accuracy {THIS_SET} can only be told "
        f"of who answers all of them: let those workers stay out, or meet the questions again, or "
        f"choose accuracy {LIKE_THESE}."
    }


def validate_eligibility(run: Run) -> dict[str, str]:
    """What stands in the way of a stored run, by field."""
    if run.met != Met.SKIP or run.options.get("accuracy") != THIS_SET:
        return {}
    return refuse_met(run, count_affected(run).workers)
