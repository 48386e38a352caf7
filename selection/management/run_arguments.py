"""Command line arguments for a new run, with all settings of its form."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import CommandParser
from django.db.models import NOT_PROVIDED, BooleanField, Field, JSONField
from django.utils import timezone

from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.models import Pool, QuestionSet, Run, Skill
from selection.models.runs import SETTINGS
from selection.runs import algorithm_choices, changes, drafts, lifecycle, money, quotas

from .lookups import find_by_name, parse_pairs, run_of

FIELDS = (
    *(name for name in SETTINGS if name not in ("pool", "question_set", "k")),
    *("enrolling", "enrol_until", "enrol_most", "seed"),
)
# Defaults that are not fixed values.
WORKED_OUT = {"currency": "that of your last run", "seed": "drawn at random"}


def add_arguments(parser: CommandParser) -> None:
    add = parser.add_argument
    add("name", metavar="NAME", help="what the run is called")
    add("--pool", required=True, help="the workers: name or number of their pool")
    add("--question-set", required=True, metavar="SET", help="the gold: name or number of its set")
    add("--k", required=True, help=_help_text("k"))
    for name in FIELDS:
        flag, help = f"--{name.replace('_', '-')}", _help_text(name)
        if isinstance(_model_field(name), BooleanField):
            add(flag, action="store_const", const=True, help=help)
        elif name == "algorithm":
            add(flag, choices=list(ALGORITHMS), metavar="NAME", help=help)
        else:
            add(flag, metavar="X", help=help)
    add(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the algorithm, see docs/algorithms.md; may be given again",
    )
    add("--learn-from", metavar="RUN", help="an earlier run, whose workers were like these")
    add("--quota-attribute", metavar="NAME", help="an attribute of the workers, for --quota")
    add(
        "--quota",
        action="append",
        default=[],
        metavar="VALUE:2-4",
        help="how many of those who have this value; 2 is exactly 2, 2- at least, -4 at most; may "
        "be given again",
    )
    add(
        "--also",
        action="append",
        default=[],
        metavar="SET=K",
        help="a further question set with a K of its own, for several kinds of task; may be given "
        "again",
    )
    add("--start", action="store_true", help="let it begin at once")


def add_changes(parser: CommandParser) -> None:
    """Add the settings that a started run may change."""
    for name in changes.SETTINGS:
        flag = f"--{name.replace('_', '-')}"
        empty = "; empty for none" if _model_field(name).null else ""
        parser.add_argument(flag, metavar="X", help=f"{_format_default(name)}{empty}")


def changed_settings(run: Run, options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings given on the command line. Raises Refused for an invalid value."""
    texts = {name: options[name] for name in changes.SETTINGS if options[name] is not None}
    return {name: _parse_value(run, name, text or None) for name, text in texts.items()}


def _model_field(name: str) -> "Field[Any, Any]":
    field = Run._meta.get_field(name)
    assert isinstance(field, Field)
    return field


def _help_text(name: str) -> str:
    """Return the form's own words, and its default value."""
    field = _model_field(name)
    usual = drafts.FORM_DEFAULTS.get(name, WORKED_OUT.get(name, field.default))
    switch = isinstance(field, BooleanField)
    default = "" if switch or usual in (NOT_PROVIDED, None, list) else f" (default: {usual})"
    several = "; several with commas between them" if isinstance(field, JSONField) else ""
    return f"{_format_default(name)}{several}{default}"


def _format_default(name: str) -> str:
    field = _model_field(name)
    return str(field.help_text or field.verbose_name).rstrip(".").replace("%", "%%")


def create_draft(options: dict[str, Any]) -> Run:
    """Store and return the requested draft. Raises Refused for invalid settings."""
    team = options["team"]
    pool = find_by_name(Pool.objects.select_related("team"), options["pool"], team)
    question_set = find_by_name(QuestionSet.objects.all(), options["question_set"], team)
    blank = Run(pool=pool, question_set=question_set, team=pool.team)
    arguments = {
        name: options[name] for name in ("name", "k", *FIELDS) if options[name] is not None
    }
    settings = _initial_settings(pool) | arguments
    fields = {name: _parse_value(blank, name, text) for name, text in settings.items()}
    fields |= {"pool": pool, "question_set": question_set, "quotas": _parse_quotas(options)}
    chosen = algorithm_choices.read_options(fields["algorithm"], parse_pairs(options["option"]))
    earlier = options["learn_from"] and run_of(options["learn_from"], pool.team.name)
    run = drafts.build_draft(fields, chosen, earlier)
    return lifecycle.create_run(run, [_parse_skill(text, team) for text in options["also"]])


def _initial_settings(pool: Pool) -> dict[str, Any]:
    """Return the initial values of the form of a new run."""
    currency = money.last_currency(Run.objects.filter(team=pool.team))
    return drafts.FORM_DEFAULTS | {"currency": currency, "seed": drafts.new_seed()}


def _parse_value(run: Run, name: str, text: Any) -> Any:
    if isinstance(_model_field(name), JSONField):
        return [part.strip() for part in str(text).split(",") if part.strip()]
    try:
        value = _model_field(name).clean(text, run)
    except ValidationError as error:
        flag = "The name" if name == "name" else f"--{name.replace('_', '-')}"
        raise Refused(f"{flag}: {' '.join(error.messages)}") from error
    naive = isinstance(value, datetime) and timezone.is_naive(value)
    return timezone.make_aware(value) if naive else value


def _parse_quotas(options: dict[str, Any]) -> dict[str, Any]:
    attribute, limits = options["quota_attribute"], quotas.parse_quotas("\n".join(options["quota"]))
    return {"attribute": attribute or "", "limits": limits} if attribute or limits else {}


def _parse_skill(text: str, team: str) -> Skill:
    name, _, k = text.rpartition("=")
    if not name or not k.strip().isdecimal():
        raise Refused(f"“{text}” cannot be read; write --also 'SET=2'.")
    return Skill(question_set=find_by_name(QuestionSet.objects.all(), name.strip(), team), k=int(k))
