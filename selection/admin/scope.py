"""Team scoping that all admins of a team's objects share.

A class that derives from ``ScopedAdmin`` or ``TabularInline`` instead of django-unfold's own
lists, offers, changes and deletes only objects that the user may see and change
(selection.accounts).
"""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import ForeignKey, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin
from unfold.admin import TabularInline as UnfoldTabularInline

from selection import audit
from selection.accounts import common_team, has_multiple_teams, is_allowed, path_of, scoped, team_of
from selection.models import Team

from . import object_history
from .page import object_url
from .plain_lists import PlainListMixin
from .safe_lookups import SafeChoiceFieldsMixin, SafeLookupsMixin

DIFFERENT_TEAMS = "Choose objects of one team."


class TeamScopedMixin:
    """Admin or inline limited to the user's teams; an inline's ``obj`` is the parent object."""

    model: Any

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return scoped(super().get_queryset(request), request)  # type: ignore[misc]

    def is_permitted(self, request: HttpRequest, action: str, item: Model | None = None) -> bool:
        meta = self.model._meta
        return is_allowed(request, f"{meta.app_label}.{action}_{meta.model_name}", item)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return any(self.is_permitted(request, action, obj) for action in ("view", "change"))

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_permitted(request, "add", obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_permitted(request, "change", obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_permitted(request, "delete", obj)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Offer only objects of teams in which the user may add or change this kind."""
        meta = self.model._meta
        permissions = [
            f"{meta.app_label}.{action}_{meta.model_name}" for action in ("add", "change")
        ]
        kwargs.setdefault("queryset", scoped(db_field.related_model, request, *permissions))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]


class TabularInline(SafeChoiceFieldsMixin, TeamScopedMixin, UnfoldTabularInline):
    pass


class VisibleRelatedFilter(admin.RelatedFieldListFilter):
    """Filter that offers only the related objects that the user may see."""

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, Any]]:
        visible = scoped(field.related_model, request).values("pk")
        order = self.field_admin_ordering(field, request, model_admin)
        choices: list[tuple[str, Any]] = field.get_choices(
            include_blank=False, ordering=order, limit_choices_to={"pk__in": visible}
        )
        return choices


class ScopedAdmin(PlainListMixin, SafeLookupsMixin, TeamScopedMixin, ModelAdmin):
    """Admin of a team's objects. A new one's team is chosen only by users with several teams."""

    change_form_outer_after_template = "selection/object_history.html"

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        item = kwargs.get("obj")
        context["past"] = object_history.short_history(item) if item is not None else {}
        return super().render_change_form(request, context, *args, **kwargs)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form_class = super().get_form(request, obj, change, **kwargs)
        return type(form_class.__name__, (TeamForm, form_class), {"request": request})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        offer_team = path_of(self.model) == "team" and has_multiple_teams(request)
        return ["team", *fields] if offer_team and "team" not in fields else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return (*fields, "team") if obj and path_of(self.model) == "team" else fields

    def get_list_display(self, request: HttpRequest) -> Any:
        columns = super().get_list_display(request)
        show_team = path_of(self.model) == "team" and has_multiple_teams(request)
        return [*columns, "team"] if show_team else columns

    def get_list_filter(self, request: HttpRequest) -> Any:
        filters = list(super().get_list_filter(request))
        if path_of(self.model) == "team" and has_multiple_teams(request):
            filters.append("team")
        return [
            (name, VisibleRelatedFilter) if self._is_related(name) else name for name in filters
        ]

    def _is_related(self, name: Any) -> bool:
        fields = {field.name for field in self.model._meta.fields if field.is_relation}
        return isinstance(name, str) and name in fields

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the rows, or refuse all: the user may be a mere reader in one of their teams."""
        if not all(self.has_delete_permission(request, item) for item in queryset):
            raise PermissionDenied
        for item in queryset:
            self._note_change(item)
        super().delete_queryset(request, queryset)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._note_change(obj)
        super().delete_model(request, obj)

    def _note_change(self, item: Any) -> None:
        if isinstance(item, audit.MANY):  # the signals record all other kinds
            audit.record_deletion(item)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        item = self.get_object(request, object_id)
        if item is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, item):
            raise PermissionDenied
        context = self.admin_site.each_context(request) | {
            "title": f"History of {item}",
            **object_history.object_history(item),
            "addresses": is_allowed(request, "selection.view_auditentry", item),
            "back": object_url(item),
        }
        return TemplateResponse(request, "selection/history.html", context)


class ReadOnlyAdmin(ScopedAdmin):
    """Admin of a record that nobody changes, not even a superuser."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


class TeamForm(forms.ModelForm):
    """Form of which the related objects must belong to one team; a new object joins that team."""

    request: ClassVar[HttpRequest]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            self.initial.pop("team", None)  # the user chooses among several
        self.team = None if self.instance._state.adding else team_of(self.instance)
        for field in self.fields.values():
            if isinstance(field, forms.ModelChoiceField) and self.team is not None:
                choices: Any = field.queryset
                field.queryset = choices.filter(**{path_of(choices.model): self.team})

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        chosen = [value for value in cleaned.values() if isinstance(value, Model)]
        if not common_team(chosen):
            raise ValidationError(DIFFERENT_TEAMS)
        if self.instance._state.adding and path_of(self.instance.__class__) == "team":
            self._choose_team()
        return cleaned

    def _choose_team(self) -> None:
        """Set the only team that the user can add to: the form has no field for it."""
        if "team" in self.fields or "pool" in self.fields:
            return
        meta = self.instance._meta
        teams = scoped(Team, self.request, f"{meta.app_label}.add_{meta.model_name}")
        self.instance.team = teams.get()
