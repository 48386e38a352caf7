"""``make run``: prepare everything, and become the supervisor of the processes."""

import os
import secrets
import shlex
import socket
import sys
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import Tags
from django.core.management import BaseCommand, CommandError, CommandParser, call_command

from selection import wakeups
from selection.models import ApiToken
from selection.simulation import sample_run, sample_watch

# Hosts that mean all addresses: the one for this machine, and an example of an address elsewhere.
EVERY = {"0.0.0.0": ("127.0.0.1", "192.0.2.1"), "::": ("[::1]", "2001:db8::1")}  # noqa: S104
LOGIN = settings.VAR_DIR / "first-login"


class Command(BaseCommand):
    help = "Prepare the database, make a first login and sample data, and start all processes."
    requires_system_checks = [Tags.compatibility]  # of settings; the web server makes all others

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        refuse_taken(host, port)
        call_command("migrate", verbosity=0)
        gold = settings.VAR_DIR / "sample-gold.csv"
        with wakeups.silenced():  # Redis is not up yet; a Celery worker sweeps when it is ready
            run = sample_run.prepare_sample_run(gold)
            sample_watch.prepare_sample_watch(run.pool, run.question_set)
        names = reachable_hosts(host)
        local_url, public_url = f"http://{names[0]}:{port}", f"http://{names[-1]}:{port}"
        self.stdout.write("  CrowdSelect is starting; its address follows.")
        self.stdout.flush()
        os.environ.update(
            ADDRESS=f"{host}:{port}",
            HERE=local_url,
            PUBLIC_URL=os.environ.get("PUBLIC_URL", public_url),
            ALLOWED_HOSTS=",".join(dict.fromkeys([*settings.ALLOWED_HOSTS, *names])),
            SAMPLE_RUN=str(run.pk),
            SAMPLE_GOLD=shlex.quote(str(gold)),
            GREETING=write_greeting(local_url, public_url, run.pk),
            CROWD_TOKEN=ApiToken.issue("sample crowd"),
        )
        start_supervisor()


def write_greeting(local_url: str, public_url: str, run: int) -> str:
    name, password = first_login()
    elsewhere = "" if public_url == local_url else f"  Elsewhere     {public_url}/admin/\n"
    return (
        f"\n  CrowdSelect   {local_url}/admin/\n{elsewhere}"
        f"  Sample run    {local_url}/admin/selection/run/{run}/\n"
        f"  Sign in as    {name}   {password}\n"
        f"  API           {local_url}/api/docs\n\n"
        "  Ctrl-C stops everything.\n"
    )


def reachable_hosts(host: str) -> list[str]:
    """Return the hosts that browsers can open: first from this machine, last from others.

    “All addresses” (0.0.0.0, ::) are not such hosts.
    """
    if host not in EVERY:
        return [f"[{host}]" if ":" in host else host]
    loopback, elsewhere = EVERY[host]
    address = outward_address(elsewhere)
    return [loopback, *([f"[{address}]" if ":" in address else address] if address else [])]


def outward_address(elsewhere: str) -> str:
    """Return the address by which this machine reaches others, or "".

    It is found without sending anything.
    """
    family = family_of(elsewhere)
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return ""


def family_of(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def refuse_taken(host: str, port: int) -> None:
    """Raise CommandError if the address is in use, before any process is started."""
    with socket.socket(family_of(host)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "a port is a number from 1 to 65535"
            raise CommandError(
                f"{host}:{port} cannot be used ({reason.lower()}); "
                "choose another port: make run PORT=8001."
            ) from error


def first_login() -> tuple[str, str]:
    """Return the first login, created once, with its password until that is changed."""
    users = get_user_model().objects
    if not users.filter(is_superuser=True).exists():
        password = secrets.token_urlsafe(9)
        users.create_superuser("admin", password=password)
        LOGIN.touch(mode=0o600)
        LOGIN.write_text(password)
        return "admin", password
    admin = users.filter(username="admin").first()
    stored = LOGIN.read_text() if LOGIN.exists() else ""
    if admin is None or not stored or not admin.check_password(stored):
        return "your own account", ""
    return "admin", stored


def start_supervisor() -> None:
    """Become supervisord: it restarts processes that end, says so, and stops all on Ctrl-C."""
    os.environ.update(
        PYTHON=shlex.quote(sys.executable),
        VAR_DIR=str(settings.VAR_DIR),
        RUN_AS=str(os.getuid()),
        EMBEDDED_REDIS=str(settings.EMBEDDED_REDIS).lower(),
        STATIC_FROM_PACKAGES="true",  # to compress and copy them takes as long as to migrate
        TELL="warn",
    )
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    os.chdir(settings.BASE_DIR)
    os.execv(sys.executable, [sys.executable, *settings.SUPERVISOR])
