"""The page about the algorithms is the one that the registry makes."""

from pathlib import Path

from research.describe import page
from topk import MULTI_SELECTORS, SELECTORS

PAGE = Path(__file__).parents[2] / "docs" / "algorithms.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run python -m research.describe > docs/algorithms.md"
    )


def test_every_algorithm_and_option_is_on_it():
    text = page()
    for kind in (*SELECTORS.values(), *MULTI_SELECTORS.values()):
        assert f"`{kind.name}`" in text
        assert all(f"`{option.name}`" in text for option in kind.known_options)
