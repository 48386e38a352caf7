"""Hooks of mkdocs: add the project's top pages to the site, and redirect links to them."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP = Path(__file__).parents[1]
PAGES = {"README.md": "project/overview.md"} | {
    name: f"project/{name}" for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site, with README and its neighbours in the folder `project`."""
    for name, address in PAGES.items():
        text = (TOP / name).read_text(encoding="utf-8")
        files.append(File.generated(config, address, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Return the page's text with links that work in the site.

    Links are relative to the file in the repository. A link to a file that is not part of the site
    becomes plain text.
    """
    here = page.file.src_uri
    sources = {address: name for name, address in PAGES.items()}
    source = sources.get(here, f"docs/{here}")

    def replace(match: re.Match[str]) -> str:
        mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path.startswith("docs/"):
            address = path.removeprefix("docs/")
        elif path in PAGES:
            address = PAGES[path]
        else:
            return f"{mark}{text}"
        relative = posixpath.relpath(address, posixpath.dirname(here) or ".")
        return f"{mark}[{text}]({relative}{anchor})"

    return LINK.sub(replace, markdown)
