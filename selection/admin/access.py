"""Who may come in: people with a login, programs with a token."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from selection.models import ApiToken

from .careful import Careful

admin.site.unregister([User, Group])


@admin.register(User)
class UserAdmin(Careful, BaseUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(Careful, BaseGroupAdmin, ModelAdmin):
    pass


@admin.register(ApiToken)
class ApiTokenAdmin(Careful, ModelAdmin):
    """Only a token's digest is kept, so its secret is shown once, in answer to its making."""

    list_display = ["name", "created"]
    search_fields = ["name"]
    fields = ["name"]

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: ApiToken, form: ModelForm, change: bool
    ) -> None:
        secret = ApiToken.issue(obj.name)
        obj.pk = ApiToken.objects.get(name=obj.name).pk
        request.new_secret = secret  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        context = self.admin_site.each_context(request) | {
            "title": f"API token “{obj}”",
            "secret": request.new_secret,  # type: ignore[attr-defined]
        }
        return TemplateResponse(request, "selection/token.html", context)
