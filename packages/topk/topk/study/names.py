"""Names of candidates and items, for messages and for the file of a study."""

import hashlib
import json
from typing import Any

LONGEST = 60


class StudyError(RuntimeError):
    """A study that cannot go on. The message is a sentence for users."""


def label_of(thing: Any) -> str:
    """Choose a text that identifies a candidate or an item in another process as well."""
    label = getattr(thing, "__qualname__", None) or thing
    if not isinstance(label, str):
        label = json.dumps(thing, default=repr, sort_keys=True, ensure_ascii=False)
    if len(label) <= LONGEST:
        return label
    return f"{label[: LONGEST - 20]}… {hashlib.sha256(label.encode()).hexdigest()[:16]}"


def key_of(thing: Any) -> Any:
    """Keep the thing, or take a text if it has no hash."""
    try:
        hash(thing)
    except TypeError:
        return json.dumps(thing, default=repr, sort_keys=True)
    return thing


def number_things(things: list[Any], kind: str, stored: bool) -> dict[Any, int]:
    """Enumerate each candidate or item by its key.

    Raises StudyError for two that are equal, and if ``stored`` for one without a lasting name.
    """
    numbers: dict[Any, int] = {}
    for number, thing in enumerate(things):
        other = numbers.setdefault(key_of(thing), number)
        if other != number:
            raise StudyError(
                f"The {kind} {label_of(thing)!r} occurs twice, as number {other + 1} and as number "
                f"{number + 1}: each must differ from the others."
            )
        if stored and " at 0x" in repr(thing) and not hasattr(thing, "__qualname__"):
            raise StudyError(
                f"The {kind} {thing!r} has no name that lasts: give texts or numbers, or a mapping "
                "of names to candidates."
            )
    return numbers
