"""The examples of topk's README run and print the output shown."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import topk

README = Path(__file__).parents[1] / "README.md"


def test_examples_of_the_readme_print_their_documented_output():
    text = README.read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```python") == 6
    known = {}
    for code, wanted in examples:  # each goes on with the names of those before it
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(code, known)
        assert printed.getvalue() == wanted


def test_the_readme_counts_the_algorithms_there_are():
    count = len(topk.SELECTORS) + len(topk.MULTI_SELECTORS)
    assert f"{count} algorithms" in README.read_text(encoding="utf-8")
