"""Comparison of a response with the accepted answers, or with the choices.

It compares plain text, ignoring capitals, spacing, invisible marks, the form of quotation marks
and of wide letters, and a final dot, unless Question.grading has options:

number     compare as numbers, in the notation of any country (numbers.py)
tolerance  greatest accepted difference of a number, 0 by default
relative   the tolerance is a share of the accepted number: 0.05 is 5 %
unit       of a number: money, percent or unit; a response may lack it, and not have another
date       compare as dates, in any notation: any, or “day first” or “month first” for 3/4/2025
time       compare as times of the day: 15:30 is 3:30 pm
multiple   several choices are ticked: exactly the accepted ones must be
order      the choices are put in order, and the accepted answers are the right one
case       capitals matter
spaces     spacing and marks matter, except spaces around the answer
no_accents accents do not matter: é is e

Of choices that only such marks tell apart, such as “C” and “C.”, every mark counts.

Several ticked choices, and choices in order, are one response with | between them.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from .keys import normalise_unicode, unify_marks
from .numbers import parse_number, possible_readings
from .quantities import match_amount, parse_amount, parse_dates, parse_time

Grading = Mapping[str, Any]

SWITCHES = {
    "multiple": "multiple",
    "order": "order",
    "case": "case",
    "spaces": "spaces",
    "no_accents": "no accents",
}
# The worker's task, by the name of the kind in files and in the API.
KINDS = {
    "single": "choose one",
    "multiple": "choose all that apply",
    "order": "put in order",
    "text": "type a text",
    "number": "type a number",
    "date": "type a date",
    "time": "type a time",
}
# Numbers with something beside them, by their name in files, with an example.
UNITS = {"money": "money", "percent": "percent", "number with unit": "unit"}
DATES = {"date": "any", "date day first": "day first", "date month first": "month first"}
CHOICE_KINDS = ("single", "multiple", "order")
SEPARATOR = "|"
# “None of the above” is a word of the first text, then words of the second only: “None of the
# patients smoked” is a statement.
_NONE = """none neither nothing keine keiner keines nichts aucun aucune rien ninguna ninguno nada
nessuna nessuno niente nenhuma nenhum geen żadna żadne ничего"""
_OF_THESE = """of from the these those them all above other others options choices answers listed
mentioned following apply applies der dieser diesen den von davon genannten oben obigen anderen
angegebenen antworten optionen möglichkeiten zutreffend de des du ces ceux celles las los estas
estos anteriores opciones respuestas réponses choix propositions ci-dessus delle dei di queste
questi precedenti risposte opzioni das dos opções respostas acima van deze bovenstaande opties
antwoorden z powyższych nich из перечисленного этого них"""
_NONE_PHRASES = {"لا شيء", "لا شيء مما سبق", "以上都不是", "以上皆非", "どれでもない"}
_FINAL = re.compile(r"(?<![\s.,;。、])(?:[\s.,;。、]|(?<=[^\W\d])!)++$")


def kind_of(choices: Sequence[str], grading: Grading) -> str:
    if choices:
        return next((name for name in ("multiple", "order") if grading.get(name)), "single")
    return next((name for name in ("number", "date", "time") if grading.get(name)), "text")


def normalise_text(text: str) -> str:
    """Convert the text to NFC, without capitals and surplus spaces: ä is one character."""
    return " ".join(normalise_unicode("NFC", text).split()).casefold()


def is_match(
    accepted: Sequence[str],
    response: str,
    grading: Grading | None = None,
    choices: Sequence[str] = (),
) -> bool:
    """Tell if the response is accepted; ticked or ordered choices must match as a whole.

    Every accepted answer is compared, also after a match, so that the time reveals nothing.
    """
    grading = grading or {}
    if grading.get("number"):
        return _is_near(accepted, response, grading)
    if grading.get("date") or grading.get("time"):
        given = _moments(response, grading)
        return sum(bool({*_moments(answer, grading)} & {*given}) for answer in accepted) > 0
    fold = _choose_fold(choices, grading)
    answers = [fold(answer) for answer in accepted]
    if grading.get("order"):
        return answers == [fold(part) for part in split_parts(response)]
    if grading.get("multiple"):
        return set(answers) == {fold(part) for part in split_parts(response)}
    return fold(response) in answers


def is_possible_answer(
    choices: Sequence[str], response: str, grading: Grading | None = None
) -> bool:
    grading = grading or {}
    if not choices:
        return is_readable(response, grading)
    if not (grading.get("multiple") or grading.get("order")):
        return is_match(choices, response, grading, choices)
    fold = _choose_fold(choices, grading)
    options = [fold(choice) for choice in choices]
    parts = [fold(part) for part in split_parts(response)]
    if grading.get("order"):
        return sorted(parts) == sorted(options)
    return bool(parts) and set(parts) <= set(options) and not combines_none(parts)


def is_none(choice: str) -> bool:
    """Recognise a choice such as “None of the above”, which excludes all others."""
    text = normalise_text(choice).rstrip(".!。 ")
    first, *rest = text.split() or [""]
    alone = first in _NONE.split() and set(rest).issubset(_OF_THESE.split())
    return alone or text in _NONE_PHRASES


def combines_none(parts: Sequence[str]) -> bool:
    """Tell if a choice such as “None of the above” is among several ticked ones."""
    return len(set(parts)) > 1 and any(map(is_none, parts))


def is_readable(text: str, grading: Grading) -> bool:
    """Tell if the text is a number, an amount, a date or a time, if the grading demands one."""
    if grading.get("unit"):
        return parse_amount(text) is not None
    if grading.get("date") or grading.get("time"):
        return bool(_moments(text, grading))
    return not grading.get("number") or parse_number(text) is not None


def _moments(text: str, grading: Grading) -> Sequence[object]:
    """Read the possible dates, or the time, of a text."""
    if grading.get("time"):
        moment = parse_time(text)
        return [moment] if moment else []
    order = grading["date"]
    return parse_dates(text, None if order == "any" else order == "month first")


def split_into_answers(response: str, grading: Grading) -> list[str]:
    undivided = not (grading.get("multiple") or grading.get("order"))
    return [response] if undivided else split_parts(response)


def split_parts(response: str) -> list[str]:
    return [part.strip() for part in response.split(SEPARATOR) if part.strip()]


def _is_near(accepted: Sequence[str], response: str, grading: Grading) -> bool:
    tolerance = Decimal(str(grading.get("tolerance", 0)))
    if grading.get("unit"):
        relative = bool(grading.get("relative"))
        return sum(match_amount(a, response, tolerance, relative) for a in accepted) > 0
    matches = 0
    for answer in map(parse_number, accepted):
        if answer is None:
            continue
        margin = tolerance * abs(answer) if grading.get("relative") else tolerance
        matches += sum(abs(reading - answer) <= margin for reading in possible_readings(response))
    return matches > 0


def find_twin(choices: Sequence[str], grading: Grading) -> str:
    """Find the first choice that no answer could tell from an earlier one, or ""."""
    fold = _choose_fold(choices, grading)
    folded = [fold(choice) for choice in choices]
    return next((c for i, c in enumerate(choices) if folded[i] in folded[:i]), "")


def _choose_fold(choices: Sequence[str], grading: Grading) -> Callable[[str], str]:
    strict, loose = partial(_fold_text, grading=grading), partial(_fold_marks, grading=grading)
    if grading.get("spaces"):
        return strict
    is_distinct = len(set(map(loose, choices))) == len(set(map(strict, choices)))
    return loose if is_distinct else strict


def _fold_marks(text: str, grading: Grading) -> str:
    """Remove marks that keyboards and programs add: a sign alone stays."""
    folded = _fold_text(unify_marks(text), grading)
    bare = _FINAL.sub("", folded)
    bare = bare if any(map(str.isalnum, bare)) else folded
    return bare if grading.get("case") else bare.replace("i\u0307", "i").replace("ı", "i")


def _fold_text(text: str, grading: Grading) -> str:
    text = normalise_unicode("NFC", text.strip())
    if grading.get("no_accents"):
        letters = normalise_unicode("NFD", text)
        text = "".join(letter for letter in letters if not unicodedata.combining(letter))
    if not grading.get("spaces"):
        text = " ".join(text.split())
    return text if grading.get("case") else text.casefold()


# -- reading and writing of options


def describe_grading(grading: Grading) -> str:
    """Write the options as a questions file does; empty for the default."""
    if grading.get("number"):
        tolerance = grading.get("tolerance", 0)
        percent = grading.get("relative")
        text = f"{tolerance * 100:.12g}%" if percent else f"{tolerance:.12g}"
        name = next((n for n, unit in UNITS.items() if unit == grading.get("unit")), "number")
        return f"{name} ±{text}" if tolerance else name
    if grading.get("date"):
        return next(name for name, order in DATES.items() if order == grading["date"])
    if grading.get("time"):
        return "time"
    return ", ".join(word for name, word in SWITCHES.items() if grading.get(name))


def parse_grading(text: str) -> dict[str, Any]:
    """Parse grading options. Raises ValueError, with a sentence, for unknown ones."""
    options: dict[str, Any] = {}
    # A comma before a digit is a decimal comma.
    for word in filter(None, (normalise_text(part) for part in re.split(r",(?!\d)", text))):
        amount = next((name for name in (*UNITS, "number") if word.startswith(name)), "")
        if amount:
            options |= _number_option(word.removeprefix(amount))
            options |= {"unit": UNITS[amount]} if amount in UNITS else {}
        elif word in DATES:
            options["date"] = DATES[word]
        elif word == "time":
            options["time"] = True
        elif word == "exact":
            options |= {"case": True, "spaces": True}
        elif word in SWITCHES.values():
            options |= {name: True for name, title in SWITCHES.items() if title == word}
        else:
            raise ValueError(
                f"“{word}” is no way of grading. For amounts there are number, number ±0.01, "
                "number ±5%, money, percent and number with unit. For times there are date, date "
                "day first, date month first and time. The others are multiple, order, exact, "
                "case, spaces and no accents."
            )
    refuse_contradiction(options)
    return options


def refuse_contradiction(options: Grading) -> None:
    """Raise ValueError, with a sentence, for options that contradict each other."""
    compared = {"number", "date", "time"} & {name for name, value in options.items() if value}
    if len(compared) > 1:
        raise ValueError(
            f"Answers are compared as {' or as '.join(sorted(compared))}, not as both."
        )
    if compared - {"number"} and set(options) & set(SWITCHES):
        raise ValueError(
            "A comparison as dates or times has no capitals, spaces, accents or order."
        )
    if options.get("number") and set(options) & set(SWITCHES):
        raise ValueError("A comparison as numbers has no capitals, spaces, accents or order.")
    if options.get("multiple") and options.get("order"):
        raise ValueError("Choices are ticked or put in order: multiple or order, not both.")
    if {"tolerance", "relative", "unit"} & set(options) and not options.get("number"):
        raise ValueError("A tolerance or a unit needs a comparison as numbers.")


def _number_option(text: str) -> dict[str, Any]:
    bare = text.strip().removeprefix("±").removeprefix("+-").strip()
    if not bare:
        return {"number": True}
    tolerance = parse_number(bare.removesuffix("%"))
    if tolerance is None or tolerance < 0:
        raise ValueError(f"“{bare}” is no tolerance; write, say, number ±0.01 or number ±5%.")
    if bare.endswith("%"):
        return {"number": True, "tolerance": float(tolerance / 100), "relative": True}
    return {"number": True, "tolerance": float(tolerance)}
