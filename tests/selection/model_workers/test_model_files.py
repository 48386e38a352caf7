"""Models in YAML: grids, names, and faults with their line and column."""

from pathlib import Path

import pytest

from selection.errors import Refused
from selection.model_workers.endpoints import set_server
from selection.model_workers.model_files import ModelFile
from selection.models import ModelServer

GRID = """
servers:
  local:
    url: http://127.0.0.1:11434/v1
    concurrency: 4
models:
  - server: local
    model: [small, large]
    prompt:
      short: Be short.
      long: Think first.
    temperature: [0, 0.7]
    price_in: 0.25
"""


def servers() -> dict[str, ModelServer]:
    return {"local": ModelServer(name="local", url="http://127.0.0.1:11434/v1", team_id=1)}


def test_a_grid_has_every_combination_once() -> None:
    endpoints = dict(ModelFile(GRID).build_endpoints(servers()))
    assert len(endpoints) == 8
    endpoint = endpoints["large, long, t=0.7"]
    assert endpoint.model == "large"
    assert endpoint.system_prompt == "Think first."
    assert endpoint.temperature == 0.7
    assert endpoint.price_in == 0.25
    assert str(endpoint.price_out) == "0"


def test_names_follow_a_pattern() -> None:
    text = GRID.replace(
        "  - server: local", '  - server: local\n    name: "{prompt}/{model}/{temperature}"'
    )
    assert ModelFile(text).models[0].worker == "short/small/0"


def test_the_name_of_a_single_model_is_its_own() -> None:
    assert [one.worker for one in ModelFile("models: [{model: m, server: s}]").models] == ["m"]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", "Line 1: the file has no “models”"),
        ("models: [", "Line 1, column 10: not valid YAML"),
        ("modells: []", "Line 1, column 1: there is no “modells” here"),
        ("models: []", "Line 1, column 1: “models” is a list with one entry at least"),
        ("models:\n  - model: m", "Line 2, column 5: the entry has no “server”."),
        (
            "models:\n  - {model: m, server: local, prise: 3}",
            "Line 2, column 31: there is no “prise” here",
        ),
        (
            "models:\n  - model: m\n    server: local\n    max_tokens: 0",
            "Line 4, column 5: max_tokens: ",
        ),
        (
            "models:\n  - model: m\n    server: local\n    temperature: [0, hot]",
            "Line 4, column 5: temperature: ",
        ),
        (
            "models:\n  - model: m\n    server: local\n    template: '{qestion}'",
            "Line 4, column 5: template: The template has the placeholder {qestion}",
        ),
        (
            "models:\n  - model: m\n    server: local\n    parsing: guess",
            "Line 4, column 5: parsing: “guess” is unknown; there are auto, letter, word, json,",
        ),
        (
            "models:\n  - model: m\n    server: local\n    system_prompt: [a, b]",
            "Line 4, column 5: system_prompt: Give one value, not a list.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    prompt: {a: {b: c}}",
            "Line 4, column 5: prompt: Give one value, not a mapping.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    parsing: [auto, word]",
            "Line 4, column 5: parsing: Give one value, not a list.",
        ),
        (
            "models:\n  - model: {a: b}\n    server: local",
            "Line 2, column 5: model: Give one value, not a mapping.",
        ),
        (
            "models:\n  - model: m\n    server: [local]",
            "Line 3, column 5: “server” is one name.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    temperature: [0, yes]",
            "Line 4, column 5: temperature: YAML reads yes, no, on and off as true and false",
        ),
        (
            "models:\n  - model: m\n    server: local\n    prompt: a\n    system_prompt: b",
            "Line 5, column 5: give “prompt” or “system_prompt”, not both.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    model: n",
            "Line 4, column 5: “model” is given twice.",
        ),
        (
            "models:\n  - model: m\n\tserver: local",
            "Indent with spaces, and put a text with special characters in quotes.",
        ),
        ("models:\n  model: m", "is a list with one entry at least, which begins with a dash."),
        ("models:\n  - {model: m, server: far}", "Line 2, column 16: there is no server “far”"),
        (
            "models:\n  - {model: m, server: local}\n  - {model: m, server: local}",
            "Line 3, column 5: the worker “m” is there already",
        ),
        ("models:\n  - {model: m, server: local, name: '{x}'}", "Line 2, column 31: the name"),
        ("servers: {a: {}}\nmodels: []", "Line 1, column 11: the server “a” has no url."),
        ("models: !!python/object:os.system {}", "not valid YAML"),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, refusal: str) -> None:
    with pytest.raises(Refused) as caught:
        ModelFile(text).build_endpoints(servers())
    assert refusal in str(caught.value)


