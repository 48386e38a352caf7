"""Logins with their teams, and API tokens."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from unfold.admin import ModelAdmin
from unfold.admin import TabularInline as UnfoldTabularInline
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm

from selection import db_clock
from selection.accounts import scoped, second_factor, tokens
from selection.admin import styled
from selection.admin.page import page_urls
from selection.admin.plain_lists import PlainListMixin
from selection.admin.safe_lookups import SafeChoiceFieldsMixin, SafeLookupsMixin
from selection.admin.scope import ScopedAdmin, TabularInline
from selection.models import ApiToken, Membership, Team

from . import colleague

admin.site.unregister([User, Group])
# These hold secrets. Users see their own on the page of their account.
admin.site.unregister([Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken])


# -- people


class LabelledCellsMixin:
    """Inline that labels its cells: for a screen reader the column's heading labels none."""

    def formfield_for_dbfield(self, *args: Any, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(*args, **kwargs)  # type: ignore[misc]
        if field is not None:
            field.widget.attrs["aria-label"] = str(field.label)
            inner = getattr(field.widget, "widget", field.widget)
            inner.attrs["aria-label"] = str(field.label)
        return field


class UserTeamsInline(LabelledCellsMixin, SafeChoiceFieldsMixin, UnfoldTabularInline):
    model = Membership
    fields = ["team", "role"]
    extra = 0
    verbose_name_plural = "Teams"


@admin.register(User)
class UserAdmin(PlainListMixin, SafeLookupsMixin, BaseUserAdmin, ModelAdmin):
    form = UserChangeForm
    change_password_form = AdminPasswordChangeForm
    # Django's two boxes side by side are wider than the page and have no labels.
    filter_horizontal = ()
    actions = ["take_factors_away"]
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Status", {"fields": ("is_active", "is_superuser", "last_login", "date_joined")}),
        (
            "Permissions of this login alone",
            {
                "fields": ("is_staff", "groups", "user_permissions"),
                "classes": ("collapse",),
                "description": "Roles in teams are enough for almost everybody.",
            },
        ),
    )

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return redirect("admin:selection_team_colleague")

    @admin.action(description="Remove second factors and passkeys", permissions=["change"])
    def take_factors_away(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Remove the second factors of users locked out; they sign in with the password alone."""
        counts = [second_factor.remove_factors(user) for user in queryset]
        messages.success(
            request,
            f"Removed {sum(counts)} second factors of {len(counts)} "
            f"user{'s' * (len(counts) != 1)}. "
            "Their sessions have ended.",
        )

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[Any]:
        """Offer a user's teams to superusers only; owners add members on their team's page."""
        show_teams = obj is not None and request.user.is_superuser and Team.objects.count() > 1
        return [UserTeamsInline] if show_teams else []


@admin.register(Group)
class GroupAdmin(PlainListMixin, SafeLookupsMixin, BaseGroupAdmin, ModelAdmin):
    filter_horizontal = ()


class MembershipForm(forms.ModelForm):
    """A member, entered by the login's name, so that other teams' logins stay hidden."""

    username = styled.CharField(label="Login", attrs={"placeholder": "User name"})

    class Meta:
        model = Membership
        fields = ["role"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["username"].disabled = True
            self.initial["username"] = self.instance.user.get_username()

    def clean_username(self) -> str:
        username = str(self.cleaned_data["username"]).strip()
        if not self.instance.pk:
            user = User.objects.filter(username=username).first()
            if user is None:
                raise ValidationError("There is no user with this name.")
            if Membership.objects.filter(user=user, team=self.instance.team_id).exists():
                raise ValidationError("This user is already in the team.")
            self.instance.user = user
        return username


class MembersFormSet(forms.BaseInlineFormSet):
    def clean(self) -> None:
        """Refuse duplicate members, and a team that would lose its last owner."""
        super().clean()
        remaining = [form for form in self.forms if form not in self.deleted_forms]
        users = set()
        for form in remaining:
            user = form.instance.user_id
            if user in users:
                form.add_error("username", "This user is listed twice.")
            users.update({user} - {None})
        owner = Membership.Role.OWNER
        owned = any(form.initial.get("role") == owner for form in self.initial_forms)
        if owned and not any(form.instance.role == owner for form in remaining):
            raise ValidationError("The team needs an owner: make another member an owner first.")


class MembershipInline(LabelledCellsMixin, TabularInline):
    model = Membership
    form = MembershipForm
    formset = MembersFormSet
    fields = ["username", "role"]
    extra = 1
    hide_title = True
    verbose_name = "member"
    verbose_name_plural = "Members"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("user")


@admin.register(Team)
class TeamAdmin(ScopedAdmin):
    list_display = ["name", "created"]
    search_fields = ["name"]
    fields = ["name"]
    inlines = [MembershipInline]
    change_form_outer_before_template = "selection/team_before.html"
    list_before_template = "selection/team_before.html"

    def get_urls(self) -> list[URLPattern]:
        return [*page_urls(self, colleague.ColleaguePage), *super().get_urls()]

    def get_inlines(self, request: HttpRequest, obj: Team | None) -> list[Any]:
        return list(self.inlines) if obj else []

    def response_post_save_change(self, request: HttpRequest, obj: Team) -> HttpResponse:
        """Redirect with fresh permissions: an owner may have given up their own role."""
        request.user = User.objects.get(username=request.user.get_username())
        return super().response_post_save_change(request, obj)


# -- programs


class TokenForm(forms.ModelForm):
    request: HttpRequest  # set by ScopedAdmin

    class Meta:
        model = ApiToken
        fields = ["name", "scope", "expires"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["scope"] = ApiToken.Scope.READ  # more rights need an explicit choice

    def clean_expires(self) -> Any:
        expires = self.cleaned_data["expires"]
        if expires is not None and expires <= db_clock.database_now():
            raise ValidationError("Choose a date in the future.")
        return expires

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        scope = self.cleaned_data.get("scope")
        if scope and not self.errors and not self._has_scope(scope):
            self.add_error("scope", "Your role does not allow this scope.")

    def _has_scope(self, scope: str) -> bool:
        needed = tokens.NEEDED[tokens.Scope(scope)]
        team = Team.objects.filter(pk=self.instance.team_id)
        return all(scoped(team, self.request, permission).exists() for permission in needed)


@admin.register(ApiToken)
class ApiTokenAdmin(ScopedAdmin):
    """Admin of API tokens. Only a digest is stored, so the secret is shown once, on creation."""

    form = TokenForm
    list_display = ["name", "prefix_text", "scope", "state", "used", "expires", "by", "created"]
    search_fields = ["name"]
    fields = ["name", "scope", "expires"]
    actions = ["revoke"]

    @display(description="begins with")
    def prefix_text(self, token: ApiToken) -> str:
        return f"{token.prefix}…" if token.prefix else "–"

    @display(
        description="state", label={"good": "success", "expired": "warning", "revoked": "danger"}
    )
    def state(self, token: ApiToken) -> str:
        if token.revoked:
            return "revoked"
        return "good" if token.good() else "expired"

    @admin.action(description="Revoke the chosen tokens", permissions=["delete"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """Revoke the tokens. They stay in the list as a record of their last use."""
        mine = scoped(queryset, request, "selection.delete_apitoken").filter(revoked=None)
        revoked = mine.update(revoked=db_clock.database_now())
        messages.success(request, f"Revoked: {revoked}. These tokens no longer work.")

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: ApiToken, form: TokenForm, change: bool
    ) -> None:
        secret = ApiToken.issue(
            obj.name, obj.team, scope=obj.scope, expires=obj.expires, by=request.user.get_username()
        )
        obj.pk = ApiToken.objects.get(team=obj.team, name=obj.name).pk
        request.new_secret = secret  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        context = self.admin_site.each_context(request) | {
            "title": f"API token “{obj}”",
            "secret": request.new_secret,  # type: ignore[attr-defined]
        }
        return TemplateResponse(request, "selection/token.html", context)
