"""Errors of a request's fields, in plain sentences instead of pydantic's."""

from collections.abc import Mapping
from typing import Any

from selection.runs.changes import FIXED
from selection.runs.settings.run_settings import SETTINGS

# Sentences by pydantic's type of an error, with values of its context.
SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of this request",
    "string_type": "must be text",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "may have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "is too large",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "decimal_type": "must be a number",
    "decimal_parsing": "must be a number",
    "decimal_max_digits": "may have at most {max_digits} digits",
    "decimal_max_places": "may have at most {decimal_places} decimal places",
    "decimal_whole_digits": "may have at most {whole_digits} digits before the point",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "list_type": "must be a list",
    "set_type": "must be a list",
    "too_short": "must have {min_length} or more entries",
    "too_long": "may have at most {max_length} entries",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "none_required": "must be null",
    "datetime_type": "must be a time like 2026-11-22T14:05:00Z",
    "datetime_parsing": "must be a time like 2026-11-22T14:05:00Z",
    "datetime_from_date_parsing": "must be a time like 2026-11-22T14:05:00Z",
    "timezone_aware": "must name its zone, as in 2026-11-22T14:05:00Z",
    "uuid_parsing": "must be an id",
    "uuid_type": "must be an id",
}
OWN = "value_error"  # raised by a check of ours, with a sentence of its own
# Fields of a draft; a started run takes those that can change, and no others.
DRAFT_FIELDS = {*SETTINGS, "options", "quotas", "skills"}


def describe_field_error(error: Mapping[str, Any], changes_run: bool) -> tuple[str, str]:
    """Name the field, as in “answers.3.response”, and word its fault.

    changes_run  True if the request changes a run that may have started
    """
    where = ".".join(str(part) for part in error["loc"][1:] if part != "payload")
    if changes_run and error["type"] == "extra_forbidden" and where in DRAFT_FIELDS:
        return where, FIXED.format(name=where)
    if error["type"] == OWN:
        sentence = error["msg"].removeprefix("Value error, ").rstrip(".")
        return where, f"{where}: {sentence}." if where else f"{sentence}."
    problem = SENTENCES.get(error["type"], "is not valid").format(**error.get("ctx", {}))
    return where, f"{where or 'The body'} {problem}."
