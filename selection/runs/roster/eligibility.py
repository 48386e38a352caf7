"""Eligibility: the workers of a pool that a run may have, and the questions they met before.

A worker is the same in every pool of a team by their key. A question is the same in every question
set of a team by its key and its text together, so that a copied or reimported set counts; both
irrespective of the spelling of accents and spaces. A question was met if it was shown in any run or
watch, or answered, also elsewhere. The facts at the start, or at the time of joining, are stored
with the worker and stay: a run is reproduced from its stored data.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from selection.models import (
    Assignment,
    Candidate,
    GoldAnswer,
    Pool,
    Question,
    Run,
    Watch,
    Worker,
    exposure,
    plain_key,
)
from selection.texts import count_noun
from topk import LIKE_THESE, THIS_SET

Met = Run.Met
# Numbers of questions by worker's key and number of skill.
MetBefore = dict[str, dict[int, list[int]]]


def fix_eligible(run: Run) -> list[Worker]:
    """Compute the eligible workers once for this object."""
    workers = list(eligible_workers(run))
    run.__dict__["eligible"] = [worker.pk for worker in workers]
    return workers


def eligible_workers(run: Run) -> QuerySet[Worker]:
    """Select the workers of the run's pool that may be in it, in order of id."""
    rows = run.pool.workers.order_by("id")
    if (fixed := run.__dict__.get("eligible")) is not None:
        return rows.filter(pk__among=fixed)
    if run.only:
        rows = rows.filter(key__in=run.only)
    if run.left_out:
        rows = rows.exclude(key__in=run.left_out)
    if run.met == Met.OUT and run.question_set_id and not run.recorded_only:
        rows = rows.exclude(key__in=questions_met_before(run))
    return rows


def unknown_worker_keys(run: Run) -> list[str]:
    """Find the ids in the run's ``only`` and ``left_out`` that no worker of its pool has.

    Most are typing errors, but a worker who comes into the pool later may have one.
    """
    keys = dict.fromkeys([*run.only, *run.left_out])
    stored = set(run.pool.workers.filter(key__in=keys).values_list("key", flat=True))
    return [key for key in keys if plain_key(key) not in stored]


def count_eligible(run: Run) -> int:
    return eligible_workers(run).count()


def default_met_policy(options: dict[str, Any]) -> Run.Met:
    """Choose the usual policy on questions met before for these options of an algorithm."""
    return Met.OUT if options.get("accuracy") == THIS_SET else Met.SKIP


class AffectedWorkers(NamedTuple):
    """Workers of the run's pool that met any question, and the most that one of them met."""

    workers: int
    most: int


def count_passed_over(run: Run) -> tuple[tuple[int, int], ...]:
    """Count (questions, workers): so many workers skip so many questions of the first set.

    Only questions that may still be asked count, and only if the worker met them before.
    """
    if run.met != Met.SKIP or run.recorded_only or not run.question_set_id:
        return ()
    met = questions_met_before(run)
    if not met:
        return ()
    askable, may = (
        exposure.askable_numbers(run.question_set),
        eligible_workers(run).values_list("key", flat=True),
    )
    sizes = [len(askable.intersection(met[key].get(0, ()))) for key in may if key in met]
    return tuple(sorted(Counter(size for size in sizes if size).items()))


def count_affected(run: Run) -> AffectedWorkers:
    sizes = [sum(map(len, skills.values())) for skills in questions_met_before(run).values()]
    return AffectedWorkers(len(sizes), max(sizes, default=0))


def explain_ineligible(run: Run, worker: Worker) -> str:
    """Find the reason that keeps this worker of its pool from joining; empty if they can."""
    if run.left_out and worker.key in map(plain_key, run.left_out):
        return f"“{worker}” is excluded from this run."
    if run.only and worker.key not in map(plain_key, run.only):
        return f"“{worker}” is not eligible for this run."
    if run.met == Met.AGAIN or not questions_met_before(run, [worker.key]):
        return ""
    if run.met == Met.OUT:
        return f"“{worker}” has seen questions of this run before."
    return refuse_met(run, 1).get("met", "")


# -- questions met before


def questions_met_before(run: Run, keys: Sequence[str] | None = None) -> MetBefore:
    """Map the ids of the pool's workers to the questions met in other runs.

    keys  only these workers; None: all of the pool
    """
    skill_of = {skill.question_set_id: skill.number for skill in run.skills}
    questions = Question.objects.filter(question_set__in=skill_of).order_by()
    numbers: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    met = met_questions(run.pool, questions, keys, besides=run)
    places = {
        pk: (skill_of[question_set], number)
        for pk, question_set, number in questions.values_list("pk", "question_set", "number")
    }
    for key, pks in met.items():
        for skill, number in map(places.__getitem__, pks):
            numbers[key][skill].add(number)
    return {
        key: {skill: sorted(met) for skill, met in skills.items()}
        for key, skills in numbers.items()
    }


