"""Platforms that send workers to a run's join link, and the ways back."""

from django.db import models


class Platform(models.TextChoices):
    PROLIFIC = "prolific", "Prolific"
    CONNECT = "connect", "Connect"
    BESAMPLE = "besample", "Besample"
    SONA = "sona", "SONA"
    MTURK = "mturk", "Amazon Mechanical Turk"
    CUSTOM = "custom", "another platform"


class Completion(models.TextChoices):
    REDIRECT = "redirect", "a link back"
    CODE = "code", "a code that workers enter there"
