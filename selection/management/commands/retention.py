"""``manage.py retention``: count data past its retention period; --apply deletes it."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandParser

from selection import privacy
from selection.texts import counted


class Command(BaseCommand):
    help = "Say what was kept for longer than the settings allow; --apply takes it away."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="take it away")

    def handle(self, *args: Any, **options: Any) -> None:
        counts = privacy.apply_retention() if options["apply"] else privacy.count_due()
        self.stdout.write("Taken away:" if options["apply"] else "To be taken away:")
        for setting, description in (
            ("PERSONAL_DATA_DAYS", f"who {counted(counts.workers, 'worker')} of finished runs are"),
            (
                "AUDIT_ADDRESS_DAYS",
                f"the addresses of {counted(counts.addresses, 'entry')} of the audit log",
            ),
            (
                "RESPONSES_DAYS",
                f"{counted(counts.responses, 'response')} of {counts.runs:,} finished runs",
            ),
        ):
            days = getattr(settings, setting)
            period = f"{days} days" if days > 0 else "kept for good"
            self.stdout.write(f"  {description} ({setting}: {period})")
