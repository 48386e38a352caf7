"""The project's settings with the bare insert beside the API, for comparison."""

from crowdselect.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.bare"
