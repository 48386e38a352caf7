"""Numbers typed in forms and shown on pages, in the viewer's locale."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from babel import Locale
from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.test import RequestFactory
from django.urls import get_resolver

from selection import viewer_locale
from selection.admin import styled
from selection.admin.setting_fields import build_field
from selection.models import Run
from tests.pages import admin_url, text_of
from tests.worlds import make_run

ROOT = Path(__file__).parents[3]
GERMAN, ENGLISH = Locale("de"), Locale("en", "US")


def find_forms() -> list[type[forms.BaseForm]]:
    assert get_resolver().url_patterns  # all modules with pages are loaded
    found, waiting = [], [forms.BaseForm]
    while waiting:
        kinds = waiting.pop().__subclasses__()
        waiting += kinds
        found += [kind for kind in kinds if kind.__module__.startswith("selection.")]
    return found


def test_all_numbers_of_forms_are_typed_in_the_viewer_s_locale():
    admins = [type(model_admin) for model_admin in admin.site._registry.values()]
    of_admins = tuple(each.form for each in admins if each.form is not forms.ModelForm)
    plain = [
        f"{form.__qualname__}.{name}"
        for form in find_forms()
        if not issubclass(form, of_admins)  # see the next test
        if not form.__module__.startswith("selection.worker")  # nobody types ids
        for name, field in getattr(form, "base_fields", {}).items()
        if isinstance(field, forms.IntegerField)  # and all that derive from it
        and not isinstance(field, styled.IntegerField | styled.FloatField | styled.DecimalField)
    ]
    assert plain == []


@pytest.mark.django_db
def test_all_numbers_of_the_admin_s_forms_are_typed_in_the_viewer_s_locale(admin_user):
    request = RequestFactory().get("/")
    request.user = admin_user
    fields = {
        f"{model.__name__}.{name}": field
        for model, model_admin in admin.site._registry.items()
        if model.__module__.startswith("selection.")
        for name, field in model_admin.get_form(request).base_fields.items()
        if isinstance(field, forms.IntegerField)  # and all that derive from it
    }
    assert fields
    kinds = (styled.IntegerField, styled.FloatField, styled.DecimalField)
    assert [name for name, field in fields.items() if not isinstance(field, kinds)] == []
    assert all("number" not in field.widget.input_type for field in fields.values())


@pytest.mark.parametrize(
    ("locale", "text", "value"),
    [
        (GERMAN, "0,25", "0.25"),
        (GERMAN, "0.25", "0.25"),
        (GERMAN, "1,234", "1.234"),
        (GERMAN, "1.234,50", "1234.50"),
        (GERMAN, "1 234,5", "1234.5"),
        (ENGLISH, "0,25", "0.25"),
        (ENGLISH, "1.234", "1.234"),
        (ENGLISH, "1,234.50", "1234.50"),
        (ENGLISH, "1,234,567", "1234567"),
        (ENGLISH, "٠٫٢٥", "0.25"),
    ],
)
def test_a_typed_number_is_read_in_the_viewer_s_locale(locale, text, value):
    with viewer_locale.formatting_for(locale):
        assert styled.DecimalField().clean(text) == Decimal(value)
        assert styled.FloatField().clean(text) == float(value)


@pytest.mark.parametrize(
    ("locale", "text", "either"),
    [(ENGLISH, "1,234", "1234 or 1.234"), (GERMAN, "1.234", "1234 or 1,234")],
)
def test_a_number_with_two_readings_is_refused_with_both(locale, text, either):
    with viewer_locale.formatting_for(locale), pytest.raises(ValidationError, match=either):
        styled.DecimalField().clean(text)


@pytest.mark.parametrize("value", [Decimal("0.25"), 1.125, Decimal("1.500"), 1234.5, 0.00001, 3.0])
@pytest.mark.parametrize("locale", [GERMAN, ENGLISH, None])
def test_a_number_is_read_as_it_was_shown(value, locale):
    field = styled.FloatField()
    with viewer_locale.formatting_for(locale):
        assert field.clean(field.prepare_value(value)) == float(value)


# Numbers with decimal places, by their last name in a template.
DECIMALS = "epsilon|delta|level|tolerance|pass_mark"
FILES = {"evaluation_report.html"}  # read outside of the application, by anyone


def test_templates_show_numbers_in_the_viewer_s_locale():
    raw = re.compile(rf"\{{\{{ (?:\w+\.)*(?:{DECIMALS}) \}}\}}|floatformat")
    templates = [*(ROOT / "templates").rglob("*.html")]
    bare = {
        path.name: raw.findall(path.read_text(encoding="utf-8"))
        for path in templates
        if path.name not in FILES
    }
    assert {name: found for name, found in bare.items() if found} == {}


def test_texts_of_pages_format_numbers_in_one_place():
    rooms = ("admin", "reports", "forecast", "watches", "runs", "replays")
    raw = re.compile(r"[^\"'\n]*\{[^{}\n]*:[,+]?(?:\.\d)?g\}[^\"'\n]*")
    found = [
        f"{path.name}: {line}"
        for room in rooms
        for path in (ROOT / "selection" / room).rglob("*.py")
        for line in raw.findall(path.read_text(encoding="utf-8"))
        if "stored" not in line
    ]
    assert found == []


@pytest.mark.django_db
def test_a_german_sees_decimal_commas_only(requester):
    run = make_run(epsilon=0.125)
    page = requester.get(
        admin_url("run_change", run.pk), headers={"accept-language": "de-DE"}, follow=True
    )
    page_text = text_of(page)
    assert "0,125" in page_text
    assert not re.findall(r"\d\.\d+ (?:percentage )?points|[=≤] 0\.\d", page_text)


def test_a_price_with_a_comma_is_not_a_hundred_times_as_high():
    field = build_field(Run._meta.get_field("price"))
    assert field.widget.input_type == "text"  # one of the type number drops the comma
    with viewer_locale.formatting_for(GERMAN):
        assert field.prepare_value(Decimal("0.1000")) == "0,1000"
        assert field.clean("0,25") == Decimal("0.25")


@pytest.mark.parametrize(
    ("locale", "text", "value"),
    [
        (GERMAN, "1.500", 1500),
        (GERMAN, "1.500.000", 1_500_000),
        (ENGLISH, "1,500", 1500),
        (ENGLISH, "12", 12),
        (ENGLISH, "1.0", 1),
    ],
)
def test_whole_numbers_are_typed_with_signs_between_thousands(locale, text, value):
    with viewer_locale.formatting_for(locale):
        assert styled.IntegerField().clean(text) == value
        with pytest.raises(ValidationError):
            styled.IntegerField().clean("1.5" if locale is ENGLISH else "1,5")
