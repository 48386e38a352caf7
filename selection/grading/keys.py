"""What workers and questions are called by: ids that look the same are the same.

Most write ü as one character (NFC), macOS in names of files and what is copied from them as two
(NFD); and what looks like a space may be one that no line is broken at. Ids are kept as the first
have it. One that is stored otherwise, from before they were, keeps its spelling and is found by
all. What nobody sees (a space of no width, a mark that turns the direction of reading) would make
two of one as well: an id with it is refused where it is new.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

SPACES = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f", " "))
CHUNK = 2000
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)


def plain_key(key: str) -> str:
    return key if key.isascii() else unicodedata.normalize("NFC", key.translate(SPACES))


def find_invisible(key: str) -> str:
    """The first character in it that nobody sees, as U+200B; empty where there is none."""
    found = _UNSEEN.search(key)
    return f"U+{ord(found[0]):04X}" if found else ""


def stored_spellings(keys: Iterable[str]) -> list[str]:
    """All in which these may be stored."""
    found = dict.fromkeys(keys)
    for key in [key for key in found if not key.isascii()]:
        found |= dict.fromkeys((plain_key(key), unicodedata.normalize("NFD", key)))
    return list(found)


def map_to_stored(keys: Iterable[str], there: QuerySet[Any]) -> dict[str, str]:
    """By each of these, what it is called where it is there already, or is to be called."""
    wanted = list(keys)
    odd = stored_spellings(key for key in wanted if not key.isascii())
    known: dict[str, str] = {}
    for start in range(0, len(odd), CHUNK):
        found = there.filter(key__in=odd[start : start + CHUNK]).order_by()
        for key in found.values_list("key", flat=True):
            if known.get(plain_key(key)) != plain_key(key):  # of two from before the usual one
                known[plain_key(key)] = key
    return {key: known.get(plain_key(key), plain_key(key)) for key in wanted}
