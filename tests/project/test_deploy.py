"""The files of deploy/ fit the program: names, commands, settings, metrics."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from tests.project.houses import APPLICATION, TOP

DEPLOY = TOP / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


def of(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def test_systemd_takes_every_unit(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("There is no systemd here.")
    for unit in UNITS:
        words = unit.read_text().replace("/opt/crowdselect/.venv/bin/python", sys.executable)
        (tmp_path / unit.name).write_text(words)
    command = ["systemd-analyze", "verify", "--man=no", *(tmp_path / one.name for one in UNITS)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(UNITS) == 7


def test_workers_together_serve_the_declared_queues():
    """In the units, and in the compose file."""
    services = of("compose.yaml")["services"]
    commands = [" ".join(service.get("command", ())) for service in services.values()]
    for words in ("\n".join(unit.read_text() for unit in UNITS), "\n".join(commands)):
        found = [name for names in re.findall(r" -Q (\S+)", words) for name in names.split(",")]
        assert sorted(found) == sorted(settings.CELERY_TASK_QUEUES)
        assert words.count(" beat ") == 1


def test_the_compose_file_gives_settings_that_there_are():
    document = of("compose.yaml")
    source = (TOP / "crowdselect" / "settings.py").read_text()
    assert all(f'"{name}"' in source for name in document["x-app"]["environment"])
    for name, service in document["services"].items():
        assert set(service.get("depends_on", ())) <= set(document["services"])
        assert "image" in service, name
    assert "8000/readyz" in str(document["services"]["web"]["healthcheck"])


def test_compiled_code_is_stored_in_a_writable_folder():
    """All else is read-only to them, and numba starts nothing that it has no folder for."""
    kept = "/opt/crowdselect/var/compiled"
    for unit in UNITS:
        words = unit.read_text()
        assert f"Environment=NUMBA_CACHE_DIR={kept}\n" in words
        assert f"ReadWritePaths=-{Path(kept).parent}\n" in words
    stages = (DEPLOY / "Containerfile").read_text().split("\nFROM ")[1:]
    assert [stage.count(f"NUMBA_CACHE_DIR={kept}\n") for stage in stages] == [1, 1]
    document = of("compose.yaml")
    for name, service in document["services"].items():
        volumes = dict(volume.split(":") for volume in service.get("volumes", ()))
        assert set(volumes) <= set(document["volumes"]), name
        assert not service.get("read_only") or volumes == {"compiled": kept}


def test_the_image_is_made_of_files_that_there_are():
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    copied = [
        line.split()[1:-1] for line in lines if line.startswith("COPY") and "--from" not in line
    ]
    for name in [name for names in copied for name in names]:
        assert (TOP / name).exists()
    assert {*APPLICATION, "packages"} <= {name for names in copied for name in names}


def test_the_alerts_are_of_metrics_that_there_are():
    rules = [rule for group in of("alerts.yaml")["groups"] for rule in group["rules"]]
    told = (TOP / "crowdselect" / "web" / "health.py").read_text()
    for rule in rules:
        names = re.findall(r"crowdselect_\w+", rule["expr"])
        assert all(f'"{name}"' in told for name in names)
        assert {"alert", "expr", "for", "annotations"} == set(rule)
    assert len(rules) == 5


def test_proxy_admits_uploads_up_to_the_limit_of_the_server():
    (most,) = re.findall(r"client_max_body_size (\d+)m", (DEPLOY / "nginx.conf").read_text())
    assert int(most) * 1024 * 1024 == settings.MOST_UPLOADED
