"""The import rules: who may use whom. The table itself is in pyproject.toml."""

import subprocess
import sys
from pathlib import Path


def test_imports_go_one_way():
    tool = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([tool], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
