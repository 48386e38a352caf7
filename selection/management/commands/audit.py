"""``manage.py audit``: the log of who did what, as JSON lines, or whether it is whole."""

import json
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from selection import audit
from selection.models import AuditEntry


class Command(BaseCommand):
    help = "Print the audit log, an entry a line; or check that nothing in it was changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--verify", action="store_true", help="check the chain")
        parser.add_argument("--known", default="", help="a digest noted earlier, to be found in it")

    def handle(self, *args: Any, **options: Any) -> None:
        audit.seal()
        if options["verify"] or options["known"]:
            self._verify(options["known"])
            return
        for line in audit.lines(AuditEntry.objects.all()):
            self.stdout.write(json.dumps(line, cls=DjangoJSONEncoder, ensure_ascii=False))

    def _verify(self, known: str) -> None:
        count, digest, wrong = audit.verify(known)
        for why in wrong:
            self.stdout.write(why)
        if wrong:
            raise CommandError("The audit log is not whole.", returncode=1)
        self.stdout.write(f"{count:,} entries, whole. Note the last digest elsewhere: {digest}")
