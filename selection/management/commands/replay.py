"""``manage.py replay``: choose the best K of a crowd from a file of its past answers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from tqdm import tqdm

from selection import algorithms, exports, reports
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.management.lookups import parse_pairs
from selection.models import Pool, QuestionSet, Run, Team
from selection.models.teams import FIRST
from selection.replays import crowd, settings, what_if
from selection.replays.crowd import RecordedCrowd
from selection.replays.settings import ReplaySettings
from selection.replays.what_if import WhatIfRow
from selection.runs.drafts import number_name
from selection.simulation import plots, replay
from selection.simulation.summary import summarise_run
from selection.simulation.writing import check_out, write_csv, write_json, write_whole

SEED_END = 2**62
ANSWERS = (
    "CSV with worker,task,label, any other format that is imported, or the results of a program "
    "that evaluates models: a file, or its folder"
)
PICK = "metric, variant or task of results of models; may be given again"
USUAL, USUAL_OF_KINDS = "adaptive-top-k", "clucb-pac"
OF_KINDS = [name for name, kind in ALGORITHMS.items() if kind.takes_skills]
MATCHING = [name for name, kind in ALGORITHMS.items() if kind.matches]
PRAGMAS = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000;"


class Command(BaseCommand):
    help = (
        "Choose the best K workers of a crowd from answers they gave in the past. The same seed "
        "chooses as a run does that was set up in the form and given the same answers, if as many "
        "answers are out at once (--slots; the form has 100 unless changed) and workers and "
        "questions were imported in the order in which these files first name them: the seed "
        "shuffles them by their places. With --seeds, or several algorithms, it says what would "
        "have come of it with each of these seeds and algorithms: a table instead of a selection. "
        "With several gold files, and as many K, it selects for each of these kinds of task."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--answers", type=Path, required=True, help=ANSWERS)
        add("--pick", action="append", default=[], metavar="NAME=VALUE", help=PICK)
        leave = "leave out rows with an error (default: refuse the file)"
        add("--leave-out", action="store_true", help=leave)
        add(
            "--gold",
            type=Path,
            nargs="+",
            action="extend",
            default=[],
            metavar="FILE",
            help="CSV with task,label: the known answers; a file for each kind of task (default: "
            "they are in the file of answers)",
        )
        add(
            "--k",
            type=int,
            required=True,
            nargs="+",
            action="extend",
            help="how many workers to select, for each gold file",
        )
        add(
            "--one-kind-each",
            action="store_true",
            help=f"select nobody for two kinds of task ({_join_names(MATCHING)})",
        )
        names = _join_names(algorithms.algorithms_for_one_skill())
        choices = (
            f"one of {names} (default: {USUAL}), with several gold "
            f"files of {_join_names(OF_KINDS)} (default: {USUAL_OF_KINDS}); may be given again, to "
            "compare"
        )
        add("--algorithm", action="append", default=[], metavar="NAME", help=choices)
        add(
            "--option",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option of the algorithm, see docs/algorithms.md; may be given again",
        )
        add("--epsilon", type=float, default=0.1)
        add("--delta", type=float, default=0.05)
        add("--budget", type=int, help="most answers to use")
        add("--seed", type=int, default=0, help="fixes every random choice; the first of --seeds")
        many = f"replay with so many seeds, and compare (default with --plot: {what_if.SEEDS})"
        add("--seeds", type=int, metavar="N", help=many)
        add(
            "--slots",
            type=int,
            help="answers asked for at once; by default a fiftieth of those recorded, "
            f"and {settings.SLOTS} with replacement",
        )
        add(
            "--with-replacement",
            action="store_true",
            help="draw a worker's recorded answers again and again, so that they never run out",
        )
        add("--keep", action="store_true", help="keep the run in the configured database")
        add("--out", type=Path, help="file for the selection or the table, .csv or .json")
        add("--json", action="store_true", help="print the table of --seeds for programs")
        picture = "picture of the replays of --seeds, .svg or .png"
        add("--plot", type=Path, metavar="FILE", help=picture)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._replay_once(options)
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from refusal
        except OSError as error:
            reason, path = (error.strerror or str(error)).lower(), options["out"] or options["plot"]
            raise CommandError(f"{path}: {reason}.", returncode=2) from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted; nothing was written.", returncode=130) from None

    def _replay_once(self, options: dict[str, Any]) -> None:
        check_options(options)
        past = crowd.read_crowd(
            options["answers"],
            *options["gold"],
            picked=parse_pairs(options["pick"]),
            leave_out=options["leave_out"],
        )
        request = build_request(options)
        if is_comparison(options):
            self._compare_replays(past, request, options)
            return
        settings.check_replay(past, request)
        with nullcontext() if options["keep"] else throwaway_database():
            self._play_and_write(past, use_free_names(request), options)

    def _play_and_write(
        self, past: RecordedCrowd, request: ReplaySettings, options: dict[str, Any]
    ) -> None:
        with tqdm(unit=" answers", desc="replay", disable=options["verbosity"] == 0) as bar:
            run = replay.play_replay(past, request, bar.update)
        writer = WRITERS[options["out"].suffix.lower()]
        write_whole(options["out"], lambda path: writer(path, run))
        if options["verbosity"]:
            self.stdout.write("\n".join(summarise_run(run, past)))

    def _compare_replays(
        self, past: RecordedCrowd, usual: ReplaySettings, options: dict[str, Any]
    ) -> None:
        """Play every algorithm with every seed, and write the table to all requested places."""
        variants = what_if.settings_per_algorithm(usual, options["algorithm"] or [USUAL])
        seeds = range(usual.seed, usual.seed + (options["seeds"] or what_if.SEEDS))
        quiet = options["verbosity"] == 0
        with tqdm(total=len(variants) * len(seeds), unit=" runs", disable=quiet) as bar:
            rows = list(what_if.play_all(past, variants, seeds, bar.update))
        if options["plot"]:
            write_whole(options["plot"], lambda path: plots.save_plot(rows, usual.epsilon, path))
        if options["out"]:
            writer = TABLE_WRITERS[options["out"].suffix.lower()]
            write_whole(options["out"], lambda path: writer(path, rows))
        if options["json"]:
            self.stdout.write(exports.json_text([row.serialize() for row in rows]))
        elif not quiet:
            self.stdout.write("\n".join(what_if.describe_rows(past, usual, rows)))


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names)


# -- the request


def is_comparison(options: dict[str, Any]) -> bool:
    """Return True if several replays are requested, or an output that only they have."""
    several = options["seeds"] is not None or len(options["algorithm"]) > 1
    return bool(several or options["json"] or options["plot"])


def check_options(options: dict[str, Any]) -> None:
    """Raise Refused for options that argparse accepts but replays do not."""
    for name in options["algorithm"]:
        if name not in ALGORITHMS:
            names = OF_KINDS if len(options["gold"]) > 1 else algorithms.algorithms_for_one_skill()
            raise Refused(f"There is no algorithm “{name}”; choose one of {_join_names(names)}.")
    if len(set(options["algorithm"])) < len(options["algorithm"]):
        raise Refused("Name each algorithm once.")
    _check_kinds(options)
    if options["seeds"] is not None and options["seeds"] < 1:
        raise Refused(f"There must be at least 1 seed, not {options['seeds']}.")
    if not 0 <= options["seed"] <= SEED_END - (options["seeds"] or 0):
        raise Refused(f"The seed must be 0 to 2^62, but it is {options['seed']}.")
    if options["slots"] is not None and options["slots"] < 1:
        raise Refused(f"There must be at least 1 slot, not {options['slots']}.")
    if is_comparison(options) and options["keep"]:
        raise Refused("A single replay can be kept: leave out --keep, or what compares several.")
    if options["plot"]:
        check_out(options["plot"], plots.ENDINGS)
    if options["out"]:
        check_out(options["out"], WRITERS)
    elif not is_comparison(options):
        raise Refused("Say with --out where the selection is to be written, or give --seeds.")


def _check_kinds(options: dict[str, Any]) -> None:
    golds, ks = max(1, len(options["gold"])), len(options["k"])
    if golds != ks:
        raise Refused(f"Give as many --k as --gold files: there are {ks} and {golds}.")
    if golds > 1 and is_comparison(options):
        raise Refused(
            "Only replays of one kind of task can be compared: give one --gold file, or one "
            "--algorithm and none of --seeds, --plot and --json."
        )
    if golds == 1 and options["one_kind_each"]:
        raise Refused(
            "For --one-kind-each there must be several kinds of task: --gold A B --k 1 2."
        )
    for_several = [name for name in options["algorithm"] if ALGORITHMS[name].several_skills]
    if golds == 1 and for_several:
        raise Refused(f"{for_several[0]} is for several kinds of task: --gold A B --k 1 2.")


def build_request(options: dict[str, Any]) -> ReplaySettings:
    """Return the settings of a replay, with the first of the algorithms."""
    fields = ("epsilon", "delta", "budget", "seed", "slots", "one_kind_each")
    several = len(options["gold"]) > 1
    return ReplaySettings(
        name=f"Replay of {options['answers'].stem}",
        k=options["k"][0],
        further=tuple(options["k"][1:]),
        kinds=tuple(_distinct_names(options["gold"])) if several else (),
        algorithm=(options["algorithm"] or [USUAL_OF_KINDS if several else USUAL])[0],
        redraw=options["with_replacement"],
        options=parse_pairs(options["option"]),
        **{field: options[field] for field in fields},
    )


def _distinct_names(paths: list[Path]) -> list[str]:
    """Return the files' names, with their folders if names are equal."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def use_free_names(request: ReplaySettings) -> ReplaySettings:
    kinds = tuple(free_name(kind) for kind in request.kinds)
    return replace(request, name=free_name(request.name), kinds=kinds)


