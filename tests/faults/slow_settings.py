"""The project's settings with an address that is slow on purpose: see ``slow_urls``."""

from crowdselect.settings import *  # noqa: F403

ROOT_URLCONF = "tests.faults.slow_urls"