def met_questions(
    pool: Pool,
    questions: QuerySet[Question],
    keys: Sequence[str] | None = None,
    besides: Run | None = None,
) -> dict[str, set[int]]:
    """Map the ids of the pool's workers to those of these questions that they have met.

    keys     only these workers; None: all of the pool
    besides  a run that does not count

    Models are left out: none remembers a question.
    """
    same, sets = _same_questions(pool, questions)
    covers = Q(question_set__in=sets) | Q(further__question_set__in=sets)
    runs = Run.objects.filter(covers, team=pool.team_id)
    if besides is not None:
        runs = runs.exclude(pk=besides.pk)
    watches = Watch.objects.filter(question_sets__in=sets, team=pool.team_id)
    people = _same_people(pool, keys)
    tested = Assignment.objects.filter(
        Q(shown__isnull=False) | Q(answer__response__gt=""),
        candidate__run__in=runs.values("pk"),
        candidate__worker__in=people,
    )
    watched = GoldAnswer.objects.filter(watched__watch__in=watches, watched__worker__in=people)
    met: dict[str, set[int]] = defaultdict(set)
    for rows, key in ((tested, "candidate__worker__key"), (watched, "watched__worker__key")):
        for worker, question in rows.order_by().values_list(key, "question").iterator(5000):
            met[worker].update(same.get(question, ()))
    return met


def _same_people(pool: Pool, keys: Sequence[str] | None) -> QuerySet[Worker]:
    """Select the team's workers of these keys, or of the pool; no models."""
    among = pool.workers.order_by().values("key") if keys is None else keys
    models = pool.workers.filter(endpoint__isnull=False).values("key")
    people = Worker.objects.filter(key__in=among, pool__team=pool.team_id)
    return people.exclude(key__in=models).order_by()


def _same_questions(
    pool: Pool, questions: QuerySet[Question]
) -> tuple[dict[int, list[int]], set[int]]:
    """Map each question of the team to those of these that it equals; return also their sets."""
    identities: dict[tuple[str, str], list[int]] = defaultdict(list)
    for pk, key, prompt in questions.values_list("pk", "key", "prompt"):
        identities[_question_identity(key, prompt)].append(pk)
    same_key = Question.objects.filter(
        key__in=questions.values("key"), question_set__team=pool.team_id
    )
    places, sets = {}, set()
    for pk, question_set, key, prompt in same_key.order_by().values_list(
        "id", "question_set", "key", "prompt"
    ):
        if (same := _question_identity(key, prompt)) in identities:
            places[pk] = identities[same]
            sets.add(question_set)
    return places, sets


def _question_identity(key: str, prompt: str) -> tuple[str, str]:
    """Make the key and text comparable: forms and files end lines differently."""
    return key, plain_text(prompt)


def plain_text(prompt: str) -> str:
    return " ".join(plain_key(prompt).split())


# -- effects on the run


def pass_over(run: Run, candidates: Sequence[Candidate]) -> None:
    """Store the questions met before on these candidates, which are not saved yet."""
    if run.met != Met.SKIP or run.recorded_only:
        return
    met = questions_met_before(
        run, [row.worker.key for row in candidates] if len(candidates) < 50 else None
    )
    for row in candidates:
        sizes = run.skills[row.skill].deck_size
        row.met = [n for n in met.get(row.worker.key, {}).get(row.skill, []) if n < sizes]
        row.skipped = len(row.met)


def refuse_met(run: Run, workers: int) -> dict[str, str]:
    """Find the reason by field if questions met before cannot be skipped.

    workers  number of workers that met any
    """
    this_set = run.options.get("accuracy") == THIS_SET
    if run.met != Met.SKIP or not this_set or not workers or run.recorded_only:
        return {}
    have = count_noun(workers, "worker", "have")
    return {
        "met": f"{have} seen questions of this run before. Accuracy {THIS_SET} needs "
        "answers to all questions: exclude these workers, let them see the questions again, or "
        "choose accuracy "
        f"{LIKE_THESE}."
    }


def validate_eligibility(run: Run) -> dict[str, str]:
    if run.met != Met.SKIP or run.options.get("accuracy") != THIS_SET:
        return {}
    return refuse_met(run, count_affected(run).workers)
