"""``make run``: prepare everything, say where to go, and become the supervisor of all processes."""

import os
import secrets
import shlex
import socket
import sys
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.checks import Tags
from django.core.management import BaseCommand, CommandError, CommandParser, call_command

from selection import wakeups
from selection.models import ApiToken
from selection.simulation import sample_run

# What listens on all addresses: how this machine opens it, and some address elsewhere.
EVERY = {"0.0.0.0": ("127.0.0.1", "192.0.2.1"), "::": ("[::1]", "2001:db8::1")}  # noqa: S104  # nosec B104
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
        collect_static()
        gold = settings.VAR_DIR / "sample-gold.csv"
        with wakeups.silenced():  # Redis is not up yet; a Celery worker sweeps when it is ready
            run = sample_run.prepare_sample_run(gold)
        names = reached_by(host)
        here, there = f"http://{names[0]}:{port}", f"http://{names[-1]}:{port}"
        self.print_greeting(here, there, run.pk)
        os.environ.update(
            ADDRESS=f"{host}:{port}",
            HERE=here,
            PUBLIC_URL=os.environ.get("PUBLIC_URL", there),
            ALLOWED_HOSTS=",".join(dict.fromkeys([*settings.ALLOWED_HOSTS, *names])),
            SAMPLE_RUN=str(run.pk),
            SAMPLE_GOLD=shlex.quote(str(gold)),
            CROWD_TOKEN=ApiToken.issue("sample crowd"),
        )
        start_supervisor()

    def print_greeting(self, here: str, there: str, run: int) -> None:
        """here and there: by which it opens on this machine, and on others."""
        name, password = first_login()
        others = "" if there == here else f"  Elsewhere     {there}/admin/\n"
        self.stdout.write(
            f"\n  CrowdSelect   {here}/admin/\n{others}"
            f"  Sample run    {here}/admin/selection/run/{run}/\n"
            f"  Sign in as    {name}   {password}\n"
            f"  API           {here}/api/docs\n\n"
            "  Ctrl-C stops everything.\n"
        )
        self.stdout.flush()


def reached_by(host: str) -> list[str]:
    """What stands in addresses that open, where it listens on this: first on this machine, last on
    others. “All addresses” (0.0.0.0, ::) is none that a browser can open."""
    if host not in EVERY:
        return [f"[{host}]" if ":" in host else host]
    loopback, elsewhere = EVERY[host]
    own = outward_address(elsewhere)
    return [loopback, *([f"[{own}]" if ":" in own else own] if own else [])]


def outward_address(elsewhere: str) -> str:
    """The address by which this machine reaches others, found without sending anything; empty where
    there is no way out."""
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
    """Say so now if the address cannot be had, rather than when half is started."""
    with socket.socket(family_of(host)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or "a port is a number from 1 to 65535"
            raise CommandError(
                f"{host}:{port} cannot be used ({why.lower()}); "
                "choose another port: make run PORT=8001."
            ) from error


def collect_static() -> None:
    """As ``collectstatic`` does, where a file has changed since: compressing them takes a while."""
    paths = sorted(
        storage.path(name) for finder in get_finders() for name, storage in finder.list([])
    )
    seen = [(path, os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in paths]
    known, now = settings.VAR_DIR / "static-files", sha256(repr(seen).encode()).hexdigest()
    if not (settings.STATIC_ROOT.exists() and known.exists() and known.read_text() == now):
        call_command("collectstatic", interactive=False, verbosity=0)
        known.write_text(now)


def first_login() -> tuple[str, str]:
    """The first login, made once; its password is told until somebody changes it."""
    users = get_user_model().objects
    if not users.filter(is_superuser=True).exists():
        password = secrets.token_urlsafe(9)
        users.create_superuser("admin", password=password)
        LOGIN.touch(mode=0o600)
        LOGIN.write_text(password)
    admin = users.filter(username="admin").first()
    known = LOGIN.read_text() if LOGIN.exists() else ""
    if admin is None or not known or not admin.check_password(known):
        return "your own account", ""
    return "admin", known


def start_supervisor() -> None:
    """Hand over to supervisord: it starts again what dies, says so, and stops all on Ctrl-C."""
    os.environ.update(
        PYTHON=shlex.quote(sys.executable),
        VAR_DIR=str(settings.VAR_DIR),
        RUN_AS=str(os.getuid()),
        EMBEDDED_REDIS=str(settings.EMBEDDED_REDIS).lower(),
        TELL="warn",
    )
    os.chdir(settings.BASE_DIR)
    supervisor = ["-m", "crowdselect.start.supervisor", "-c", "supervisord.conf"]
    os.execv(sys.executable, [sys.executable, *supervisor])
