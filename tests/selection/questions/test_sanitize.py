"""Requesters' texts as HTML: Markdown and media pass, active content does not."""

from html.parser import HTMLParser

import pytest

from selection.questions.sanitize import QuestionTexts

FILES = {"cat.png": ("/media/abc/", "image/png"), "say.mp3": ("/media/def/", "audio/mpeg")}
MARKDOWN, PLAIN = QuestionTexts(True, FILES), QuestionTexts(False, FILES)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**So** it is", "<strong>So</strong> it is"),
        ("one\ntwo", "one<br>\ntwo"),
        ("- a\n- b", "<li>a</li>"),
        ("|a|b|\n|-|-|\n|1|2|", "<td>2</td>"),
        ("3 * 4 * 5 and snake_case_name", "3 * 4 * 5 and snake_case_name"),
        ("[help](https://a.b/c)", 'href="https://a.b/c" target="_blank" rel="noopener noreferrer"'),
        ("![A cat](media:cat.png)", '<img src="/media/abc/" alt="A cat">'),
        ("Hear media:say.mp3, please.", '<audio controls="" preload="metadata" src="/media/def/"'),
        ("Is it? https://a.b/1.JPG?x=2&y=3", '<img src="https://a.b/1.JPG?x=2&amp;y=3" alt="Pic'),
        ("See https://a.b/1.png.", '<img src="https://a.b/1.png" alt'),
        ("![](https://a.b/film.mp4)", '<video controls="" preload="metadata" src="https://a.b/fi'),
        (
            "![gone](media:none.png)",
            "<em>gone: The file \u2068none.png\u2069 is missing here.</em>",
        ),
        ("![](http://a.b/1.png)", '<a href="http://a.b/1.png"'),
    ],
)
def test_markdown_and_media_are_shown(text, shown):
    assert shown in MARKDOWN.html(text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<iframe src=https://a.b></iframe>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&#58;alert(1))",
        "![x](data:text/html;base64,PHNjcmlwdD4=)",
        '![x" onload="alert(1)](https://a.b/c.png)',
        '[x](https://a.b "t\\" onclick=\\"alert(1)")',
        "<form action=https://a.b><input name=response></form>",
        "<style>*{display:none}</style>",
        'https://a.b/"onerror="x.png',
        "<https://a.b/'><script>x</script>.png>",
    ],
)
@pytest.mark.parametrize("texts", [MARKDOWN, PLAIN])
def test_no_text_brings_anything_that_runs_or_sends(texts, text):
    reader = Tags()
    reader.feed(texts.html(text))
    harmless = {"p", "br", "a", "em", "img", "audio", "details", "summary", "span"}
    assert {tag for tag, _ in reader.found} <= harmless
    for name, value in (pair for _, attributes in reader.found for pair in attributes):
        assert name in {"href", "src", "alt", "title", "rel", "target", "class"}
        assert name not in {"href", "src"} or value.startswith(("https://", "/media/"))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, attributes))


def test_plain_prompt_shows_its_characters_literally():
    shown = PLAIN.html("# so *it* is <b>\n1. no list _x_ `y`")
    assert "# so *it* is &lt;b&gt;<br>\n1. no list _x_ `y`" in shown
    assert '<img src="/media/abc/"' in PLAIN.html("media:cat.png")


def test_choice_is_a_picture_or_literal_text():
    assert MARKDOWN.choice("https://a.b/dog.png") == '<img src="https://a.b/dog.png" alt="dog">'
    assert MARKDOWN.choice("media:cat.png") == '<img src="/media/abc/" alt="cat">'
    assert MARKDOWN.choice("*<b>*") == "*&lt;b&gt;*"
