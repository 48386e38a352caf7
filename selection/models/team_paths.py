"""Paths from every table to the team of its rows."""

from functools import cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.models import ForeignKey, Model

from selection.models import Team


@cache
def path_of(model: Any) -> str:
    """Find the lookup from a row of this model to its team, for example "run__team".

    It is the shortest one over links that are never empty, so that a new table has one by itself.
    Raises ImproperlyConfigured for a table without: its rows would belong to no team.
    """
    paths = [("pk", model)] if model is Team else [("", model)]
    for path, last in paths:  # grows during the loop: shortest paths first
        if last is Team:
            return path
        links = (field for field in last._meta.concrete_fields if isinstance(field, ForeignKey))
        visited = {model_seen for _, model_seen in paths}
        paths += [
            (f"{path}__{field.name}".lstrip("_"), field.related_model)
            for field in links
            if (not field.null or field.related_model is Team)
            and field.related_model not in visited
        ]
    raise ImproperlyConfigured(f"No way leads from {model.__name__} to a team.")


def team_of(item: Model) -> int | None:
    """Return the id of the item's team; None if it is not linked to any yet."""
    if isinstance(item, Team):
        return item.pk
    last: Any = item
    *steps, end = path_of(type(item)).split("__")
    for step in steps:
        if getattr(last, f"{step}_id") is None:
            return None
        last = getattr(last, step)
    return getattr(last, f"{end}_id")  # type: ignore[no-any-return]
