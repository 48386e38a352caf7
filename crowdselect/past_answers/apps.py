"""The app for past answers: a file, a run or a question set is replayed with each algorithm."""

from importlib import import_module

from django.apps import AppConfig

JOBS = ("from_connections", "replay_requests")  # need the models


class PastAnswersConfig(AppConfig):
    name = "crowdselect.past_answers"
    verbose_name = "Past answers"

    def ready(self) -> None:
        for module in JOBS:
            import_module(f"{self.name}.{module}")
