"""Numbers as people type them: 3,50 and 3.5, 1 000 and 1’000, ٣٫٥, a minus of any kind."""

import re
from decimal import Decimal

MOST_DIGITS = 100
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
# One sign with three digits behind it: that may part thousands, or be a decimal one.
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_SIGNS = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{ARABIC DECIMAL SEPARATOR}": ",",
        "'": None,
        "\N{RIGHT SINGLE QUOTATION MARK}": None,
        "\N{ARABIC THOUSANDS SEPARATOR}": None,
    }
)


def parse_number(text: str) -> Decimal | None:
    """The number that this text is, exactly; None if it is none.

    A single comma is a decimal comma; where there are commas and a point, or several of a kind,
    the last kind of sign is the decimal one and the others part thousands.
    """
    bare = _strip_number(text)
    if bare.rfind(",") > bare.rfind("."):
        bare = bare.replace(".", "")
        bare = bare.replace(",", "." if bare.count(",") == 1 else "")
    else:
        bare = bare.replace(",", "")
        bare = bare if bare.count(".") <= 1 else bare.replace(".", "")
    if len(bare) > MOST_DIGITS or not _NUMBER.fullmatch(bare):
        return None
    return Decimal(bare)


def possible_readings(text: str) -> list[Decimal]:
    """Every number that this text may be: 1,234 is typed for 1234 here and for 1.234 there."""
    found = parse_number(text)
    if found is None:
        return []
    return [found, read_as_thousands(text)] if is_ambiguous(text) else [found]


def is_ambiguous(text: str) -> bool:
    """Whether this may be either of two numbers."""
    return _EITHER.fullmatch(_strip_number(text)) is not None


def read_as_thousands(text: str) -> Decimal:
    """What an unclear number is if its sign parts thousands."""
    return Decimal(_strip_number(text).replace(",", "").replace(".", ""))


def _strip_number(text: str) -> str:
    return "".join(text.split()).translate(_SIGNS)
