"""Storing and deleting of pools, question sets and workers in pools, with a reason on refusal."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, ProtectedError, Q, QuerySet

from selection.errors import Conflict, Refused
from selection.models import Pool, QuestionSet, Run, Skill, Watch, Worker
from selection.runs.settings import validation
from selection.texts import plural

MOST_NAMED = 3


def validate_item(item: Model) -> None:
    """Raise Refused with the fault of the first invalid field."""
    if not str(item).strip():
        raise Refused("The name is empty.")
    try:
        item.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        label = "" if field == "__all__" else f"{_field_label(item, field)}: "
        raise Refused(f"{label}{messages[0]}") from error


def store_item(item: Model) -> None:
    validate_item(item)
    if isinstance(item, QuestionSet) and (
        reason := validation.refuse_limit(item, item.most_workers)
    ):
        raise Conflict(reason)
    item.save()


def _field_label(item: Model, field: str) -> str:
    return str(getattr(item._meta.get_field(field), "verbose_name", field)).capitalize()


@transaction.atomic
def delete_item(item: Pool | QuestionSet | Worker) -> None:
    """Delete the item with its contents. Raises Conflict, naming the run or watch that needs it."""
    for noun, users in (("run", runs_using(item)), ("watch", watches_using(item))):
        rows = users.order_by("pk").values_list("name", flat=True)[: MOST_NAMED + 1]
        names = [f"“{name}”" for name in rows]
        if names:
            more = " and others" if len(names) > MOST_NAMED else ""
            listed = ", ".join(names[:MOST_NAMED])
            needed = f"the {plural(noun, len(names))} {listed}{more}"
            raise Conflict(f"“{item}” is needed by {needed}, and stays.")
    try:
        item.delete()
    except ProtectedError as error:
        raise Conflict(f"“{item}” is needed by a run since this moment, and stays.") from error


def watches_using(item: Pool | QuestionSet | Worker) -> QuerySet[Watch]:
    if isinstance(item, Worker):
        return Watch.objects.filter(pk__in=item.watched.values("watch"))
    return item.watches.all()


def runs_using(item: Pool | QuestionSet | Worker) -> QuerySet[Run]:
    if isinstance(item, Pool):
        return Run.objects.filter(pool=item)
    if isinstance(item, Worker):
        return Run.objects.filter(pk__in=item.candidates.values("run"))
    further = Skill.objects.filter(question_set=item).values("run")
    return Run.objects.filter(Q(question_set=item) | Q(pk__in=further))
