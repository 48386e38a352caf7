"""Parsing of question kinds and grading options from files and forms."""

from collections.abc import Mapping, Sequence
from typing import Any

from selection.errors import Refused

from . import numbers, quantities, rules

# Other names of the kinds in use.
OTHER_NAMES = {
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
    """Parse grading options for ``grading.rules``. Raises Refused for unknown ones."""
    try:
        return rules.parse_grading(text)
    except ValueError as error:
        raise Refused(str(error)) from error


def read_kind(text: str) -> str:
    kind = " ".join(text.split()).casefold()
    return OTHER_NAMES.get(kind, kind)


def way_of(kind: str, tolerance: str, text: str, choices: Sequence[str]) -> dict[str, Any]:
    """Derive the grading options of a question from its kind, its tolerance and further options.

    Each may be empty. Raises Refused for a contradiction.
    """
    kind = read_kind(kind)
    if kind and kind not in rules.KINDS:
        raise Refused(f"“{kind}” is not a kind of question. Kinds: {', '.join(rules.KINDS)}.")
    if kind in rules.CHOICE_KINDS and not choices:
        raise Refused(f"A question of the kind “{kind}” needs choices.")
    if kind in {"text", "number", "date", "time"} and choices:
        raise Refused(f"A question of the kind “{kind}” is typed and has no choices.")
    options = [kind] if kind in {"multiple", "order"} else []
    if tolerance.strip():
        options.append(f"number ±{tolerance.strip().removeprefix('±')}")
    elif kind in ("number", "date", "time") and not text.startswith((kind, *rules.UNITS)):
        options.append(kind)
    return grading_of(", ".join([*options, text]))


def add_media(prompt: str, cells: Mapping[str, str]) -> str:
    """Append the media of the columns image, audio and video to the prompt.

    Each column holds an address, or the name of a file of the set.
    """
    names = [cells.get(kind, "").strip() for kind in ("image", "audio", "video")]
    places = [
        name if "://" in name or name.startswith("media:") else f"media:{name}"
        for name in names
        if name
    ]
    links = [f"![{cells.get('alt', '').strip()}](<{place}>)" for place in places]
    return "\n\n".join(filter(None, [prompt, *links]))


def find_question_faults(
    accepted: Sequence[str], choices: Sequence[str], way: Mapping[str, Any]
) -> list[str]:
    faults = [*_choice_faults(accepted, choices, way)] if choices else []
    if numbers.KEY in accepted:
        faults.append(
            "A run counts right and wrong answers, and no scores: let your program draw right or "
            "wrong by the score."
        )
    if way.get("number") and not way.get("unit"):
        faults += _number_faults([*accepted, *choices])
    elif not choices:
        faults += _quantity_faults(accepted, way)
    if not choices and (way.get("multiple") or way.get("order")):
        faults.append("There are no choices to tick or to put in order.")
    return faults


def _choice_faults(
    accepted: Sequence[str], choices: Sequence[str], way: Mapping[str, Any]
) -> list[str]:
    faults, has_parts = [], way.get("multiple") or way.get("order")
    if all(rules.is_match(choices[:1], choice, way, choices) for choice in choices):
        faults.append("There is only one choice; give two or more.")
    elif twin := rules.find_twin(choices, way):
        faults.append(f"The choice “{twin}” is there twice.")
    unlisted = [answer for answer in accepted if answer not in choices]
    if unlisted:
        faults.append(f"The answer “{unlisted[0]}” is not among the choices {' | '.join(choices)}.")
    ambiguous = [choice for choice in choices if rules.SEPARATOR in choice]
    if has_parts and ambiguous:
        faults.append(
            f"There is a | in the choice “{ambiguous[0]}”; this character separates answers."
        )
    if way.get("multiple") and rules.combines_none(accepted):
        faults.append(
            "The accepted answers combine one such as “None of the above” with others, which "
            "workers cannot do."
        )
    if way.get("order"):
        faults += _order_faults(accepted, choices) if not unlisted else []
    all_accepted = all(rules.is_match(accepted, choice, way, choices) for choice in choices)
    if all_accepted and not has_parts and len(choices) > 1:
        faults.append("Every choice is accepted, which makes wrong answers impossible.")
    return faults


def _order_faults(accepted: Sequence[str], choices: Sequence[str]) -> list[str]:
    if sorted(accepted) != sorted(choices):
        return ["The answer must have every choice once, in the right order."]
    if list(accepted) == list(choices):
        return ["The choices are already in the right order; list them in another order."]
    return []


def _quantity_faults(accepted: Sequence[str], way: Mapping[str, Any]) -> list[str]:
    compared = rules.describe_grading(way)
    unread = [text for text in accepted if not rules.is_readable(text, way)]
    if unread:
        return [f"“{unread[0]}” cannot be read as {compared}, as answers are to be compared."]
    if way.get("date") != "any":
        return []
    for text in accepted:
        if len(dates := quantities.parse_dates(text)) > 1:
            either = " or ".join(f"{moment:%-d %B %Y}" for moment in dates)
            return [f"“{text}” may be {either}: write {dates[0]}, or date day first."]
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
