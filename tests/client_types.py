"""Generate the client's reply_types.py from the API's OpenAPI document: `make client-types`."""

import json
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import django

django.setup()

from selection.api import api  # noqa: E402  (Django first)

# Not imported: types of before may lack a name that the client needs.
CLIENT = find_spec("crowdselect_client")
MADE = Path(CLIENT.origin if CLIENT and CLIENT.origin else "").with_name("reply_types.py")
HEADER = '''"""The types of what goes over the wire; times are texts in ISO 8601.

Generated from the API's OpenAPI document by `make client-types`: do not edit.
"""'''
# The client's name for each schema that it uses.
NAMES = {
    "AnswerOut": "Given",
    "AssignmentOut": "Assignment",
    "BatchOut": "Batch",
    "BonusBatchOut": "BonusBatch",
    "BatchRowOut": "BatchRow",
    "CallOut": "Call",
    "CallTestOut": "ModelTest",
    "ChangeIn": "Changes",
    "ChangedOut": "Changed",
    "ClaimOut": "Claim",
    "CodesIn": "Codes",
    "ConnectionChangeIn": "ToolConnectionChanges",
    "ConnectionIn": "ToolConnectionIn",
    "ConnectionOut": "ToolConnection",
    "ConnectorCallOut": "ToolCall",
    "EndpointChangeIn": "ModelChanges",
    "EndpointOut": "Model",
    "FateOut": "Row",
    "ForecastIn": "Plan",
    "ForecastOut": "Forecast",
    "FileOut": "FileState",
    "FileRowOut": "FileRow",
    "GoldAnswerIn": "GoldAnswerIn",
    "GoldLinksOut": "GoldLinks",
    "GoldOut": "GoldAnswer",
    "Grading": "Grading",
    "InvitedOut": "Invited",
    "LineOut": "Standing",
    "ListedModelsOut": "ListedModels",
    "MailIn": "MailIn",
    "MailOut": "Mail",
    "MediaOut": "Media",
    "ModelsOut": "ModelsStored",
    "PageIn": "PageIn",
    "PageOut": "Page",
    "PlannedCallOut": "PlannedCall",
    "PoolOut": "Pool",
    "PoolWorkerIn": "WorkerIn",
    "PoolWorkerOut": "PoolWorker",
    "PracticeIn": "PracticeIn",
    "PracticeOut": "Practice",
    "ProgressOut": "Progress",
    "ProlificOut": "ProlificState",
    "QuestionIn": "QuestionIn",
    "QuestionOut": "Question",
    "ReadOut": "ReadCount",
    "ReplayDraftOut": "ReplayDraft",
    "ReplayIn": "ReplayWanted",
    "ReplayFactsOut": "ReplayFacts",
    "ReplayMethodOut": "ReplayMethod",
    "ReplayOut": "Replay",
    "ReplayPoolOut": "ReplayPool",
    "ReplayResultOut": "ReplayResult",
    "ReplayWorkerOut": "ReplayWorker",
    "RowsOut": "Rows",
    "RunConnectionOut": "RunConnection",
    "RunIn": "Settings",
    "RunOut": "RunState",
    "RunRowOut": "RunRow",
    "SelectedOut": "Selected",
    "SelectionOut": "Selection",
    "ServerChangeIn": "ModelServerChanges",
    "ServerIn": "ModelServerIn",
    "ServerOut": "ModelServer",
    "SetOut": "QuestionSet",
    "SourceOut": "Source",
    "SpendingOut": "Spending",
    "WastedOut": "Wasted",
    "WatchChangeIn": "WatchChanges",
    "WatchConnectionOut": "WatchConnection",
    "WatchIn": "WatchSettings",
    "WatchOut": "WatchState",
    "WatchedWorkerIn": "WatchedWorkerIn",
    "WatchedWorkerOut": "WatchedWorker",
    "WorkerOut": "RunWorker",
}
REF = "#/components/schemas/"
# Its rows have no group, skill or expected mean if the run has none.
SOMETIMES_LEFT_OUT = {"SelectedOut"}
# Types of texts with few values: each is the filter of a list, and a field of the rows.
LITERALS = {
    "Outcome": ("AnswerOut", "outcome"),
    "Status": ("RunRowOut", "status"),
    "Verdict": ("LineOut", "verdict"),
}


def main() -> None:
    MADE.write_text(generated())


def generated() -> str:
    """Return the module's text, formatted as ruff formats ours."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "api.json"), Path(folder, "replies.py")
        source.write_text(json.dumps(document()))
        options = [
            *("--input", source, "--input-file-type", "openapi", "--output", made),
            *("--output-model-type", "typing.TypedDict", "--target-python-version", "3.11"),
            *("--enum-field-as-literal", "all", "--use-union-operator", "--disable-timestamp"),
            *("--use-standard-collections", "--formatters", "builtin"),
            *("--custom-file-header", HEADER),
        ]
        _run("-m", "datamodel_code_generator", *options)
        # With annotations as texts, Python takes every field for required.
        text = made.read_text().replace("from __future__ import annotations\n", "")
        made.write_text(text)
        _run("-m", "ruff", "check", "--quiet", "--fix", "--select", "I", made)
        _run("-m", "ruff", "format", "--quiet", made)
        return made.read_text()


def document() -> dict[str, Any]:
    """Return an OpenAPI document of the schemas that the client uses, under its names."""
    whole = api.get_openapi_schema()
    schemas = {name: whole["components"]["schemas"][name] for name in _used(whole)}
    for name, schema in schemas.items():
        schema.pop("additionalProperties", None)  # typing has no closed TypedDict yet
        if name.endswith("Out") and name not in SOMETIMES_LEFT_OUT:
            schema["required"] = list(schema["properties"])
    for schema, field in LITERALS.values():
        schemas[schema]["properties"][field] = {"$ref": f"{REF}{field.capitalize()}"}
    schemas |= {name: _literal(whole, name.lower()) for name in LITERALS}
    text = json.dumps(schemas).replace('"format": "date-time", ', "")
    text = re.sub(f'"{REF}(\\w+)"', lambda ref: f'"{REF}{NAMES.get(ref[1], ref[1])}"', text)
    named = {NAMES.get(name, name): schema for name, schema in json.loads(text).items()}
    about = {"openapi": "3.1.0", "info": {"title": "API", "version": "1"}, "paths": {}}
    return about | {"components": {"schemas": dict(sorted(named.items()))}}


def _used(whole: dict[str, Any]) -> list[str]:
    """Return the names of the schemas in NAMES, and of those that they refer to."""
    used = list(NAMES)
    for name in used:
        text = json.dumps(whole["components"]["schemas"][name])
        used += [
            ref for ref in dict.fromkeys(re.findall(f'"{REF}(\\w+)"', text)) if ref not in used
        ]
    return used


def _literal(whole: dict[str, Any], parameter: str) -> dict[str, Any]:
    """Return the values by which lists can be filtered, as a schema."""
    for operations in whole["paths"].values():
        for each in operations.get("get", {}).get("parameters", []):
            if each["name"] == parameter and "anyOf" in each["schema"]:
                return dict(each["schema"]["anyOf"][0])
    raise LookupError(parameter)


def _run(*arguments: object) -> None:
    subprocess.run([sys.executable, *map(str, arguments)], check=True)


if __name__ == "__main__":
    main()
