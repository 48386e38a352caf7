"""The audit log: user, action, object, time and address. Entries are added, never changed."""

from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from .teams import Team


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """A query set that refuses changes and deletions, except of personal data by ``forget``."""

    def forget(self, **values: Any) -> int:
        """Give the entries these values; return the number of entries."""
        return super().update(**values)

    def update(self, **changes: Any) -> int:
        raise TypeError("The audit log is added to, never changed.")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise TypeError("The audit log is added to, never shortened.")


class AuditEntry(models.Model):
    """An action of a user.

    who     the login's name, "token NAME", "ada, manage.py COMMAND", or a part of the machine
    team    the object's team; None for logins and groups. An entry outlives its team
    kind    added, changed, deleted, signed in, or the kind of an Event of a run
    model   the kind of object, for example "run"; ``item`` its id and ``name`` its name then
    before  the values that were replaced, by field; ``after`` the new ones
    """

    at = models.DateTimeField()
    who = models.CharField(max_length=150)
    address = models.CharField("from", max_length=45, blank=True)
    team = models.ForeignKey(
        Team, models.DO_NOTHING, null=True, related_name="+", db_constraint=False
    )
    kind = models.CharField("did", max_length=20)
    model = models.CharField("what", max_length=50)
    item = models.CharField(max_length=50, blank=True)
    name = models.CharField(max_length=200)
    before = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    after = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    why = models.CharField(max_length=300, blank=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["model", "item"], name="audit_of_item")]

    def __str__(self) -> str:
        return f"{self.kind} {self.model} {self.name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("The audit log is added to, never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise TypeError("The audit log is added to, never shortened.")
