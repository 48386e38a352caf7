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
from selection.runs.roster import quotas
from selection.runs.settings import algorithm_choices, drafts
from selection.runs.settings.run_settings import CHANGEABLE, RUN_SETTINGS, RunSetting

from .lookups import find_by_name, parse_pairs, run_of

REQUIRED = ("name", "pool", "question_set", "k")
OPTIONAL = {setting.name: setting for setting in RUN_SETTINGS if setting.name not in REQUIRED}
FIELDS = tuple(OPTIONAL)


def add_arguments(parser: CommandParser) -> None:
    add = parser.add_argument
    add("name", metavar="NAME", help="what the run is called")
    add("--pool", required=True, help="the workers: name or number of their pool")
    add("--question-set", required=True, metavar="SET", help="the gold: name or number of its set")
    add("--k", required=True, help="how many workers to select")
    for setting in OPTIONAL.values():
        flag, help = _flag(setting.name), _help_text(setting)
        if isinstance(setting.column, BooleanField):
            add(flag, action="store_const", const=True, help=help)
        elif setting.name == "algorithm":
            add(flag, choices=list(ALGORITHMS), metavar="NAME", help=help)
        else:
            add(flag, metavar="X", help=help)
    option = "an option of the algorithm, see docs/algorithms.md; may be given again"
    add("--option", action="append", default=[], metavar="NAME=VALUE", help=option)
    add("--learn-from", metavar="RUN", help="an earlier run, whose workers were like these")
    add("--quota-attribute", metavar="NAME", help="an attribute of the workers, for --quota")
    quota = "how many of those who have this value; 2 is exactly 2, 2- at least, -4 at most"
    again = "may be given again"
    add("--quota", action="append", default=[], metavar="VALUE:2-4", help=f"{quota}; {again}")
    also = "a further question set with a K of its own, for several kinds of task"
    add("--also", action="append", default=[], metavar="SET=K", help=f"{also}; {again}")
    add("--start", action="store_true", help="let it begin at once")


def add_changes(parser: CommandParser) -> None:
    for name, setting in CHANGEABLE.items():
        empty = "; empty for none" if setting.column.null else ""
        parser.add_argument(_flag(name), metavar="X", help=f"{_describe(setting)}{empty}")


def changed_settings(run: Run, options: dict[str, Any]) -> dict[str, Any]:
    texts = {name: options[name] for name in CHANGEABLE if options[name] is not None}
    return {name: _parse_value(run, name, text or None) for name, text in texts.items()}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _help_text(setting: RunSetting) -> str:
    column, usual = setting.column, setting.worked_out or setting.default
    switch = isinstance(column, BooleanField)
    default = "" if switch or usual in (NOT_PROVIDED, None, list) else f" (default: {usual})"
    several = "; several with commas between them" if isinstance(column, JSONField) else ""
    return f"{_describe(setting)}{several}{default}"


def _describe(setting: RunSetting) -> str:
    text = setting.description or str(setting.column.verbose_name)
    return text.rstrip(".").replace("%", "%%")


def create_draft(options: dict[str, Any]) -> Run:
    team = options["team"]
    pool = find_by_name(Pool.objects.select_related("team"), options["pool"], team)
    question_set = find_by_name(QuestionSet.objects.all(), options["question_set"], team)
    blank = Run(pool=pool, question_set=question_set, team=pool.team)
    texts = {name: options[name] for name in ("name", "k", *FIELDS) if options[name] is not None}
    settings = {name: _parse_value(blank, name, text) for name, text in texts.items()}
    algorithm = settings.get("algorithm", OPTIONAL["algorithm"].default)
    settings |= {
        "pool": pool,
        "question_set": question_set,
        "quotas": _parse_quotas(options),
        "options": algorithm_choices.read_options(algorithm, parse_pairs(options["option"])),
        "learn_from": options["learn_from"] and run_of(options["learn_from"], pool.team.name),
    }
    further = [_parse_skill(text, team) for text in options["also"]]
    return drafts.create_draft(drafts.default_for_models(settings), further)


def _parse_value(run: Run, name: str, text: Any) -> Any:
    column = Run._meta.get_field(name)
    assert isinstance(column, Field)
    if isinstance(column, JSONField):
        return [part.strip() for part in str(text).split(",") if part.strip()]
    try:
        value = column.clean(text, run)
    except ValidationError as error:
        flag = "The name" if name == "name" else _flag(name)
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
