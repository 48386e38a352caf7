"""Hooks of mkdocs: add the project's top pages and notebooks to the site, and redirect links."""

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP = Path(__file__).parent
PAGES = {"README.md": "project/overview.md"} | {
    name: f"project/{name}"
    for name in ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "CHANGELOG.md")
}
PAGES |= {
    f"packages/{name}/README.md": f"project/{name}.md" for name in ("topk", "crowdselect-client")
}
# Pages of the packages' own docs, and the tables and pictures of research.
OTHERS = {"packages/topk/docs": "proofs", "research/docs": "research"}
FILES = {
    path.relative_to(TOP).as_posix(): f"{place}/{path.relative_to(TOP / folder).as_posix()}"
    for folder, place in OTHERS.items()
    for path in sorted((TOP / folder).rglob("*.*"))
}
PAGES |= {name: address for name, address in FILES.items() if name.endswith(".md")}
PAGES |= {
    f"docs/notebooks/{path.name}": f"notebooks/{path.stem}.md"
    for path in sorted((TOP / "docs" / "notebooks").glob("*.ipynb"))
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site, with the top pages, notebooks, proofs and research."""
    for name, address in PAGES.items():
        text = (TOP / name).read_text(encoding="utf-8")
        text = convert_notebook(text, name) if name.endswith(".ipynb") else text
        files.append(File.generated(config, address, content=text))
    for name in FILES.keys() - PAGES.keys():
        files.append(File.generated(config, FILES[name], abs_src_path=str(TOP / name)))
    return files


def convert_notebook(text: str, name: str) -> str:
    """Return a notebook as a page, with a link to the file below its title."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```" if cell["cell_type"] == "code" else source)
    title, rest = parts[0].split("\n", 1)
    file = posixpath.basename(name)
    parts[0] = f'{title}\n\n<a href="{file}" download>Download this notebook</a>\n{rest}'
    return "\n\n".join(parts) + "\n"


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
        if path in PAGES or path in FILES:
            address = (PAGES | FILES)[path]
        elif path.startswith("docs/"):
            address = path.removeprefix("docs/")
        else:
            return f"{mark}{text}"
        relative = posixpath.relpath(address, posixpath.dirname(here) or ".")
        return f"{mark}[{text}]({relative}{anchor})"

    return LINK.sub(replace, markdown)
