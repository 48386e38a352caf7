"""Pools of workers to choose from."""

from typing import ClassVar

from django.db import models

from .attributes import AttributesField
from .keys import KeyField, NameField
from .teams import NamedInTeam, Team, default_team, unique_name


class Pool(NamedInTeam):
    """Workers to choose from."""

    team = models.ForeignKey(
        Team, models.PROTECT, default=default_team, related_name="pools", db_index=False
    )
    name = NameField(max_length=200)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [unique_name("pool")]

    def __str__(self) -> str:
        return self.name


class Present(models.Manager["Worker"]):
    """The manager of workers that were not erased: an erased one is in no pool's figures."""

    def get_queryset(self) -> models.QuerySet["Worker"]:
        return super().get_queryset().filter(erased=None)


class Worker(models.Model):
    """A worker in a pool. ``key`` is their id on the requester's platform.

    mail_address  in no dump or reply, and besides the export of personal data in links.csv alone
    erased        time of the removal of all personal data; the row stays, because of its answers
    """

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="workers")
    key = KeyField("worker", max_length=200)
    name = NameField(max_length=200, blank=True)
    attributes = AttributesField(default=dict, blank=True)
    mail_address = models.EmailField("e-mail", blank=True, default="", db_default="")  # of imports
    erased = models.DateTimeField(null=True, editable=False)

    objects = Present()
    with_erased: ClassVar[models.Manager["Worker"]] = models.Manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["pool", "key"], name="worker_once_in_pool")]

    def __str__(self) -> str:
        return self.key