LAUGHS = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
LONG = "x" * 90_000


def one_model(**fields: str) -> str:
    lines = [f"  {name}: {value}\n" for name, value in fields.items()]
    return "models:\n- server: local\n  model: m\n" + "".join(lines)


@pytest.mark.parametrize("name", ["{model.foo}", "{model[x]}", "{model:>9e18}", "{0}", "{model!r}"])
def test_a_name_has_plain_fields_only(name: str) -> None:
    with pytest.raises(Refused, match=r"Line 4, column 3: the name .* may have \{model\} only"):
        ModelFile(one_model(name=f"'{name}'"))


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (f"a: &a [l]\n{LAUGHS}{one_model()}", "repeats itself by aliases too often"),
        ("models: &a [*a]", "repeats itself by aliases too often"),
        ("[" * 300_000, "Line 1, column 11: the file is nested too deeply"),
        (one_model(seed=":".join(["1"] * 60_000)), "the text has more than 100,000 characters"),
        (one_model(prompt="[" + "a," * 30_000 + "]"), "nested too deeply, or too large"),
        (one_model(seed=str(list(range(900))), prompt=LONG), "exceed 20,000,000 characters"),
        (one_model(name="'" + "{model}" * 200 + "'"), "“name” is one text"),
        (2 * "models: [{server: s, model: m}]\n", "“models” is given twice"),
        ("? [models]\n: 1", "Line 1, column 3: a name is one text."),
        (one_model(timeout="1:30"), "timeout: “1:30” value must be a float"),
        (one_model(max_tokens="0x10"), "max_tokens: “0x10” value must be an integer"),
        (one_model(seed="2024-01-01"), "seed: “2024-01-01” value must be an integer"),
        (one_model(timeout="nan"), "Line 4, column 3: timeout: Enter a number."),
        (one_model(temperature="NaN"), "Line 4, column 3: temperature: Enter a number."),
        (one_model(seed="!!int '1:1'"), "Line 4, column 9: not valid YAML: remove the tag"),
        (one_model(prompt="{}"), "the list of “prompt” is empty"),
        ('models: "\\UFFFFFFFF"', "not valid YAML"),
        (f"servers: {{local: {{url: [a]}}}}\n{one_model()}", "Give one value, not a list."),
        (f"servers: {{local: {{url: x, key: [a]}}}}\n{one_model()}", "“key” is one text."),
    ],
)
def test_a_hostile_file_is_refused_before_it_grows(text: str, refusal: str) -> None:
    with pytest.raises(Refused) as caught:
        read_whole(text)
    assert refusal in str(caught.value)


def read_whole(text: str) -> None:
    file = ModelFile(text)
    for server in file.servers:
        set_server(ModelServer(team_id=1), server.values)
    file.build_endpoints(servers())


def test_times_and_octal_numbers_are_plain_texts() -> None:
    (model,) = ModelFile("models: [{server: s, model: 12:30:45, max_tokens: 010}]").models
    assert (model.worker, model.values["max_tokens"]) == ("12:30:45", "010")


def test_a_grid_has_a_limit() -> None:
    with pytest.raises(Refused, match="at most 1,000 workers"):
        ModelFile(f"models: [{{server: s, model: {list(range(50))}, seed: {list(range(50))}}}]")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Be short.", '"a\\0b"', "Line 10, column 14: the text has a character that cannot be"),
        ("Be short.", '"a\\ud800b"', "Line 10, column 14: the text has a character that cannot be"),
        ("short:", '"s\\0":', "Line 10, column 7: the text has a character that cannot be"),
        ("short:", '"s\\u200b":', "has a character that nobody sees (U+200B)"),
    ],
)
def test_texts_that_cannot_be_stored_or_seen_are_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        ModelFile(GRID.replace(old, new))
    assert words in str(refused.value)


# -- texts and data in files


