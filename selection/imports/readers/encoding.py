"""Detect the encoding of a text file."""

import codecs
import io
import re

from charset_normalizer import from_bytes

from selection.errors import Refused

# Encodings that a person may choose if the guess is wrong.
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Western European (Windows)",
    "mac_roman": "Western European (older Mac)",
    "cp850": "Western European (DOS)",
    "cp1250": "Central European (Windows)",
    "iso8859_2": "Central European (ISO)",
    "cp1251": "Cyrillic (Windows)",
    "cp1253": "Greek (Windows)",
    "cp1254": "Turkish (Windows)",
    "cp1255": "Hebrew (Windows)",
    "cp1256": "Arabic (Windows)",
    "gb18030": "Chinese (simplified)",
    "big5": "Chinese (traditional)",
    "shift_jis": "Japanese",
    "euc_kr": "Korean",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE = 64 * 1024
_PIECE = 1024 * 1024
_EUROPEAN = ("cp1252", "mac_roman", "cp1250", "iso8859_2", "cp850")
# Words with a letter beyond ASCII, and marks of a wrong encoding: a capital within a word of small
# letters, a sign beside a letter, Czech in Western letters.
_FOREIGN = re.compile(r"(?<![A-Za-z])[A-Za-z]*[^\x00-\x7f][^\s;,|]*")
_SIGN = r"[^\w\s\x00-\x7f’‘‚“”„…–—®™°«»¿¡·]"
_ODD = re.compile(
    rf"(?<=[a-zà-öø-ÿ])[A-ZÀ-ÖØ-ÞŒŠŸŽ]|(?<=[A-Z])[À-ÖØ-ÞŒŠŸŽ](?=[a-zà-öø-ÿ])"
    rf"|(?<=[^\W\d_])[‚„¿¡«»](?=[^\W\d_])|(?<=[^\W\d_]){_SIGN}|{_SIGN}(?=[^\W\d_])|[\x80-\x9f]|\ufffd"
    r"|(?<!\w)(?=\w*[øØìÌùòÈ])(?=\w*[áíýúžš])\w"
)


def encoding_of(raw: bytes, name: str) -> str:
    """Detect the encoding. Raises Refused if these bytes are not text."""
    for mark, encoding in _MARKS.items():
        if raw.startswith(mark):
            return check_encoding(raw, encoding, name)
    wide = _detect_utf16(raw[:_SAMPLE])
    if wide:
        return check_encoding(raw, wide, name)
    if b"\0" in raw:
        line = raw[: raw.index(b"\0")].count(b"\n") + 1
        raise Refused(f"{name}, line {line}: there is a NUL character; this is not a text file.")
    return "utf-8" if _is_mostly_utf8(raw) else _detect_single_byte(raw)


def _is_mostly_utf8(raw: bytes) -> bool:
    """Tell if more letters beyond ASCII are valid in UTF-8 than bytes are not.

    In other encodings nearly none are; single bad bytes come from lines pasted from another file.
    """
    if find_undecodable(raw, "utf-8") is None:
        return True
    text = raw.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    return sum(map(len, re.findall(r"[^\x00-\x7f]+", text))) > 2 * bad


def open_text(raw: bytes, encoding: str) -> io.TextIOWrapper:
    """Open a stream of text, with line ends as they are; U+FFFD stands for unreadable bytes."""
    return io.TextIOWrapper(io.BytesIO(raw), encoding, "replace", newline="")


def find_undecodable(raw: bytes, encoding: str) -> int | None:
    """Find the position of the first byte that does not fit this encoding, or None."""
    decoder = codecs.getincrementaldecoder(encoding.removesuffix("-sig"))()
    for start in range(0, len(raw), _PIECE):
        try:
            decoder.decode(raw[start : start + _PIECE], start + _PIECE >= len(raw))
        except UnicodeError as error:
            return start + getattr(error, "start", 0)
    return None


def check_encoding(raw: bytes, encoding: str, name: str) -> str:
    position = find_undecodable(raw, encoding)
    lenient = encoding.startswith("utf-8") and _is_mostly_utf8(raw)  # the bad lines are listed
    if position is not None and not lenient:
        line = raw[:position].count(b"\n") + 1
        title = ENCODINGS.get(encoding.removesuffix("-sig"), encoding.upper())
        raise Refused(
            f"{name}, line {line}: this is not text in {title}; save the file as CSV in UTF-8."
        )
    return encoding


def _detect_utf16(sample: bytes) -> str:
    """Detect the UTF-16 variant of a text without a mark, or "".

    Every other byte of Latin text is 0.
    """
    even, odd = sample[::2], sample[1::2]
    for zeros, letters, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros.count(0) > 0.6 * len(zeros) and letters.count(0) < 0.05 * len(letters):
            return encoding
    return ""


def _detect_single_byte(raw: bytes) -> str:
    """Detect the encoding of a text with one byte a letter.

    Windows and older Macs of Europe by our own rule, which needs a single name to tell them apart;
    others by a library, which needs more text.
    """
    sample = _foreign_lines(raw)
    if _is_turkish(raw, sample):
        return "cp1254"
    odd = {encoding: _word_oddness(sample, encoding) for encoding in _EUROPEAN}
    best = min(odd, key=lambda encoding: odd[encoding])
    if odd[best] < 0.2 and find_undecodable(raw, best) is None:
        return best
    guess = from_bytes(sample, cp_isolation=list(ENCODINGS)).best()
    encoding = guess.encoding if guess else best
    return encoding if find_undecodable(raw, encoding) is None else "latin-1"


def _is_turkish(raw: bytes, sample: bytes) -> bool:
    """Tell if all letters are Turkish, and some only Turkish; ğ stands after vowels."""
    text = sample.decode("cp1254", "replace")
    odd = re.search("(?<![aeıioöuüAEIİOÖUÜ])[ğĞ]|[^\x00-\x7fçğıöşüÇĞİÖŞÜâîûÂÎÛ‘’“”–—…€]", text)
    found = odd is None and re.search("[ğışİĞŞ]", text) is not None
    return found and find_undecodable(raw, "cp1254") is None


def _foreign_lines(raw: bytes) -> bytes:
    lines = re.finditer(rb"[^\r\n]*[\x80-\xff][^\r\n]{0,2000}", raw[: 20 * _SAMPLE])
    parts, size = [], 0
    for line in lines:
        parts.append(line[0][-4000:])
        size += len(parts[-1])
        if size > _SAMPLE:
            break
    return b"\n".join(parts) or raw[:_SAMPLE]


def _word_oddness(sample: bytes, encoding: str) -> float:
    """Compute the share of odd words, 0 to 1.

    A word of mostly accented letters is odd as well: it is of another alphabet.
    """
    words = _FOREIGN.findall(sample.decode(encoding, "replace"))
    odd = [word for word in words if _ODD.search(word) or _is_odd_word(word)]
    return len(odd) / len(words) if words else 0.0


def _is_odd_word(word: str) -> bool:
    letters = [letter for letter in word if letter.isalpha()]
    return len(letters) > 2 and 2 * sum(letter > "\x7f" for letter in letters) > len(letters)