def free_name(name: str) -> str:
    """Return this name, numbered if a kept replay has it already."""
    used_names = {
        used
        for model in (Pool, QuestionSet, Run)
        for used in model.objects.filter(name__startswith=name).values_list("name", flat=True)
    }
    return number_name(name, used_names, " ({})")


# -- the database


@contextmanager
def throwaway_database() -> Iterator[None]:
    """Let this thread work on a private SQLite database that vanishes when it is closed.

    SQLite keeps it in memory and, as it grows, in a file without a name: no file is left behind
    even if the process is killed.
    """
    configuration = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": "file:",
        "OPTIONS": {"init_command": PRAGMAS},
    }
    settings = connections.configure_settings({"default": configuration})["default"]
    configured = connections["default"]
    with closing(DatabaseWrapper(settings, "default")) as throwaway:
        connections["default"] = throwaway
        try:
            make_tables(throwaway)
            yield
        finally:
            connections["default"] = configured


def make_tables(database: DatabaseWrapper) -> None:
    """Create the current tables: there is no data that would have to be migrated."""
    with database.schema_editor() as editor:
        for model in apps.get_models():
            editor.create_model(model)
    Team.objects.create(name=FIRST)


# -- the output


WRITERS: dict[str, Callable[[Path, Run], None]] = {
    ".csv": lambda path, run: write_csv(path, exports.selected_with_facts(run)),
    ".json": lambda path, run: write_json(path, reports.export_run(run)),
}
TABLE_WRITERS: dict[str, Callable[[Path, Sequence[WhatIfRow]], None]] = {
    ".csv": lambda path, rows: write_csv(path, what_if.flat_table(rows)),
    ".json": lambda path, rows: write_json(path, [row.serialize() for row in rows]),
}
