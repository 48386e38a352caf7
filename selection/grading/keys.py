"""Keys of workers and questions: ids that look the same are the same.

Most systems write ü as one character (NFC), macOS in names of files and in text copied from them as
two (NFD); and an apparent space may be a no-break space. Ids are stored, and looked up, in NFC with
plain spaces (``models.keys.KeyField``). Invisible characters (a space of no width, a mark that
changes the direction of reading) would make two ids of one as well: an id with one is refused.
"""

import hashlib
import re
import unicodedata
from typing import Literal

import regex

from selection.limits import LONGEST_KEY

SPACES = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f", " "))
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)

# Prolific refuses a whole call because of one id that it does not know.
PROLIFIC_ID = re.compile("[0-9a-f]{24}")
NOT_PROLIFIC = "“{}” is no id of Prolific: these have 24 characters, digits and letters a to f."
_WIDE = re.compile("[\uff01-\uffef]+")
_SIGNS = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ´′", "'") | dict.fromkeys("“”„‟″", '"') | dict.fromkeys("‐‑‒–−", "-")
)
_MARKS = re.compile(
    "[\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff]"
)
# Sorting a stack of marks takes quadratic time; no script has a higher one (UAX 15).
_STACK = regex.compile(r"(\p{M}{30})\p{M}+")
_HASH = 12  # characters of the hash after a text that is too long for a key


def normalise_unicode(form: Literal["NFC", "NFD"], text: str) -> str:
    """Convert the text to the form, in linear time: of a stack of marks the first 30 stay."""
    return text if text.isascii() else unicodedata.normalize(form, _STACK.sub(r"\1", text))


def unify_marks(text: str) -> str:
    if text.isascii():
        return text
    text = _WIDE.sub(lambda wide: unicodedata.normalize("NFKC", wide[0]), text)
    return _MARKS.sub("", text.translate(_SIGNS))


def shorten_key(text: str) -> str:
    plain = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    if len(plain) <= LONGEST_KEY:
        return plain
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{plain[: LONGEST_KEY - _HASH - 2]}… {mark}"


def plain_key(key: str) -> str:
    return key if key.isascii() else normalise_unicode("NFC", key.translate(SPACES))


def find_invisible(key: str) -> str:
    """Find the first invisible character, for example "U+200B"; "" if there is none."""
    match = _UNSEEN.search(key)
    return f"U+{ord(match[0]):04X}" if match else ""
