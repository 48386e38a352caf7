"""The page about the algorithms equals the registry's, and credits the authors."""

import re
from pathlib import Path

import pytest

from research.describe import algorithms_page
from topk import ALL_SELECTORS

PAGE = (Path(__file__).parents[2] / "docs" / "algorithms.md").read_text(encoding="utf-8")

# Written down from the papers' own title pages, apart from the code: authors and years.
AUTHORS = {
    "good-e-bh": "Wang, Ramdas 2022",
    "mark-all": "Ours",
    "mark-share": "Ours, by closed e-BH of Xu, Solari and others 2025",
    "adaptive-top-k": "Chen, Chen, Zhang, Zhou 2017",
    "adaptive-top-k-budget": "Chen, Chen, Zhang, Zhou 2017",
    "certified": "Ours",
    "clucb-pac": "Chen, Lin, King, Lyu, Chen 2014",
    "credible": "Ours",
    "csar": "Chen, Lin, King, Lyu, Chen 2014",
    "gap-e": "Bubeck, Wang, Viswanathan 2013",
    "halving": "Kalyanakrishnan, Stone 2010",
    "improved-top-k": "Ours, in the spirit of Chen, Chen, Zhang, Zhou 2017",
    "kl-lucb": "Kaufmann, Kalyanakrishnan 2013",
    "kl-racing": "Kaufmann, Kalyanakrishnan 2013",
    "lil-clucb": "Jiang, Li, Qiao 2017",
    "lil-lucb": "Jamieson, Nowak 2014",
    "lil-rand-lucb": "Jiang, Li, Qiao 2017",
    "lil-ucb": "Jamieson, Malloy, Nowak, Bubeck 2014",
    "lucb": "Kalyanakrishnan, Tewari, Auer, Stone 2012",
    "lucb-plus-plus": "Simchowitz, Jamieson, Recht 2017",
    "multi-sar": "Bubeck, Wang, Viswanathan 2013",
    "multi-ugape": "Gabillon, Ghavamzadeh, Lazaric, Bubeck 2011",
    "opt-mai-budget": "Zhou, Chen, Li 2014",
    "pair-lucb": "Ours, by the mixtures of Robbins 1970",
    "same-questions": "Ours",
    "sar": "Bubeck, Wang, Viswanathan 2013",
    "sr": "Bubeck, Wang, Viswanathan 2013",
    "ugape-b": "Gabillon, Ghavamzadeh, Lazaric 2012",
    "ugape-c": "Gabillon, Ghavamzadeh, Lazaric 2012",
    "ugape-v": "Gabillon, Ghavamzadeh, Lazaric 2012",
    "each-good": "Ours",
    "universal": "Ours",
    "uniform": "Bubeck, Wang, Viswanathan 2013",
}
ROWS = dict(re.findall(r"^\| `([a-z-]+)` \|(.*)$", PAGE, re.MULTILINE))


def test_the_page_is_up_to_date():
    assert algorithms_page() == PAGE, "run python -m research.describe > docs/algorithms.md"


def test_algorithm_table_has_exactly_one_row_per_algorithm():
    assert set(ROWS) == set(AUTHORS) == set(ALL_SELECTORS)


@pytest.mark.parametrize("name", AUTHORS)
def test_an_algorithm_is_credited_to_its_authors(name):
    source = ROWS[name].split(" | ")[2]
    assert source.startswith(AUTHORS[name])


@pytest.mark.parametrize("name", AUTHORS)
def test_the_row_tells_of_every_option(name):
    kind = ALL_SELECTORS[name]
    told = ROWS[name].rsplit(" | ", 1)[1]
    assert re.findall(r"`(\w+)` \(", told) == [option.name for option in kind.known_options]
