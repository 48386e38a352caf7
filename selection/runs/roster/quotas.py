"""Quotas: at least and at most so many selected workers for each value of an attribute.

A run keeps the request: ``{"attribute": "language", "limits": {"English": [2, 4]}}``, with
null for no upper limit. When it starts, every arm gets a group, and the limits become the option
that selectors read.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from selection.errors import Refused
from selection.models import Pool, Worker
from selection.texts import counted

NOT_GIVEN = "not given"
MOST_VALUES = 50
LINE = re.compile(
    r"(?P<value>.+?)(?<!\s)\s*+:\s*+(?P<least>\d*+)\s*+(?:(?P<dash>[-–])\s*+(?P<most>\d*+))?"
)

Limits = dict[str, list[int | None]]


def value_of(attributes: dict[str, Any], attribute: str) -> str:
    """Read an attribute by name; names from files are in lower case and match any case."""
    if attribute not in attributes:
        folded = attribute.casefold()
        attribute = next((name for name in attributes if name.casefold() == folded), attribute)
    return str(attributes.get(attribute, "")).strip() or NOT_GIVEN


def attribute_values(workers: QuerySet[Worker], attribute: str) -> list[str]:
    rows = workers.order_by("id").values_list("attributes", flat=True)
    return [value_of(attributes, attribute) for attributes in rows]


def count_attribute_values(pool: Pool) -> dict[str, dict[str, int]]:
    """Count the workers by value of each attribute, if it has few enough values for quotas."""
    counters: dict[str, Counter[str]] = {}
    for row in pool.workers.values_list("attributes", flat=True).iterator(5000):
        for attribute in row:
            counters.setdefault(attribute, Counter())[value_of(row, attribute)] += 1
    return {name: dict(counts) for name, counts in counters.items() if len(counts) <= MOST_VALUES}


# -- reading and writing


def parse_quotas(text: str) -> Limits:
    """Parse lines such as ``English: 2-4``; ``2`` is exactly, ``2-`` at least, ``-4`` at most.

    Raises Refused for the first invalid line.
    """
    limits: Limits = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        match = LINE.fullmatch(line)
        if match is None or not (match["least"] or match["most"]):
            raise Refused(f"“{line}” cannot be read; write it like “English: 2-4”.")
        value, limit = match["value"], _parse_limit(match)
        if value in limits:
            raise Refused(f"“{value}” is there twice.")
        if limit[1] is not None and limit[0] > limit[1]:
            raise Refused(f"“{line}” asks for more than it allows.")
        limits[value] = limit
    return limits


def _parse_limit(match: re.Match[str]) -> list[Any]:
    least, most = (int(match[name]) if match[name] else None for name in ("least", "most"))
    return [least or 0, most if match["dash"] else least]


def text_of(limits: Limits) -> str:
    """Write the limits in order of value: PostgreSQL keeps no other order."""
    return "\n".join(f"{value}: {format_limit(limit)}" for value, limit in sorted(limits.items()))


def format_limit(limit: Sequence[int | None]) -> str:
    least, most = limit
    if least == most:
        return str(least)
    return f"{least or ''}-{'' if most is None else most}"


def describe_limit(limit: Sequence[int | None]) -> str:
    """Word a limit: "2 to 4", "at least 2", "at most 4"."""
    least, most = limit
    if most is None:
        return f"at least {least}"
    if least == most:
        return f"exactly {least}"
    return f"{least} to {most}" if least else f"at most {most}"


# -- checking against a pool


def check_quotas(asked: dict[str, Any], of_workers: Sequence[str], k: int) -> None:
    """Raise Refused for quotas that this pool cannot keep with k selected."""
    sizes = Counter(of_workers)
    attribute, limits = asked["attribute"], asked["limits"]
    if set(sizes) <= {NOT_GIVEN}:
        raise Refused(f"No worker of this pool has the attribute “{attribute}”.")
    for value, (least, _) in limits.items():
        if value not in sizes:
            values = ", ".join(sorted(sizes)[:10])
            raise Refused(f"No worker has “{value}” as {attribute}; there are {values}.")
        if least > sizes[value]:
            raise Refused(f"{least} are wanted of {value}, but the pool has only {sizes[value]}.")
    least, most = _total_limits(limits, sizes)
    if least > k:
        raise Refused(
            f"Together the quotas want at least {counted(least, 'worker')}, but K is {k}."
        )
    if most < k:
        raise Refused(f"Together the quotas allow at most {counted(most, 'worker')}, but K is {k}.")


def _total_limits(limits: Limits, sizes: Counter[str]) -> tuple[int, int]:
    _, at_least, at_most = _limit_arrays(limits, sizes)
    return sum(at_least), sum(at_most)


def _limit_arrays(limits: Limits, sizes: Counter[str]) -> tuple[list[str], list[int], list[int]]:
    names = sorted(sizes)
    bounds = [limits.get(name, [0, None]) for name in names]
    at_most = [
        sizes[name] if most is None else min(most, sizes[name])
        for name, (_, most) in zip(names, bounds, strict=True)
    ]
    return names, [least or 0 for least, _ in bounds], at_most


def build_quota_option(asked: dict[str, Any], of_arms: Sequence[str]) -> dict[str, Any]:
    """Build the selector's option with values by arm, and the groups' names for people."""
    names, at_least, at_most = _limit_arrays(asked["limits"], Counter(of_arms))
    number = {name: i for i, name in enumerate(names)}
    groups = [number[value] for value in of_arms]
    return {"groups": groups, "at_least": at_least, "at_most": at_most, "names": names}
