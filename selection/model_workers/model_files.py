"""Files that describe many models at once, in YAML: see docs/model-workers.md.

Each entry of ``models`` is a grid: every combination of its lists is a worker.
"""

import itertools
import pathlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import yaml

from selection.errors import Refused
from selection.limits import LONGEST_KEY, LONGEST_TEXT
from selection.models import Endpoint, ModelServer, find_invisible
from selection.texts import counted

from .endpoints import ENDPOINT_FIELDS, MOST_GRID, SERVER_FIELDS, FieldRefused, build_endpoint

LARGEST_FILE = 1_000_000  # characters
# What a file may come to, each alias counted as what it stands for.
DEEPEST, MOST_NODES, MOST_TEXT = 10, 30_000, 20_000_000
LONGEST_PATTERN = 1_000  # characters of a name's pattern
GRID = ("model", "prompt", "template", "temperature", "seed")
TEXTS = ("prompt", "template")
# Names of a file for settings; it may use either.
SYNONYMS = {"prompt": "system_prompt", "max_output_tokens": "max_completion_tokens"}
ENTRY_FIELDS = ("name", "server", *SYNONYMS, *ENDPOINT_FIELDS)
REMEDY = "Indent with spaces, and put a text with special characters in quotes."
FILE_NAMES = {setting: name for name, setting in SYNONYMS.items()}
Path = tuple[str | int, ...]
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # escapes can spell them
_FIELD = re.compile(r"\{([^{}]*)\}")
MOST_FILES = 1_000  # of one pattern
LONGEST_CHARACTER = 4  # bytes
# Names of files: one word, or with an asterisk, that ends in .txt or .md.
_FILES = re.compile(r"\S+\.(txt|md)|[^\n*]*\*[^\n]*\.(txt|md)")
INT, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


class _Loader(yaml.SafeLoader):
    """Loader of texts, plain numbers, lists and mappings, without tags and bounded.

    Without YAML's dates, octal and sexagesimal numbers: 1:30 would be 90.
    """

    yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in forms if tag.endswith((":null", ":bool", ":merge"))]
        for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    depth = nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        self.depth, self.nodes = self.depth + 1, self.nodes + 1
        if self.depth > DEEPEST or self.nodes > MOST_NODES:
            raise _refuse_at(event.start_mark, "the file is nested too deeply, or too large.")
        if getattr(event, "tag", None) is not None:
            raise _refuse_at(event.start_mark, "not valid YAML: remove the tag, such as !!int.")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_Loader.add_implicit_resolver(
    INT, re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    FLOAT,
    re.compile(r"[-+]?(?:[0-9]{1,30}\.[0-9]{0,30}|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,2})?$"),
    list("-+.0123456789"),
)


@dataclass(frozen=True)
class ServerEntry:
    """A server of the file. key: its API key, None if the file has none."""

    values: dict[str, Any]
    key: str | None
    path: Path


@dataclass(frozen=True)
class ModelEntry:
    """A worker of the file: their name, the name of the server, and the endpoint's settings."""

    worker: str
    server: str
    values: dict[str, Any]
    path: Path


