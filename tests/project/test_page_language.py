"""Plain language of pages and messages: short sentences, buttons that name action and object."""

import re

from .page_texts import message_modules, message_sentences, template_sentences, templates

MOST_WORDS = 30  # of a sentence

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
accept add apply cancel change check choose close compare confirm connect continue copy create
delete disconnect dismiss download edit erase estimate grade hand import invite join keep leave
log mark open pause preview raise refresh release remove replace replay report restore resume
retire save send set show sign start stop submit sync take test undo update upload use view
watch withdraw
"""
VERBS = set(VERB_TEXT.split())


def test_sentences_are_short():
    texts = {name: template_sentences(source) for name, source in templates().items()}
    texts |= {name: message_sentences(tree) for name, tree in message_modules().items()}
    long = [
        f"{name}: {sentence}"
        for name, sentences in texts.items()
        for sentence in sentences
        if "(?" not in sentence and len(re.findall(r"[a-z']+", sentence.lower())) > MOST_WORDS
    ]
    assert not long, "make two sentences of each"


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
    assert not others, "write a verb and its object: Export workers"
