"""How a response is compared with the answers that are accepted, or with the choices.

As plain text, capitals and spacing aside, unless a question says otherwise (Question.grading):

number     compare as numbers, as people type them in any country (numbers.py)
tolerance  how far a number may be off, 0 if not said
relative   the tolerance is a share of the accepted number: 0.05 is 5 %
multiple   several choices are ticked, and those accepted are to be ticked: all, and no others
order      the choices are put in order, and the accepted answers are the right one
case       capitals matter
spaces     spacing matters, but for what stands around the answer
no_accents accents do not matter: é is e

Several ticked choices, and choices in order, are one response with | between them.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from .numbers import parse_number, possible_readings

Grading = Mapping[str, Any]

SWITCHES = {
    "multiple": "multiple",
    "order": "order",
    "case": "case",
    "spaces": "spaces",
    "no_accents": "no accents",
}
# What a worker does with a question, by its name in files and in the API.
KINDS = {
    "single": "choose one",
    "multiple": "choose all that apply",
    "order": "put in order",
    "text": "type a text",
    "number": "type a number",
}
OF_CHOICES = ("single", "multiple", "order")
BETWEEN = "|"


def kind_of(choices: Sequence[str], grading: Grading) -> str:
    """Which of KINDS a question with these choices is."""
    if choices:
        return next((name for name in ("multiple", "order") if grading.get(name)), "single")
    return "number" if grading.get("number") else "text"


def normalise_text(text: str) -> str:
    """ä is ä, whether it was typed as one character or as a letter and its dots."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def is_match(accepted: Sequence[str], response: str, grading: Grading | None = None) -> bool:
    """Whether the response is one of these; of several ticked or ordered, whether it is these.

    It is compared with all of them also once one is found: nobody can tell by the time.
    """
    if not grading:
        return normalise_text(response) in {normalise_text(answer) for answer in accepted}
    if grading.get("number"):
        return _is_near(accepted, response, grading)
    wanted = [_fold_text(answer, grading) for answer in accepted]
    if grading.get("order"):
        return wanted == _split_graded_parts(response, grading)
    if grading.get("multiple"):
        return set(wanted) == set(_split_graded_parts(response, grading))
    return _fold_text(response, grading) in wanted


def is_possible_answer(
    choices: Sequence[str], response: str, grading: Grading | None = None
) -> bool:
    """Whether this could be an answer, right or wrong."""
    grading = grading or {}
    if not choices:
        return not grading.get("number") or parse_number(response) is not None
    if not (grading.get("multiple") or grading.get("order")):
        return is_match(choices, response, grading)
    known = [_fold_text(choice, grading) for choice in choices]
    said = _split_graded_parts(response, grading)
    if grading.get("order"):
        return sorted(said) == sorted(known)
    return bool(said) and set(said) <= set(known)


def split_into_answers(response: str, grading: Grading) -> list[str]:
    """A response as accepted answers: its parts, where it has some."""
    whole = not (grading.get("multiple") or grading.get("order"))
    return [response] if whole else split_parts(response)


def split_parts(response: str) -> list[str]:
    return [part.strip() for part in response.split(BETWEEN) if part.strip()]


def _split_graded_parts(response: str, grading: Grading) -> list[str]:
    return [_fold_text(part, grading) for part in split_parts(response)]


def _is_near(accepted: Sequence[str], response: str, grading: Grading) -> bool:
    tolerance = Decimal(str(grading.get("tolerance", 0)))
    near = 0
    for known in map(parse_number, accepted):
        if known is None:
            continue
        off = tolerance * abs(known) if grading.get("relative") else tolerance
        near += sum(abs(given - known) <= off for given in possible_readings(response))
    return near > 0


def _fold_text(text: str, grading: Grading) -> str:
    text = unicodedata.normalize("NFC", text.strip())
    if grading.get("no_accents"):
        letters = unicodedata.normalize("NFD", text)
        text = "".join(letter for letter in letters if not unicodedata.combining(letter))
    if not grading.get("spaces"):
        text = " ".join(text.split())
    return text if grading.get("case") else text.casefold()


# -- as people write it


def describe_grading(grading: Grading) -> str:
    """As a questions file has it; empty for the way that is usual."""
    if grading.get("number"):
        off = grading.get("tolerance", 0)
        percent = grading.get("relative")
        said = f"{off * 100:.12g}%" if percent else f"{off:.12g}"
        return f"number ±{said}" if off else "number"
    return ", ".join(word for name, word in SWITCHES.items() if grading.get(name))


def parse_grading(text: str) -> dict[str, Any]:
    """The options that these words name. Raises ValueError, with a sentence, for others."""
    found: dict[str, Any] = {}
    # A comma before a digit is a decimal comma.
    for word in filter(None, (normalise_text(part) for part in re.split(r",(?!\d)", text))):
        if word.startswith("number"):
            found |= _number_option(word.removeprefix("number"))
        elif word == "exact":
            found |= {"case": True, "spaces": True}
        elif word in SWITCHES.values():
            found |= {name: True for name, known in SWITCHES.items() if known == word}
        else:
            raise ValueError(
                f"“{word}” is no way of grading; there are number, number ±0.01, number ±5%, "
                "multiple, order, exact, case, spaces and no accents."
            )
    if found.get("number") and set(found) & set(SWITCHES):
        raise ValueError("What compares as numbers has no capitals, spaces, accents or order.")
    if found.get("multiple") and found.get("order"):
        raise ValueError("Choices are ticked or put in order: write multiple or order.")
    return found


def _number_option(rest: str) -> dict[str, Any]:
    bare = rest.strip().removeprefix("±").removeprefix("+-").strip()
    if not bare:
        return {"number": True}
    off = parse_number(bare.removesuffix("%"))
    if off is None or off < 0:
        raise ValueError(f"“{bare}” is no tolerance; write, say, number ±0.01 or number ±5%.")
    if bare.endswith("%"):
        return {"number": True, "tolerance": float(off / 100), "relative": True}
    return {"number": True, "tolerance": float(off)}
