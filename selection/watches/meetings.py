"""Questions of a watch that its workers have met: nobody meets a question twice."""

from collections import defaultdict
from collections.abc import Collection

from django.db.models import QuerySet

from selection.models import (
    GoldAnswer,
    Question,
    Watch,
    WatchedWorker,
)
from selection.runs.roster import eligibility


def unmet_questions(
    watch: Watch, rows: Collection[WatchedWorker], others: Collection[int] = ()
) -> list[int]:
    """List the questions in use that none of these workers has met, and none of these others.

    Of a question that is there under several keys only one is listed.
    """
    met = find_met(watch, [row.worker.key for row in rows])
    twins, unmet = find_twins(watch), []
    known = {pk for pks in met.values() for pk in pks}
    known = known.union(others, *(twins.get(pk, ()) for pk in others))
    for pk in _questions(watch).filter(retired=None).order_by("pk").values_list("pk", flat=True):
        if pk not in known:
            unmet.append(pk)
            known |= twins.get(pk, set())
    return unmet


def find_met(watch: Watch, keys: Collection[str]) -> dict[str, set[int]]:
    """Map these workers' ids to the questions of the watch that they met.

    They met them here, or in a run or another watch of the team, perhaps under another key.
    """
    met = defaultdict(set, eligibility.met_questions(watch.pool, _questions(watch), list(keys)))
    here = GoldAnswer.objects.filter(watched__watch=watch, watched__worker__key__in=keys)
    for key, pk in here.order_by().values_list("watched__worker__key", "question"):
        met[key].add(pk)
    twins = find_twins(watch) if met else {}
    return {key: pks.union(*(twins.get(pk, ()) for pk in pks)) for key, pks in met.items()}


def find_twins(watch: Watch) -> dict[int, set[int]]:
    """Map each question that is there under several keys, or in several sets, to all of these.

    They have the same text and choices, and the same right answers. A text with several different
    right answers tells nothing: it is an instruction, and what it is about is shown elsewhere.
    """
    texts: dict[tuple[str, ...], dict[tuple[str, ...], set[int]]]
    texts = defaultdict(lambda: defaultdict(set))
    columns = ("pk", "prompt", "choices", "accepted")
    for pk, prompt, choices, accepted in _questions(watch).values_list(*columns):
        if text := eligibility.plain_text(prompt):
            texts[text, *sorted(choices)][tuple(sorted(accepted))].add(pk)
    groups = [pks for answers in texts.values() if len(answers) == 1 for pks in answers.values()]
    return {pk: pks for pks in groups if len(pks) > 1 for pk in pks}


def list_twins(watch: Watch) -> list[list[Question]]:
    """List the questions in use that occur several times, grouped by text."""
    twins = find_twins(watch)
    in_use = Question.objects.filter(retired=None).select_related("question_set").in_bulk(twins)
    groups = sorted({tuple(sorted(pks & in_use.keys())) for pks in twins.values()})
    return [[in_use[pk] for pk in group] for group in groups if len(group) > 1]


def _questions(watch: Watch) -> QuerySet[Question]:
    return Question.objects.filter(question_set__watches=watch).order_by()
