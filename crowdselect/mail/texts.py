"""Texts of the messages to workers: a default in each language, which a run may replace."""

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from babel import Locale
from django.conf import settings
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from selection import viewer_locale
from selection.errors import Refused
from selection.history import events
from selection.models import Run, Worker

from .models import MOST_REMIND_HOURS, Mail, MailSettings

KINDS = (Mail.Kind.INVITATION, Mail.Kind.REMINDER)
LONGEST_SUBJECT = 200
LONGEST_BODY = 10_000
LINK, NAME = "{link}", "{name}"
DEFAULT_LANGUAGE = "en"
# Headers of a column of languages, and the languages in which its values may name one.
ATTRIBUTES = {
    *("language", "languages", "lang", "locale", "native language", "first language"),
    *("sprache", "sprachen", "muttersprache", "erstsprache"),
    *("langue", "langues", "langue maternelle", "idioma", "idiomas", "lengua", "lengua materna"),
    *("língua", "lingua", "lingua madre", "taal", "moedertaal", "språk", "sprog", "język", "jazyk"),
    *("kieli", "nyelv", "limbă", "dil", "γλώσσα", "язык", "мова", "שפה"),
    *("لغة", "اللغة", "اللغه", "اللغة الأم", "زبان", "भाषा", "语言", "語言", "言語", "언어"),
}
SPEAKERS = (
    *("en", "de", "ar", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "pl", "cs", "fi", "hu"),
    *("ro", "tr", "el", "ru", "uk", "he", "fa", "hi", "zh", "zh_Hant", "ja", "ko"),
)
THREE_LETTERS = {"en": ("eng",), "de": ("deu", "ger"), "ar": ("ara",)}


class Text(NamedTuple):
    """A message. ``{link}`` stands for the personal link, ``{name}`` for the worker's name."""

    subject: str
    body: str


# By language and kind.
Texts = dict[str, dict[str, Text]]


def default_text(kind: str, language: str) -> Text:
    with translation.override(language):
        if kind == Mail.Kind.REMINDER:
            subject = _("Reminder: questions for you")
            request = _("A while ago we invited you to answer some questions. They are still here:")
        else:
            subject = _("Questions for you")
            request = _("We would like you to answer some questions. They are here:")
        greeting, thanks = _("Hello,"), _("Thank you!")
        private = _("This link is yours alone: anyone with it answers in your name.")
    return Text(subject, f"{greeting}\n\n{request}\n\n{LINK}\n\n{private}\n\n{thanks}")


def footer(language: str, link: str) -> str:
    with translation.override(language):
        sentence = _("You want no more of these messages? Unsubscribe here:")
    return f"\n\n-- \n{sentence}\n{link}\n"


def read_settings(run: Run) -> MailSettings:
    """Read the run's settings of messages; the default ones if it has none of its own."""
    return MailSettings.objects.filter(run=run).first() or MailSettings(run=run)


def effective_texts(chosen: MailSettings) -> Texts:
    return {
        language: {kind: text_of(chosen, kind, language) for kind in KINDS}
        for language in dict(settings.LANGUAGES)
    }


def text_of(chosen: MailSettings, kind: str, language: str) -> Text:
    default = default_text(kind, language)
    own = chosen.texts.get(language, {}).get(kind, {})
    return Text(own.get("subject") or default.subject, own.get("body") or default.body)


def language_of(worker: Worker, otherwise: str) -> str:
    """Find the language that an attribute of the worker names, in any language."""
    for name, value in worker.attributes.items():
        if _plain(name) in ATTRIBUTES and isinstance(value, str):
            first = re.split(r"[,;/(|_-]", value, maxsplit=1)[0]
            if code := _language_names().get(_plain(first)):
                return code
    return otherwise or DEFAULT_LANGUAGE


def suggest_language(run: Run) -> str:
    """Choose the language of workers without one: the run's, else that of who looks."""
    own = MailSettings.objects.filter(run=run).exclude(language="").first()
    viewer = viewer_locale.locale_name().partition("_")[0]
    known = viewer if viewer in dict(settings.LANGUAGES) else DEFAULT_LANGUAGE
    return own.language if own else known


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


@cache
def _language_names() -> dict[str, str]:
    """Index our languages by code and by name, as other languages name them."""
    names: dict[str, str] = {}
    for code, _name in settings.LANGUAGES:
        own = (code, *THREE_LETTERS.get(code, ()))
        foreign = [Locale.parse(speaker).languages.get(code, "") for speaker in SPEAKERS]
        names |= {_plain(name): code for name in (*own, *foreign) if name}
    return names


@transaction.atomic
def change_settings(
    run: Run, remind_hours: int | None, texts: Texts, who: str = "", language: str = ""
) -> None:
    """Change the messages of a run; they hold for all that is sent from now on.

    remind_hours  None: as it is
    language      of workers without one; empty: as it is
    texts         those to change; an empty subject or body is the default one

    Raises Refused for an unknown language or kind, and for a body without the link.
    """
    locked = Run.objects.lock(run.pk)
    chosen = read_settings(locked)
    before = (chosen.remind_hours, chosen.texts, chosen.language)
    if language:
        chosen.language = _validate_language(language)
    chosen.texts = {language: dict(kinds) for language, kinds in chosen.texts.items()}
    for code, kinds in texts.items():
        for kind, text in kinds.items():
            chosen.texts.setdefault(code, {})[kind] = _validate_text(code, kind, text)
    chosen.remind_hours = chosen.remind_hours if remind_hours is None else remind_hours
    if not 0 <= chosen.remind_hours <= MOST_REMIND_HOURS:
        raise Refused(f"A reminder comes after 0 to {MOST_REMIND_HOURS:,} hours.")
    if (chosen.remind_hours, chosen.texts, chosen.language) != before:
        chosen.save()
        events.write_event(locked, "mail", "The e-mails to workers were changed.", who)


def _validate_language(language: str) -> str:
    if language not in dict(settings.LANGUAGES):
        languages = ", ".join(dict(settings.LANGUAGES))
        raise Refused(f"There is no language “{language}”; there are {languages}.")
    return language


def _validate_text(language: str, kind: str, text: Text) -> dict[str, str]:
    """Check the text and store it: without the parts that are the default."""
    _validate_language(language)
    if kind not in KINDS:
        raise Refused(f"There is no message “{kind}”; there are {', '.join(KINDS)}.")
    subject, body = text.subject.strip(), text.body.replace("\r\n", "\n").strip()
    if len(subject) > LONGEST_SUBJECT or not (subject.isprintable()):
        raise Refused(f"A subject is one line of at most {LONGEST_SUBJECT} characters.")
    if len(body) > LONGEST_BODY:
        raise Refused(f"A message has at most {LONGEST_BODY:,} characters.")
    if body and LINK not in body:
        raise Refused(f"The {kind} ({language}) has no {LINK}: workers could not start.")
    default = default_text(kind, language)
    stored = {"subject": subject, "body": body}
    return {
        name: value for name, value in stored.items() if value not in ("", getattr(default, name))
    }
