"""What kind a gold question is and how its answers are compared: as files and forms say it."""

from collections.abc import Mapping, Sequence
from typing import Any

from selection.errors import Refused

from . import numbers, rules

# What people call the kinds, besides their own names.
CALLED = {
    "single choice": "single",
    "choice": "single",
    "one": "single",
    "multiple choice": "multiple",
    "several": "multiple",
    "ordering": "order",
    "short text": "text",
    "numeric": "number",
}


def grading_of(text: str) -> dict[str, Any]:
    """As models.grading reads it. Raises Refused."""
    try:
        return rules.parse_grading(text)
    except ValueError as error:
        raise Refused(str(error)) from error


def way_of(kind: str, tolerance: str, text: str, choices: Sequence[str]) -> dict[str, Any]:
    """The grading of a question from its kind, its tolerance and the ways named beside them.

    Each may be empty. Raises Refused for what does not go together.
    """
    kind = " ".join(kind.split()).casefold()
    kind = CALLED.get(kind, kind)
    if kind and kind not in rules.KINDS:
        raise Refused(f"“{kind}” is no kind of question; there are {', '.join(rules.KINDS)}.")
    if kind in rules.OF_CHOICES and not choices:
        raise Refused(f"A question of the kind “{kind}” needs choices.")
    if kind in {"text", "number"} and choices:
        raise Refused(f"A question of the kind “{kind}” is typed, so it has no choices.")
    named = [kind] if kind in {"multiple", "order"} else []
    if tolerance.strip():
        named.append(f"number ±{tolerance.strip().removeprefix('±')}")
    elif kind == "number":
        named.append("number")
    return grading_of(", ".join([*named, text]))


def add_media(prompt: str, cells: Mapping[str, str]) -> str:
    """The prompt with what stands in the columns image, audio and video: addresses, or names of
    files of the set."""
    named = [cells.get(kind, "").strip() for kind in ("image", "audio", "video")]
    places = [
        one if "://" in one or one.startswith("media:") else f"media:{one}" for one in named if one
    ]
    shown = [f"![{cells.get('alt', '').strip()}](<{place}>)" for place in places]
    return "\n\n".join(filter(None, [prompt, *shown]))


def find_question_faults(
    accepted: Sequence[str], choices: Sequence[str], way: Mapping[str, Any]
) -> list[str]:
    """What is wrong with a gold question, in sentences."""
    found = [*_choice_faults(accepted, choices, way)] if choices else []
    if way.get("number"):
        found += _number_faults([*accepted, *choices])
    if not choices and (way.get("multiple") or way.get("order")):
        found.append("There are no choices to tick or to put in order.")
    return found


def _choice_faults(
    accepted: Sequence[str], choices: Sequence[str], way: Mapping[str, Any]
) -> list[str]:
    found, apart = [], way.get("multiple") or way.get("order")
    if all(rules.is_match(choices[:1], choice, way) for choice in choices):
        found.append("There is a single choice, so nobody could be wrong; give two or more.")
    strange = [answer for answer in accepted if answer not in choices]
    if strange:
        found.append(f"The answer “{strange[0]}” is not among the choices {' | '.join(choices)}.")
    barred = [choice for choice in choices if rules.BETWEEN in choice]
    if apart and barred:
        found.append(f"There is a | in the choice “{barred[0]}”; that stands between answers.")
    if way.get("order"):
        found += _order_faults(accepted, choices) if not strange else []
    every = all(rules.is_match(accepted, choice, way) for choice in choices)
    if every and not apart and len(choices) > 1:
        found.append("Every choice is accepted, so nobody could be wrong.")
    return found


def _order_faults(accepted: Sequence[str], choices: Sequence[str]) -> list[str]:
    if sorted(accepted) != sorted(choices):
        return ["The answer must have every choice once, in the right order."]
    if list(accepted) == list(choices):
        return ["The choices are shown in the right order already; list them in another one."]
    return []


def _number_faults(texts: Sequence[str]) -> list[str]:
    wordy = [text for text in texts if numbers.parse_number(text) is None]
    if wordy:
        return [f"“{wordy[0]}” is not a number, and answers are to be compared as numbers."]
    unclear = [text for text in texts if "," in text and numbers.is_ambiguous(text)]
    if unclear:
        either = f"{numbers.read_as_thousands(unclear[0])} or {numbers.parse_number(unclear[0])}"
        return [f"“{unclear[0]}” may be {either}; write the number without the comma."]
    return []
