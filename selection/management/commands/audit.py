"""``manage.py audit``: the audit log, as JSON lines or CSV."""

import csv
import json
from collections.abc import Iterable
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet

from selection import audit
from selection.exports import writing
from selection.management.lookups import find_team, report_refusals
from selection.models import AuditEntry


class Command(BaseCommand):
    help = "Print the audit log, an entry a line."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--csv", action="store_true", help="as CSV instead of JSON lines")
        parser.add_argument("--team", default="", help="only what was done to this team's things")
        parser.add_argument("--of", default="", metavar="KIND:ID", help="one thing, as in run:12")

    def handle(self, *args: Any, **options: Any) -> None:
        lines = audit.list_entries(_selected_entries(options["team"], options["of"]))
        if options["csv"]:
            self._write_csv(lines)
            return
        for line in lines:
            self.stdout.write(json.dumps(line, cls=DjangoJSONEncoder, ensure_ascii=False))

    def _write_csv(self, lines: Iterable[dict[str, Any]]) -> None:
        writer = csv.writer(self.stdout, lineterminator="\n")
        writer.writerow(audit.FIELDS)
        for entry in lines:
            writer.writerow(writing.defuse_formula(entry[column]) for column in audit.FIELDS)


def _selected_entries(team: str, of: str) -> QuerySet[AuditEntry]:
    entries: QuerySet[AuditEntry] = AuditEntry.objects.all()
    if team:
        with report_refusals():
            entries = entries.filter(team=find_team(team))
    if of:
        kind, colon, number = of.partition(":")
        if not (kind and colon and number):
            raise CommandError(f"--of is a kind and an id, as in run:12, not “{of}”.")
        kinds = AuditEntry.objects.order_by("model").values_list("model", flat=True).distinct()
        if kind not in kinds:
            raise CommandError(
                f"The log has nothing of the kind “{kind}”, but: {', '.join(kinds)}."
            )
        entries = entries.filter(model=kind, item=number)
    return entries
