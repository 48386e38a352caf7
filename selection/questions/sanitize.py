"""Requesters' texts as safe HTML: Markdown, with pictures, sounds and films.

No text can produce a script, style, form or frame: HTML in a text is shown as text, and the output
of Markdown passes through nh3, an allowlist.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import unquote

import nh3
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

from selection.models import MediaFile, QuestionSet

from .media import media_name, mentioned_names

KINDS = {
    "image": ("png", "jpg", "jpeg", "gif", "webp", "avif"),
    "audio": ("mp3", "wav", "ogg", "oga", "flac", "m4a"),
    "video": ("mp4", "webm", "ogv", "m4v"),
}
BY_ENDING = {ending: kind for kind, endings in KINDS.items() for ending in endings}
OWN = "media:"
# A bare address in a text; of a picture, sound or film: the group.
_BARE = re.compile(
    r"(?<![(<\[\"\w/=])(?:((?:https://[^\s<>()]+?|media:[\w.-]+?)\.(?:"
    + "|".join(BY_ENDING)
    + r")(?:\?[^\s<>()]*+)?)(?=[\s,;:!?]|\.?$|\.\s|$)"
    r"|https://[^\s<>()]*+|media:[\w.-]*+)",
    re.I | re.M,
)
_MEDIA = {"src", "aria-label", "controls", "preload"}


@dataclass(frozen=True)
class QuestionTexts:
    """Renderer of the texts of a question set.

    files  address and type by the NAME of media:NAME
    """

    markdown: bool
    files: Mapping[str, tuple[str, str]]

    NONE: ClassVar["QuestionTexts"]

    @classmethod
    def load(cls, question_set: QuestionSet, *texts: str, base: str = "") -> "QuestionTexts":
        """Load the renderer of these texts, with only the files that they mention.

        base  beginning of the files' addresses, for pages of other servers
        """
        names = mentioned_names(*texts)
        if not names:
            return cls(question_set.markdown, {})
        rows = MediaFile.objects.filter(question_set=question_set, name__in=names)
        files = rows.values_list("name", "token", "type")
        return cls(
            question_set.markdown,
            {name: (base + reverse("media", args=[token]), kind) for name, token, kind in files},
        )

    def html(self, text: str) -> SafeString:
        reader = _MARKDOWN if self.markdown else _PLAIN
        html = reader.render(_BARE.sub(_show_file, text), {"texts": self})
        return mark_safe(_sanitise_html(html))  # noqa: S308

    def choice(self, text: str) -> SafeString:
        """Render a choice: escaped, or as a picture if it is the address of one."""
        bare = _BARE.fullmatch(text.strip())
        if not (bare and bare[1]):
            return escape(text)
        address, kind = self.place(text.strip())
        if not address:
            return _missing_text(text.strip())
        if kind != "image":
            return escape(text)
        picture = f'<img src="{escape(address)}" alt="{escape(_alt_text(text))}">'
        return mark_safe(_sanitise_html(picture))  # noqa: S308

    def place(self, address: str) -> tuple[str, str]:
        """Find the address and its kind: image, audio or video; "" and "" for a missing file."""
        if address.startswith(OWN):
            file = self.files.get(media_name(unquote(address.removeprefix(OWN))))
            return (file[0], file[1].split("/")[0]) if file else ("", "")
        if not address.startswith("https://"):
            return address, ""
        ending = address.split("?")[0].rpartition(".")[2].casefold()
        return address, BY_ENDING.get(ending, "image")


QuestionTexts.NONE = QuestionTexts(False, {})


def _show_file(bare: re.Match[str]) -> str:
    return f"![](<{bare[1]}>)" if bare[1] else bare[0]


def _alt_text(address: str) -> str:
    """Name the file, so that pictures as choices can be told apart by ear."""
    return address.split("?")[0].rpartition("/")[2].removeprefix(OWN).rpartition(".")[0]


def _missing_text(source: str, alt: str = "") -> SafeString:
    name = f"\N{FIRST STRONG ISOLATE}{unquote(source.removeprefix(OWN))}\N{POP DIRECTIONAL ISOLATE}"
    sentence = _("The file %(name)s is missing here.") % {"name": name}
    return format_html("<em>{}</em>", f"{alt}: {sentence}" if alt else sentence)


def _render_media(self: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    token = tokens[i]
    alt = self.renderInlineAsText(token.children or [], options, env)
    source = str(token.attrGet("src"))
    address, kind = env["texts"].place(source)
    if not address:
        return _missing_text(source, alt)
    return _SHOWN[kind](escape(address), escape(alt))


def _render_image(address: str, alt: str) -> str:
    """Render a picture that opens in full size, without a script."""
    larger, alt = escape(_("Larger or smaller")), alt or escape(_("Picture"))
    return (
        f'<details class="zoom"><summary><img src="{address}" alt="{alt}">'
        f'<span class="unseen">{larger}</span></summary></details>'
    )


def _render_audio(address: str, alt: str) -> str:
    label = alt or escape(_("Recording"))
    return f'<audio controls preload="metadata" src="{address}" aria-label="{label}"></audio>'


def _render_video(address: str, alt: str) -> str:
    label = alt or escape(_("Film"))
    return f'<video controls preload="metadata" src="{address}" aria-label="{label}"></video>'


def _render_link(address: str, alt: str) -> str:
    return f'<a href="{address}">{alt or address}</a>'


_SHOWN = {"image": _render_image, "audio": _render_audio, "video": _render_video, "": _render_link}


def _markdown_parser(preset: str, *more: str) -> MarkdownIt:
    reader = MarkdownIt(preset, {"html": False, "breaks": True}).enable(list(more))
    reader.add_render_rule("image", _render_media)
    return reader


_MARKDOWN = _markdown_parser("commonmark", "table", "strikethrough")
_PLAIN = _markdown_parser("zero", "newline", "image")

_TAGS = {
    *("p", "br", "strong", "em", "s", "code", "pre", "blockquote", "hr", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
    *("img", "audio", "video", "details", "summary", "span"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start"},
    "img": {"src", "alt"},
    "audio": _MEDIA,
    "video": _MEDIA,
    "details": {"class"},
    "span": {"class"},
}


def _sanitise_html(html: str) -> str:
    """Sanitise the HTML. Links open in a new tab: leaving the page would let the deadline pass."""
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"https", "http", "mailto"},
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