class ModelFile:
    """The servers and models of a file. Raises Refused with line and column for a fault.

    folder   of the file, from which it may name others; None if it was typed or sent
    data     the file of gold questions, if it names one
    columns  (column, field) of that file
    """

    def __init__(self, text: str, folder: pathlib.Path | None = None) -> None:
        if len(text) > LARGEST_FILE:
            raise Refused(f"The file is longer than {LARGEST_FILE:,} characters.")
        self._marks: dict[Path, yaml.Mark] = {}
        self._folder = folder
        self._workers = self._length = 0  # of all grids
        document = self._parse(text)
        if not isinstance(document, dict):
            raise Refused("Line 1: the file has no “models”; see docs/model-workers.md.")
        of_folder = () if folder is None else ("data", "fields")
        self._refuse_unknown((), document, ("servers", "models", *of_folder))
        self.data = self._find_data(document.get("data"))
        self.columns = list(self._read_columns(document.get("fields") or {}))
        self.servers = list(self._read_servers(document.get("servers") or {}))
        self.models = list(self._read_models(document.get("models")))
        self._refuse_repeats()

    def build_endpoints(
        self, servers: Mapping[str, ModelServer], columns: Collection[str] = ()
    ) -> list[tuple[str, Endpoint]]:
        """Build (worker, endpoint) of each model, by the servers of these names.

        columns  of the gold file that templates may name

        Raises Refused with line and column for an unknown server or an invalid setting.
        """
        endpoints = []
        for entry in self.models:
            server = servers.get(entry.server)
            if server is None:
                names = ", ".join(sorted(servers)) or "none"
                why = f"there is no server “{entry.server}”; there are: {names}."
                raise self._refusal((*entry.path, "server"), why)
            try:
                endpoints.append((entry.worker, build_endpoint(server, entry.values, columns)))
            except FieldRefused as refusal:
                written = (*entry.path, refusal.field) in self._marks
                field = refusal.field if written else FILE_NAMES.get(refusal.field, refusal.field)
                raise self._refusal((*entry.path, field), f"{field}: {refusal.why}") from refusal
        return endpoints

    def refusal_of_server(self, entry: ServerEntry, refusal: Refused) -> Refused:
        """Place the refusal of a server at its line and column."""
        field = (refusal.field,) if isinstance(refusal, FieldRefused) else ()
        return self._refusal((*entry.path, *field), str(refusal))

    def _find_data(self, name: Any) -> pathlib.Path | None:
        if name is None or self._folder is None:
            return None
        if not isinstance(name, str) or not name:
            raise self._refusal(("data",), "“data” is the name of a file of gold questions.")
        try:
            return find_file(self._folder, name)
        except Refused as refusal:
            why = f"data: {refusal}: name the file after this one on the command line."
            raise self._refusal(("data",), why) from refusal

    def _read_columns(self, fields: Any) -> Iterator[tuple[str, str]]:
        if not isinstance(fields, dict):
            why = "“fields” is a mapping from fields to columns of the data, as in prompt: question"
            raise self._refusal(("fields",), f"{why}.")
        for field, columns in fields.items():
            for column in columns if isinstance(columns, list) else [columns]:
                if isinstance(column, list | dict | bool) or column is None:
                    why = f"{field}: the name of a column, or for “option” a list of names."
                    raise self._refusal(("fields", field), why)
                yield str(column), str(field)

    def _read_servers(self, servers: Any) -> Iterator[ServerEntry]:
        if not isinstance(servers, dict):
            raise self._refusal(("servers",), "“servers” is a mapping from names to settings.")
        for name, values in servers.items():
            path: Path = ("servers", name)
            if not isinstance(values, dict):
                raise self._refusal(path, f"the server “{name}” needs settings, at least a url.")
            self._refuse_unknown(path, values, (*SERVER_FIELDS[1:], "key"))
            if "url" not in values:
                raise self._refusal(path, f"the server “{name}” has no url.")
            settings = {key: value for key, value in values.items() if key != "key"}
            key = values.get("key")
            if isinstance(key, list | dict):
                raise self._refusal((*path, "key"), "“key” is one text.")
            yield ServerEntry(
                {"name": str(name), **settings}, None if key is None else str(key), path
            )

    def _read_models(self, models: Any) -> Iterator[ModelEntry]:
        if not isinstance(models, list) or not models:
            raise self._refusal(
                ("models",), "“models” is a list with one entry at least, which begins with a dash."
            )
        for place, entry in enumerate(models):
            path: Path = ("models", place)
            if not isinstance(entry, dict):
                raise self._refusal(path, "an entry of “models” is a mapping: model, server …")
            self._refuse_unknown(path, entry, ENTRY_FIELDS)
            for name in ("model", "server"):
                if name not in entry:
                    raise self._refusal(path, f"the entry has no “{name}”.")
            for name, setting in SYNONYMS.items():
                if name in entry and setting in entry:
                    why = f"give “{name}” or “{setting}”, not both."
                    raise self._refusal((*path, setting), why)
            if isinstance(entry["server"], list | dict):
                raise self._refusal((*path, "server"), "“server” is one name.")
            yield from self._expand_grid(path, entry)

    def _expand_grid(self, path: Path, entry: dict[str, Any]) -> Iterator[ModelEntry]:
        axes = {name: self._axis(path, name, entry[name]) for name in GRID if name in entry}
        varying = (*GRID, "name", "server")
        same = {SYNONYMS.get(key, key): entry[key] for key in entry if key not in varying}
        for combination in itertools.product(*axes.values()):
            labels = {name: label for name, (label, _) in zip(axes, combination, strict=True)}
            values = same | {
                SYNONYMS.get(name, name): value
                for name, (_, value) in zip(axes, combination, strict=True)
            }
            worker = self._name_worker(path, entry.get("name"), labels, axes)
            self._count_worker(path, values)
            yield ModelEntry(worker, str(entry["server"]), values, path)

    def _count_worker(self, path: Path, values: dict[str, Any]) -> None:
        """Count a worker and their texts. Raises Refused if it is one too many."""
        self._workers += 1
        self._length += sum(len(text) for text in values.values() if isinstance(text, str))
        if self._workers > MOST_GRID:
            raise self._refusal(path, f"a file has at most {MOST_GRID:,} workers.")
        if self._length > MOST_TEXT:
            raise self._refusal(path, f"the texts of all workers exceed {MOST_TEXT:,} characters.")

    def _axis(self, path: Path, name: str, value: Any) -> list[tuple[str, Any]]:
        """List the (label, value) of a setting: one, a list's, or those of named prompts."""
        if not value and isinstance(value, list | dict):
            raise self._refusal((*path, name), f"the list of “{name}” is empty.")
        if name in TEXTS:
            return self._read_texts((*path, name), name, value)
        values = value if isinstance(value, list) else [value]
        return [(str(one)[: LONGEST_KEY + 1], one) for one in values]

    def _read_texts(self, path: Path, name: str, value: Any) -> list[tuple[str, Any]]:
        """List the (label, text) of a setting; names of files stand for their texts."""
        labels = [str(label) for label in value] if isinstance(value, dict) else []
        texts = [*value.values()] if labels else value if isinstance(value, list) else [value]
        pairs = list[tuple[str, Any]]()
        for number, text in enumerate(texts, 1):
            label = labels[number - 1] if labels else f"{name} {number}"
            pairs += self._read_files(path, label, bool(labels), text)
        repeated, count = Counter(label for label, _ in pairs).most_common(1)[0]
        if count > 1:
            why = f"{counted(count, 'file', 'are')} called “{repeated}”: give each a name, as in"
            raise self._refusal(path, f"{why} short: prompts/short.txt.")
        return pairs

    def _read_files(self, path: Path, label: str, named: bool, text: Any) -> list[tuple[str, Any]]:
        if not (isinstance(text, str) and _FILES.fullmatch(text)):
            return [(label, text)]
        try:
            files = read_texts(self._folder, text)
        except Refused as refusal:
            raise self._refusal(path, f"{path[-1]}: {refusal}.") from refusal
        if named and len(files) > 1:
            why = (
                f"“{label}” stands for one text, but {counted(len(files), 'file')} match “{text}”."
            )
            raise self._refusal((*path, label), why)
        return [(label, files[0][1])] if named else files

    def _name_worker(
        self,
        path: Path,
        pattern: Any,
        labels: dict[str, str],
        axes: Mapping[str, list[tuple[str, Any]]],
    ) -> str:
        if pattern is not None:
            name = str(pattern)[:LONGEST_PATTERN]
            if isinstance(pattern, list | dict) or len(str(pattern)) > LONGEST_PATTERN:
                why = f"“name” is one text of at most {LONGEST_PATTERN:,} characters."
                raise self._refusal((*path, "name"), why)
            unknown = set(_FIELD.findall(name)) - set(labels)
            if unknown or re.search("[{}]", _FIELD.sub("", name)):
                names = ", ".join(f"{{{label}}}" for label in labels)
                raise self._refusal((*path, "name"), f"the name “{name}” may have {names} only.")
            name = _FIELD.sub(lambda found: labels[found[1]], name)
        else:
            varied = [axis for axis in labels if axis == "model" or len(axes[axis]) > 1]
            short = {"temperature": "t={}", "seed": "seed={}"}
            name = ", ".join(short.get(axis, "{}").format(labels[axis]) for axis in varied)
        if not 0 < len(name) <= LONGEST_KEY:
            raise self._refusal(path, f"a worker's name has 1 to {LONGEST_KEY} characters.")
        if code := find_invisible(name):
            why = f"the name “{name}” has a character that nobody sees ({code})."
            raise self._refusal(path, why)
        return name

    def _refuse_repeats(self) -> None:
        pairs: set[str] = set()
        for entry in self.models:
            if entry.worker in pairs:
                why = f"the worker “{entry.worker}” is there already; give a “name” that varies."
                raise self._refusal(entry.path, why)
            pairs.add(entry.worker)

    def _refuse_unknown(self, path: Path, values: dict[Any, Any], known: tuple[str, ...]) -> None:
        for name in values:
            if name not in known:
                why = f"there is no “{name}” here; there are {', '.join(known)}."
                raise self._refusal((*path, name), why)

    # -- YAML with its places

    def _parse(self, text: str) -> Any:
        try:
            loader = _Loader(text)
            node = loader.get_single_node()
            if node is None:
                return None
            self._mark_places(node, ())
            return loader.construct_document(node)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = f"Line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
            why = f"{error.problem or error.context}. {REMEDY}"
            raise Refused(f"{place}not valid YAML: {why}") from error
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
            raise Refused(f"The file is not valid YAML: {error}") from error

    def _mark_places(self, node: yaml.Node, path: Path) -> None:
        if len(self._marks) > MOST_NODES or len(path) > DEEPEST:
            raise _refuse_at(node.start_mark, "the file repeats itself by aliases too often.")
        self._marks.setdefault(path, node.start_mark)
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    _refuse_unstorable(key)
                    if (*path, key.value) in self._marks:
                        raise _refuse_at(key.start_mark, f"“{key.value}” is given twice.")
                    self._marks[(*path, key.value)] = key.start_mark
                    self._mark_places(value, (*path, key.value))
                else:
                    raise _refuse_at(key.start_mark, "a name is one text.")
        elif isinstance(node, yaml.ScalarNode):
            _refuse_unstorable(node)
        elif isinstance(node, yaml.SequenceNode):
            for place, value in enumerate(node.value):
                self._mark_places(value, (*path, place))

    def _refusal(self, path: Path, why: str) -> Refused:
        while path and path not in self._marks:
            path = path[:-1]
        mark = self._marks.get(path)
        return _refuse_at(mark, why) if mark else Refused(f"Line 1: {why}")


