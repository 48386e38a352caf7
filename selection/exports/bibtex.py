"""BibTeX entries of the algorithms' papers, by authors and year, as the algorithms cite them."""

import re
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.template.loader import render_to_string

from selection.version import __version__

LOCAL = ("127.0.0.1", "localhost", "::1")


def _cite(entry: str) -> str:
    """Extract the authors' last names and the year, as the algorithms cite the entry."""
    authors = entry.partition("author = {")[2].partition("},\n")[0]
    year = re.search(r"year = {(\d+)}", entry)
    assert year is not None
    names = [author.split()[-1] for author in re.split(r"\sand\s", authors)]
    return f"{', '.join(names)} {year[1]}"


@cache
def _entries_by_citation() -> dict[str, str]:
    entries = render_to_string("selection/papers.bib").split("@")[1:]
    return {_cite(entry): f"@{entry.strip()}" for entry in entries}


def citation_url() -> str:
    """Choose the address to cite for CrowdSelect; empty if only this machine can open it."""
    url = str(settings.CITATION_URL)
    return "" if urlsplit(url).hostname in LOCAL else url


def _build_entry() -> str:
    fields = {
        "title": "CrowdSelect: choosing the best workers of a crowd, with a statistical guarantee",
        "version": __version__,
        "url": citation_url(),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@software{{crowdselect,\n{lines}\n}}"


def citation_entry(citation: str) -> str:
    """Find the BibTeX entry of this citation; empty for CrowdSelect's own algorithms."""
    return next((entry for cited, entry in _entries_by_citation().items() if cited in citation), "")


def format_bibtex(citation: str) -> str:
    return "\n".join(filter(None, (citation_entry(citation), _build_entry())))