ONE = "models:\n  - {{server: s, model: m, prompt: {}}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two prompts, one of them with a mark of its encoding and a last empty line."""
    (tmp_path / "here" / "prompts").mkdir(parents=True)
    (tmp_path / "here/prompts/short.txt").write_bytes(b"\xef\xbb\xbfBe short.\n\n")
    (tmp_path / "here/prompts/long.txt").write_text("Think first.")
    (tmp_path / "here/latin.txt").write_bytes("Grüße".encode("latin-1"))
    (tmp_path / "here/empty.md").write_text("\n")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "here/link.txt").symlink_to(tmp_path / "secret.txt")
    return tmp_path / "here"


@pytest.mark.parametrize(
    ("prompt", "texts"),
    [
        ("prompts/*.txt", {"m, long": "Think first.", "m, short": "Be short."}),
        ("[prompts/long.txt, Read this.txt]", {"m, long": "Think first.", "m, prompt 2": ""}),
        ("{a: prompts/short.txt, b: Hm.}", {"m, a": "Be short.", "m, b": "Hm."}),
        ("Answer as in notes.txt", {"m": "Answer as in notes.txt"}),
    ],
)
def test_prompts_are_read_from_files(folder: Path, prompt: str, texts: dict[str, str]) -> None:
    entries = ModelFile(ONE.format(prompt), folder).models
    read = {entry.worker: entry.values["system_prompt"] for entry in entries}
    assert {name: texts[name] or "Read this.txt" for name in texts} == read


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("../secret.txt", "prompt: “../secret.txt” is outside the folder of the YAML file."),
        ("'/etc/*.txt'", "is outside the folder"),
        ("link.txt", "“link.txt” is outside the folder"),
        ("none/*.txt", "no file matches “none/.*.txt” in the folder of the YAML file."),
        ("latin.txt", "latin.txt is not in UTF-8."),
        ("empty.md", "empty.md must have 1 to 100,000 characters"),
        ("{a: prompts/*.txt}", "“a” stands for one text, but 2 files match"),
        ("[prompts/long.txt, 'prompts/l*.txt']", "2 files are called “long”"),
    ],
)
def test_prompts_from_files_are_refused_with_their_line(
    folder: Path, prompt: str, why: str
) -> None:
    with pytest.raises(Refused, match=f"^Line 2, column .*{why}"):
        ModelFile(ONE.format(prompt), folder)


def test_typed_models_name_no_files() -> None:
    with pytest.raises(Refused, match=r"names files, which only the command reads"):
        ModelFile(ONE.format("prompts/*.txt"))
    with pytest.raises(Refused, match="there is no “data” here"):
        ModelFile("data: gold.csv\nmodels: []")


def test_data_and_its_columns_are_read(folder: Path) -> None:
    head = "data: my.csv\nfields: {prompt: q, option: [a, b]}\n"
    file = ModelFile(head + ONE.format("Hm."), folder)
    assert file.data == folder / "my.csv"
    assert file.columns == [("q", "prompt"), ("a", "option"), ("b", "option")]


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("data: ../my.csv", "Line 1, column 1: data: “../my.csv” is outside the folder"),
        ("data: [a.csv]", "“data” is the name of a file"),
        ("data: a.csv\nfields: [q]", "Line 2, column 1: “fields” is a mapping"),
        ("data: a.csv\nfields: {prompt: {a: b}}", "prompt: the name of a column"),
    ],
)
def test_faults_of_the_data_are_refused(folder: Path, head: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        ModelFile(f"{head}\n{ONE.format('Hm.')}", folder)


def test_settings_have_other_names() -> None:
    text = one_model(temperature="[auto, 0.5]", max_output_tokens="64")
    endpoints = dict(ModelFile(text).build_endpoints(servers()))
    assert {name: one.temperature for name, one in endpoints.items()} == {
        "m, t=auto": None,
        "m, t=0.5": 0.5,
    }
    assert {one.max_completion_tokens for one in endpoints.values()} == {64}
    both = one_model(max_output_tokens="64", max_completion_tokens="64")
    with pytest.raises(Refused, match="“max_output_tokens” or “max_completion_tokens”, not both"):
        ModelFile(both)
    with pytest.raises(Refused, match="max_output_tokens: "):
        ModelFile(one_model(max_output_tokens="0")).build_endpoints(servers())