def _refuse_at(mark: yaml.Mark, why: str) -> Refused:
    return Refused(f"Line {mark.line + 1}, column {mark.column + 1}: {why}")


def _refuse_unstorable(node: yaml.ScalarNode) -> None:
    """Raise Refused for a text that no database stores, and for one that is too long."""
    if len(node.value) > LONGEST_TEXT:
        raise _refuse_at(node.start_mark, f"the text has more than {LONGEST_TEXT:,} characters.")
    if _UNSTORABLE.search(node.value):
        raise _refuse_at(node.start_mark, "the text has a character that cannot be stored.")


# -- files that the file names


def read_texts(folder: pathlib.Path | None, pattern: str) -> list[tuple[str, str]]:
    """List the name, without its suffix, and the text of each file that matches the pattern.

    folder  of the model file; None: it was not read from a folder. Raises Refused for a fault.
    """
    if folder is None:
        raise Refused(f"“{pattern}” names files, which only the command reads: write the text here")
    find_file(folder, pattern)
    try:
        paths = sorted(islice(filter(pathlib.Path.is_file, folder.glob(pattern)), MOST_FILES + 1))
    except (ValueError, NotImplementedError) as error:
        raise Refused(f"“{pattern}” is no pattern of files: {str(error).lower()}") from error
    if not paths:
        raise Refused(f"no file matches “{pattern}” in the folder of the YAML file")
    if len(paths) > MOST_FILES:
        raise Refused(f"more than {MOST_FILES:,} files match “{pattern}”")
    return [(path.stem, _read_text(folder, path)) for path in paths]


def find_file(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Find a file by its name relative to the folder. Raises Refused if it is not in the folder."""
    path = pathlib.PurePath(name)
    inside = not path.is_absolute() and ".." not in path.parts
    if not (inside and (folder / path).resolve().is_relative_to(folder.resolve())):
        raise Refused(f"“{name}” is outside the folder of the YAML file")
    return folder / path


def _read_text(folder: pathlib.Path, path: pathlib.Path) -> str:
    name = path.relative_to(folder)
    find_file(folder, str(name))  # a link may lead outside
    if path.stat().st_size > LONGEST_CHARACTER * LONGEST_TEXT:
        raise Refused(f"{name} has more than {LONGEST_TEXT:,} characters")
    try:
        text = path.read_text(encoding="utf-8-sig").rstrip()
    except UnicodeDecodeError as error:
        raise Refused(f"{name} is not in UTF-8") from error
    if not text or "\0" in text or len(text) > LONGEST_TEXT:
        raise Refused(f"{name} must have 1 to {LONGEST_TEXT:,} characters, and no NUL")
    return text
