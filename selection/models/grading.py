"""How a response is compared with the answers that are accepted, or with the choices.

As plain text, capitals and spacing aside, unless a question says otherwise (Question.grading):

number     compare as numbers, with a decimal point or a decimal comma
tolerance  how far a number may be off, 0 if not said
case       capitals matter
spaces     spacing matters, but for what stands around the answer
no_accents accents do not matter: é is e
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

Grading = Mapping[str, Any]

SWITCHES = {"case": "case", "spaces": "spaces", "no_accents": "no accents"}
MOST_DIGITS = 100
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


def plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def matches(accepted: Sequence[str], response: str, grading: Grading | None = None) -> bool:
    """Whether the response is one of these."""
    if not grading:
        return plain(response) in {plain(answer) for answer in accepted}
    if grading.get("number"):
        return _near(accepted, response, Decimal(str(grading.get("tolerance", 0))))
    given = _folded(response, grading)
    return any(_folded(answer, grading) == given for answer in accepted)


def _near(accepted: Sequence[str], response: str, tolerance: Decimal) -> bool:
    given = number(response)
    if given is None:
        return False
    known = (number(answer) for answer in accepted)
    return any(one is not None and abs(given - one) <= tolerance for one in known)


def _folded(text: str, grading: Grading) -> str:
    text = unicodedata.normalize("NFC", text.strip())
    if grading.get("no_accents"):
        parts = unicodedata.normalize("NFD", text)
        text = "".join(part for part in parts if not unicodedata.combining(part))
    if not grading.get("spaces"):
        text = " ".join(text.split())
    return text if grading.get("case") else text.casefold()


def number(text: str) -> Decimal | None:
    """The number that this text is, exactly; None if it is none.

    A single comma is a decimal comma; where there are commas and a point, or several of a kind,
    the last kind of sign is the decimal one and the others part thousands.
    """
    bare = "".join(text.split()).replace("\N{MINUS SIGN}", "-").replace("'", "")
    if bare.rfind(",") > bare.rfind("."):
        bare = bare.replace(".", "")
        bare = bare.replace(",", "." if bare.count(",") == 1 else "")
    else:
        bare = bare.replace(",", "")
        bare = bare if bare.count(".") <= 1 else bare.replace(".", "")
    if len(bare) > MOST_DIGITS or not _NUMBER.fullmatch(bare):
        return None
    return Decimal(bare)


# -- as people write it


def words(grading: Grading) -> str:
    """As a questions file has it; empty for the way that is usual."""
    if grading.get("number"):
        off = grading.get("tolerance", 0)
        return f"number ±{off:.12g}" if off else "number"
    return ", ".join(word for name, word in SWITCHES.items() if grading.get(name))


def read(text: str) -> dict[str, Any]:
    """The options that these words name. Raises ValueError, with a sentence, for others."""
    found: dict[str, Any] = {}
    # A comma before a digit is a decimal comma.
    for word in filter(None, (plain(part) for part in re.split(r",(?!\d)", text))):
        if word.startswith("number"):
            found |= _number_option(word.removeprefix("number"))
        elif word == "exact":
            found |= {"case": True, "spaces": True}
        elif word in SWITCHES.values():
            found |= {name: True for name, known in SWITCHES.items() if known == word}
        else:
            raise ValueError(
                f"“{word}” is no way of grading; there are number, number ±0.01, exact, case, "
                "spaces and no accents."
            )
    if found.get("number") and len(found) > ("tolerance" in found) + 1:
        raise ValueError("What compares as numbers has no capitals, spaces or accents.")
    return found


def _number_option(rest: str) -> dict[str, Any]:
    rest = rest.strip().removeprefix("±").removeprefix("+-").strip()
    if not rest:
        return {"number": True}
    off = number(rest)
    if off is None or off < 0:
        raise ValueError(f"“{rest}” is no tolerance; write, say, number ±0.01.")
    return {"number": True, "tolerance": float(off)}
