"""A page that adds a colleague: a login, its role in a team, and the link to set a password."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

from selection import extensions
from selection.accounts import passwords, scoped
from selection.admin import styled
from selection.admin.page import FormPage
from selection.models import Membership, Team

ADD = "selection.add_membership"
ROLES = [(value, label) for value, label in Membership.Role.choices if value]


class ColleagueForm(forms.Form):
    name = styled.CharField(label="Name", max_length=150)
    email = styled.CharField(
        label="E-mail address", max_length=150, help_text="Also their user name."
    )
    role = styled.ChoiceField(label="Role", choices=ROLES, initial=Membership.Role.VIEWER)
    team: Any = styled.ModelChoiceField(None, label="Team")

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["team"]
        teams = scoped(Team, request, ADD).order_by("name")
        field.queryset = teams
        only = list(teams[:2])
        if len(only) == 1:
            field.initial, field.widget, field.required = only[0], forms.HiddenInput(), False

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).strip()
        forms.EmailField().clean(email)
        same = User.objects.filter(username__iexact=email) | User.objects.filter(
            email__iexact=email
        )
        if same.exists():
            raise ValidationError(
                "There is a login with this address. Ask for its user name, and add that as a "
                "member on the page of the team."
            )
        return email

    def clean_team(self) -> Team:
        chosen: Team = self.cleaned_data["team"] or self.fields["team"].initial
        return chosen


class ColleaguePage(FormPage):
    permission_required = [ADD]
    location = ("colleague/", "colleague")
    template_name = "selection/colleague.html"
    title = "Add a colleague"
    object: Any = None

    def build_form(self, *data: Any) -> ColleagueForm:
        initial = self.request.GET.dict()
        return ColleagueForm(*data[:1], request=self.request, initial=initial)

    def apply_form(self, form: ColleagueForm) -> HttpResponse:
        """Show the link once: it opens the login."""
        user = passwords.create_colleague(**form.cleaned_data)
        mailed = extensions.can_mail_passwords()
        if mailed:
            passwords.request_mail(user)
        return self.render_to_response(
            self.get_context_data(
                form=form,
                colleague=user,
                team=form.cleaned_data["team"],
                link=passwords.password_address(user),
                mailed=mailed,
                days=passwords.DAYS,
            )
        )
