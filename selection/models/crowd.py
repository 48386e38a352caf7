"""Who can be chosen: pools of workers."""

from django.db import models

from .teams import NamedInTeam, Team, default_team, named_once


class Pool(NamedInTeam):
    """Workers to choose from."""

    team = models.ForeignKey(
        Team, models.PROTECT, default=default_team, related_name="pools", db_index=False
    )
    name = models.CharField(max_length=200)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [named_once("pool")]

    def __str__(self) -> str:
        return self.name


class Worker(models.Model):
    """Somebody in a pool. ``key`` is the name that the requester's platform knows them by."""

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="workers")
    key = models.CharField("worker", max_length=200)
    name = models.CharField(max_length=200, blank=True)
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["pool", "key"], name="worker_once_in_pool")]

    def __str__(self) -> str:
        return self.key
