"""From every table to the team that its rows belong to."""

from functools import cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.models import ForeignKey, Model

from selection.models import Team


@cache
def path_of(model: Any) -> str:
    """The lookup from a row of this model to its team, as in "run__team".

    The shortest one over links that are never empty, so that a new table has one by itself. Raises
    ImproperlyConfigured for a table without: its rows would belong to nobody.
    """
    found = [("pk", model)] if model is Team else [("", model)]
    for path, last in found:  # grows while it is walked: the shortest come first
        if last is Team:
            return path
        ahead = (field for field in last._meta.concrete_fields if isinstance(field, ForeignKey))
        known = {each for _, each in found}
        found += [
            (f"{path}__{field.name}".lstrip("_"), field.related_model)
            for field in ahead
            if (not field.null or field.related_model is Team) and field.related_model not in known
        ]
    raise ImproperlyConfigured(f"No way leads from {model.__name__} to a team.")


def team_of(item: Model) -> int | None:
    """The id of the team that this belongs to; None for what is not linked to any yet."""
    if isinstance(item, Team):
        return item.pk
    last: Any = item
    *steps, end = path_of(type(item)).split("__")
    for step in steps:
        if getattr(last, f"{step}_id") is None:
            return None
        last = getattr(last, step)
    return getattr(last, f"{end}_id")  # type: ignore[no-any-return]
