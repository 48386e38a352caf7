"""Teams, and the roles of their members."""

from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import DEFAULT_DB_ALIAS, connections, models, transaction

from .keys import NameField

FIRST = "First team"
NAME_TAKEN = "name_taken"


class Team(models.Model):
    """People that share pools, question sets and runs. Other teams see none of these.

    There is one from the beginning, and while it is the only one no page speaks of teams: every
    login belongs to it, with the permissions of that login.
    """

    name = NameField(max_length=100, unique=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the implicit members of the first team before a second one is made."""
        if self._state.adding:
            _store_implicit_memberships()
        super().save(*args, **kwargs)


def default_team() -> int:
    """Read the id of the oldest team, or make the first one."""
    first = Team.objects.order_by("pk").values_list("pk", flat=True).first()
    return Team.objects.create(name=FIRST).pk if first is None else first


def make_first_team(using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    """Make the team of a new or emptied database."""
    tables = connections[using].introspection.table_names()
    if Team._meta.db_table in tables and not Team.objects.using(using).exists():
        Team.objects.using(using).bulk_create([Team(name=FIRST)])


def _store_implicit_memberships() -> None:
    teams = list(Team.objects.values_list("pk", flat=True)[:2])
    if len(teams) != 1:
        return
    logins = get_user_model().objects.filter(is_staff=True, is_superuser=False)
    role = Membership.Role.OWN
    Membership.objects.bulk_create(
        Membership(team_id=teams[0], user=user, role=role)
        for user in logins.filter(memberships=None)
    )


class Membership(models.Model):
    """A user in a team. The rights of each role are in selection.accounts."""

    class Role(models.TextChoices):
        OWNER = "owner", "owner: full access, including members"
        MANAGER = "manager", "manager: full access, except members"
        VIEWER = "viewer", "viewer: read only"
        OWN = "", "permissions of the user account"

    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, blank=True, default=Role.VIEWER)

    class Meta:
        ordering = ["team", "user"]
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="user_once_in_team")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Let the user sign in to the pages, as every member may."""
        super().save(*args, **kwargs)
        if not self.user.is_staff:
            self.user.is_staff = True
            self.user.save(update_fields=["is_staff"])


class NamedInTeam(models.Model):
    """A model with names that are unique within a team."""

    class Meta:
        abstract = True

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Check the team even if a form has no field for it, and report the fault at the name."""
        try:
            super().validate_constraints(set(exclude or ()) - {"team"})
        except ValidationError as error:
            faults = error.error_dict
            general = faults.pop(NON_FIELD_ERRORS, [])
            for fault in general:
                where = "name" if fault.code == NAME_TAKEN else NON_FIELD_ERRORS
                faults.setdefault(where, []).append(fault)
            raise ValidationError(faults) from error


def unique_name(model: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(
        fields=["team", "name"],
        name=f"{model}_named_once",
        violation_error_code=NAME_TAKEN,
        violation_error_message="This name is already in use.",
    )
