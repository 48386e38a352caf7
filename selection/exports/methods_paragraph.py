"""A methods paragraph for a paper, detailed enough to judge and repeat the selection.

With it go BibTeX entries, found by authors and year, as the algorithms cite them.
"""

import re
from functools import cache
from statistics import median
from urllib.parse import urlsplit

from django.conf import settings
from django.template.loader import render_to_string

from selection.models import Run
from selection.reports import count_given, ended_early
from selection.runs import money
from selection.runs.settings import algorithm_choices
from selection.texts import count_noun, counted
from selection.version import __version__

from .context import ExportContext

LOCAL = ("127.0.0.1", "localhost", "::1")


def methods_paragraph(context: ExportContext) -> str:
    run = context.run
    if run.status != Run.Status.ENDED:
        return ""
    parts = [
        _selection_sentence(context),
        _asking_sentence(run),
        _guarantee_sentence(context),
        _cost_sentence(context),
        _corrections_sentence(run),
        f"The seed of the run was {run.seed}.",
    ]
    return " ".join(filter(None, parts))


def _selection_sentence(context: ExportContext) -> str:
    run, kind = context.run, context.run.selector_class
    source = kind.guarantee.citation.replace("Ours", "CrowdSelect's own", 1)
    sets = " and ".join(
        f"“{skill}” ({count_noun(skill.deck_size, 'question')}"
        + (f", {count_noun(skill.k, 'worker')} wanted)" if run.several else ")")
        for skill in run.skills
    )
    most = "" if run.pass_mark is None else "up to "
    limit = ", each worker for at most one of them" if run.several and run.one_kind_each else ""
    url, workers = citation_url(), count_noun(len(context.lines_by_worker), "worker")
    return (
        f"We chose {most}{run.total} of {workers} by gold questions with known "
        f"answers, of {sets}{limit}, with the algorithm {kind.title} ({source}) as "
        f"CrowdSelect {__version__}{f' ({url})' if url else ''} implements it."
    )


def _asking_sentence(run: Run) -> str:
    needs = run.selector_class.needs
    numbers = [f"ε = {run.epsilon:g}"] if "epsilon" in needs else []
    numbers += [f"δ = {run.delta:g}"] if "delta" in needs else []
    numbers += [f"a budget of {count_noun(run.budget, 'assignment')}"] if run.budget else []
    numbers += [
        f"{label.lower()}: {value}" for label, value in algorithm_choices.describe_options(run)
    ]
    settings = f" Settings were {', '.join(numbers)}." if numbers else ""
    how = "it used imported answers as far as it needed them"
    if not run.recorded_only:
        how = f"answers later than {count_noun(run.minutes, 'minute')} counted as wrong"
    order = "Each worker saw the questions in an individual random order"
    if run.selector_class.common_order:
        order = "All models met the same questions in one random order"
    return (
        f"{order}, and none twice. The algorithm chose the next workers to ask after each batch of "
        f"answers; {how}.{settings}"
    )


def _guarantee_sentence(context: ExportContext) -> str:
    run, guarantee = context.run, context.guarantee
    ended = f"The run ended because {run.why_ended}."
    if ended_early(run) and (early := _early_end_sentence(context)):
        ended += f" The guarantee at an early end rests on another proof: {early}."
    rests = guarantee.assumptions.replace("Assumes", "This assumes", 1)
    return f"{ended} {guarantee.text} {rests}"


def _early_end_sentence(context: ExportContext) -> str:
    selection = context.standings.selection
    if selection is None or selection.guarantee is None or selection.rounded_epsilon is None:
        return ""
    citation = selection.guarantee.citation
    return "" if citation == context.run.selector_class.guarantee.citation else citation


def _cost_sentence(context: ExportContext) -> str:
    run = context.run
    answers = [sum(line.answers for line in lines) for lines in context.lines_by_worker.values()]
    tested = [count for count in answers if count]
    cost = money.format_cost(run, count_given(run))
    paid = f" The answers cost {cost}." if cost else ""
    if not tested:
        return "No answer was counted."
    return (
        f"The run counted {count_noun(sum(answers), 'answer')} of "
        f"{count_noun(len(tested), 'worker')} "
        f"({min(tested)} to {max(tested)} each, median {median(tested):g}).{paid}"
    )


def _corrections_sentence(run: Run) -> str:
    count = run.events.filter(kind="regrade").count()
    if not count:
        return ""
    if count == 1:
        return "One gold question was corrected or retired, and its answers were regraded."
    return (
        f"{counted(count, 'time')} a gold question was corrected or retired, and its "
        "answers regraded."
    )


# -- BibTeX


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


def format_bibtex(citation: str) -> str:
    """Write the entries of the citation, if it is a paper, and of CrowdSelect."""
    papers = [entry for cited, entry in _entries_by_citation().items() if cited in citation]
    return "\n".join([*papers[:1], _build_entry()])
