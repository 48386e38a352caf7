"""The documentation's pages in the app: docs/*.md, beside the pages that they explain."""

import re
from typing import Any

from django.conf import settings
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import Http404
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.utils.text import slugify
from django.views.generic import TemplateView
from markdown_it import MarkdownIt
from markdown_it.token import Token

HOME = "README"
PAGE = re.compile(r"([\w-]+)\.md(#.*)?")
_READER = MarkdownIt("commonmark", {"html": False}).enable("table")


def _show_image(_renderer: Any, tokens: list[Token], place: int, *_: Any) -> str:
    return str(escape(tokens[place].content))  # pictures are on the site alone


_READER.add_render_rule("image", _show_image)


def render_docs(text: str) -> str:
    tokens = _READER.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(tokens[place + 1].content))
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", _point_link(str(child.attrs["href"])))
    return _READER.renderer.render(tokens, _READER.options, {})


def _point_link(target: str) -> str:
    """Resolve a link; one to a file that is no page here leads to the overview."""
    if target.startswith(("#", "https:")):
        return target
    page = PAGE.fullmatch(target)
    return docs_address(page[1] + (page[2] or "") if page else HOME)


def docs_address(name: str) -> str:
    """Build the address of a page, or of a section: ``page#section``."""
    page, mark, section = name.partition("#")
    return reverse("docs", args=[page]) + mark + section


class DocsPage(LoginRequiredMixin, TemplateView):
    template_name = "selection/docs.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        path = settings.DOCS_DIR / f"{kwargs['name']}.md"
        if not path.exists():
            raise Http404
        html = render_docs(path.read_text(encoding="utf-8"))
        safe = mark_safe(html)  # noqa: S308
        return super().get_context_data(**kwargs, html=safe, home=HOME)
