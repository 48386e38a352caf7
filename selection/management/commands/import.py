"""``manage.py import``: workers, gold questions or answers from a file, as on the pages."""

from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection.answers.recording import Outside
from selection.errors import Refused
from selection.imports import column_plan, commit, row_parsers, staging, uploads
from selection.imports.readers import ENCODINGS
from selection.management.lookups import find_by_name, report_refusals
from selection.models import Upload
from selection.texts import counted

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Import a file into a pool, a question set or a run: Excel, .ods, CSV of any kind, TSV "
        "or JSON, laid out as you like, or by MTurk, Prolific, Label Studio, Toloka or crowd-kit."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("kind", choices=Upload.Kind.values, help="what each row is")
        add("file", type=Path)
        add("--into", required=True, metavar="NAME", help="the pool, question set or run")
        add("--team", default="", metavar="NAME", help="whose it is (default: whoever has it)")
        fields = "; ".join(
            f"{kind}: {', '.join(field.name for field in column_plan.FIELDS[kind])}"
            for kind in Upload.Kind.values
        )
        column = (
            "what a column is, where it is not seen by itself; may be given again. Fields: "
            f"{fields}. For workers also attribute; nothing leaves a column out"
        )
        add("--map", action="append", default=[], metavar="COLUMN=FIELD", help=column)
        question = (
            "of a survey, the question that a column has the answers to, by its key or text; "
            "may be given again; nothing leaves a column out"
        )
        add("--question", action="append", default=[], metavar="COLUMN=QUESTION", help=question)
        header = "the row that names the columns (default: the first that names those needed)"
        add("--header", type=int, metavar="ROW", help=header)
        add("--encoding", default="", choices=["", *ENCODINGS], help="default: as it looks")
        wrong = "count answers that are none of the choices as wrong (default: leave them out)"
        add("--outside-wrong", action="store_true", help=wrong)
        add("--check", action="store_true", help="say what would become of it, and import nothing")
        add("--strict", action="store_true", help="import nothing if any row would not be taken")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals("Interrupted; nothing was imported."):
            self._import_file(options)

    def _import_file(self, options: dict[str, Any]) -> None:
        rows = staging.TARGETS[options["kind"]]._default_manager.all()
        target: Any = find_by_name(rows, options["into"], options["team"])
        raw = row_parsers.read_path(options["file"])
        upload = uploads.create_upload(
            options["kind"], target, options["file"].name, raw, at_once=False
        )
        try:
            self._take(upload, target, options)
        finally:
            uploads.discard_upload(upload)

    def _take(self, upload: Upload, target: Any, options: dict[str, Any]) -> None:
        example = "--question 'Frage 7=gull'"
        questions = [parse_column_pair(text, example) for text in options["question"]]
        if options["header"]:
            uploads.begin_at(upload, options["header"], options["encoding"], at_once=False)
        if options["map"] or options["encoding"] or questions:
            pairs = [parse_column_pair(text, "--map 'Worker ID=worker'") for text in options["map"]]
            uploads.choose_columns(upload, pairs, questions, options["encoding"], at_once=False)
        uploads.read_whole(upload)
        outside: Outside = "wrong" if options["outside_wrong"] else "refuse"
        refused_count = self._print_preview(upload, outside, quiet=options["verbosity"] == 0)
        if options["check"]:
            return
        if options["strict"] and refused_count:
            raise Refused(
                f"Nothing was imported: {counted(refused_count, 'row')} would not be taken."
            )
        _, count = commit.commit_import(upload.pk, outside)
        rows = counted(count, options["kind"].removesuffix("s"))
        self.stdout.write(f"{rows} imported into “{target}”.")

    def _print_preview(self, upload: Upload, outside: Outside, quiet: bool) -> int:
        problems = commit.rejected_rows(upload, outside)
        refused_count = int(problems.count())
        if not quiet:
            looks = upload.plan["title"] or "a table"
            self.stdout.write(f"{upload.name} looks like {looks} ({upload.what}).")
            for problem in problems[:SHOWN]:
                self.stderr.write(f"line {problem.line}: {problem.why}")
            if refused_count > SHOWN:
                more = counted(refused_count - SHOWN, "more row")
                self.stderr.write(f"… and {more} not taken.")
        return refused_count


def parse_column_pair(text: str, example: str) -> tuple[str, str]:
    """Return (column, field) of COLUMN=FIELD; a column may have = in its name."""
    column, sign, field = text.rpartition("=")
    if not sign or not column:
        raise Refused(f"“{text}” says nothing of a column; write it as {example}.")
    return column.strip(), field.strip()
