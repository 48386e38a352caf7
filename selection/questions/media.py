"""Uploaded pictures, sounds and films: recognised by their content, limited in size.

No file is fetched from anywhere, and none is changed. SVG is refused: it may contain scripts.
"""

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import PurePath
from typing import Any

from django.db.models import Q, QuerySet

from selection.errors import Refused
from selection.limits import MOST_MEDIA, MOST_MEDIA_FILES
from selection.models import MediaFile, QuestionSet, Run, UploadedRow

MB = 1024 * 1024
# Media types by the first bytes of a file.
_KNOWN = [
    (re.compile(pattern, re.S), kind)
    for pattern, kind in (
        (rb"\x89PNG\r\n\x1a\n", "image/png"),
        (rb"\xff\xd8\xff", "image/jpeg"),
        (rb"GIF8[79]a", "image/gif"),
        (rb"RIFF....WEBP", "image/webp"),
        (rb"....ftypavi[fs]", "image/avif"),
        (rb"RIFF....WAVE", "audio/wav"),
        (rb"ID3|\xff[\xfb\xf3\xf2\xfa]", "audio/mpeg"),
        (rb"OggS.{24}(.[\x80-\xff]?)?\x80theora", "video/ogg"),
        (rb"OggS", "audio/ogg"),
        (rb"fLaC", "audio/flac"),
        (rb"....ftypM4A", "audio/mp4"),
        (rb"....ftyp(isom|iso[2-9]|mp4[12]|avc1|M4V |dash)", "video/mp4"),
        (rb"\x1aE\xdf\xa3.{0,60}webm", "video/webm"),
    )
]
# A file of the set in a text: between angle brackets, or a name with an ending.
_MENTION = re.compile(r"<media:([^<>]+)>|(?<![\w/-])media:([\w-][\w.-]*\.\w+)")
_ODD = re.compile(r"[^\w.-]+")


def type_of(data: bytes) -> str:
    return next((kind for pattern, kind in _KNOWN if pattern.match(data)), "")


def store_media(question_set: QuestionSet, name: str, data: bytes) -> MediaFile:
    """Store a file for the texts of this set; it replaces one of the same name, with its address.

    Raises Refused for an unsupported type and for a file that is too large.
    """
    name, kind = media_name(name), type_of(data)
    if not kind:
        raise Refused(
            f"{name} is no picture, sound or film that is taken: PNG, JPEG, GIF, WebP, AVIF, MP3, "
            "WAV, Ogg, FLAC, M4A, MP4 or WebM."
        )
    most = MOST_MEDIA[kind.split("/")[0]]
    if len(data) > most:
        raise Refused(f"{name} is larger than {most // MB} MB; make it smaller first.")
    files = MediaFile.objects.filter(question_set=question_set)
    if files.count() >= MOST_MEDIA_FILES:
        raise Refused(f"A question set has at most {MOST_MEDIA_FILES} files.")
    files.filter(name=name).delete()
    return MediaFile.objects.create(
        question_set=question_set, name=name, type=kind, size=len(data), data=data
    )


def media_name(name: str) -> str:
    """Derive the name that texts use for the file: without folders and spaces."""
    path = PurePath(name.replace("\\", "/"))
    stem = _ODD.sub("-", path.stem).strip("-") or "file"
    return f"{stem[:80]}{_ODD.sub('', path.suffix)[:15]}"


# -- files that texts mention


def mentioned_names(*texts: str) -> set[str]:
    names = (match[1] or match[2] for text in texts for match in _MENTION.finditer(text))
    return set(map(media_name, names))


def missing_in_set(question_set: QuestionSet) -> list[str]:
    rows = question_set.questions.filter(retired=None).order_by()
    practice = question_set.practice.values_list("prompt", "explanation")
    texts = [question_set.instructions, *chain.from_iterable(practice)]
    return _missing_names(question_set, texts, rows)


def missing_in_run(run: Run) -> dict[QuestionSet, list[str]]:
    sets = [skill.question_set for skill in run.skills]
    return {one: names for one in sets if (names := missing_in_set(one))}


def missing_in_rows(question_set: QuestionSet, rows: "QuerySet[UploadedRow]") -> list[str]:
    return _missing_names(question_set, [], rows, "data__")


def _missing_names(
    question_set: QuestionSet, texts: Iterable[str], rows: Any, prefix: str = ""
) -> list[str]:
    prompt, choices = f"{prefix}prompt", f"{prefix}choices"
    mentioning = Q(**{f"{prompt}__icontains": "media:"}) | Q(**{f"{choices}__icontains": "media:"})
    names = mentioned_names(*texts)
    for text, options in rows.filter(mentioning).values_list(prompt, choices).iterator():
        names |= mentioned_names(text, *options)
    return sorted(names.difference(question_set.media.values_list("name", flat=True)))
