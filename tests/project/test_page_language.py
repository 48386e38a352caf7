"""Plain language of pages and messages, in figures that may only be tightened."""

import re
from collections.abc import Iterable

from .page_texts import message_modules, message_sentences, template_sentences, templates
from .test_language import VAGUE, words_of

MOST_VAGUE = 10  # in 1,000 words of a file; a short file may have one
MOST_WORDS = 30  # of a sentence

# Files above the ceilings; may only shrink.
VAGUE_TEMPLATES: set[str] = {
    "admin/index.html",
    "selection/forecast_numbers.html",
    "selection/guide.html",
    "selection/import_preview.html",
    "selection/live/needs.html",
    "selection/live/population.html",
    "selection/live/signs.html",
    "selection/run_begun.html",
    "selection/run_change.html",
    "selection/run_copy.html",
    "selection/run_draft.html",
    "selection/run_expected.html",
    "selection/run_form_before.html",
    "selection/run_outcome.html",
    "selection/run_roster.html",
    "selection/run_stop.html",
}
VAGUE_MODULES: set[str] = {
    "selection/admin/imports/importers.py",
    "selection/admin/run/forecast_running.py",
    "selection/admin/teams/audit.py",
    "selection/admin/wizard/form.py",
}
LONG_SENTENCES: set[str] = {
    "selection/admin/imports/importers.py",
}

BUTTON = re.compile(
    r'<(button|a)\b(?=[^>]*(?:cs-button|type="submit"))[^>]*>(.*?)</\1>|'
    r'include "signin/button.html" with words="([^"]*)"',
    re.DOTALL,
)
# Texts of buttons without an object, because the whole page is the object.
PERMITTED = {
    "Back",
    "Cancel",
    "CSV",
    "Done",
    "JSON lines",
    "Next →",
    "Save",
    "Search",
    "Unsubscribe",
    "← Previous",
}
VERB_TEXT = """
accept add cancel change check choose close compare confirm connect continue copy create delete
disconnect download edit erase hand import invite join keep leave log mark open pause preview
raise refresh release remove replace replay report restore resume retire save send show sign
start stop submit take undo update upload use view withdraw
"""
VERBS = set(VERB_TEXT.split())
# Templates with other texts; may only shrink.
OTHER_BUTTONS: set[str] = {
    "admin/index.html",
    "selection/audit_list.html",
    "selection/forecast_numbers.html",
    "selection/forecast_row.html",
    "selection/guide.html",
    "selection/import.html",
    "selection/import_preview.html",
    "selection/run_begun.html",
    "selection/run_change.html",
    "selection/run_changes.html",
    "selection/run_compare.html",
    "selection/run_copy.html",
    "selection/run_draft.html",
    "selection/run_expected.html",
    "selection/run_formats.html",
    "selection/run_outcome.html",
}


def is_vague(sentences: Iterable[str]) -> bool:
    words = [word for sentence in sentences for word in words_of(sentence)]
    found = sum(word in VAGUE for word in words)
    return 1000 * found > MOST_VAGUE * max(len(words), 100)


def long_ones(sentences: Iterable[str]) -> list[str]:
    return [text for text in sentences if len(words_of(text)) > MOST_WORDS]


def test_templates_name_what_they_are_about():
    vague = {name for name, source in templates().items() if is_vague(template_sentences(source))}
    assert vague == VAGUE_TEMPLATES


def test_messages_name_what_they_are_about():
    vague = {name for name, tree in message_modules().items() if is_vague(message_sentences(tree))}
    assert vague == VAGUE_MODULES


def test_sentences_are_short():
    texts = {name: template_sentences(source) for name, source in templates().items()}
    texts |= {name: message_sentences(tree) for name, tree in message_modules().items()}
    assert {name for name, sentences in texts.items() if long_ones(sentences)} == LONG_SENTENCES


def button_texts(source: str) -> list[str]:
    """Return the texts of the buttons of a template, a value as N."""
    found = [shown or words for _tag, shown, words in BUTTON.findall(source)]
    texts = [" ".join(template_sentences(text)).rstrip(".… ") for text in found]
    return [text for text in texts if text not in ("", "N")]


def is_verb_with_object(text: str) -> bool:
    first, *rest = text.split()
    return text in PERMITTED or (first.lower() in VERBS | {"n"} and bool(rest))


def test_a_button_names_its_action_and_its_object():
    others = {
        name: texts
        for name, source in templates().items()
        if (texts := [text for text in button_texts(source) if not is_verb_with_object(text)])
    }
    assert set(others) == OTHER_BUTTONS, others
