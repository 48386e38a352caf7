"""What a worker sends."""

from typing import Self

from django import forms
from django.http import QueryDict

from selection.grading.rules import SEPARATOR

BIGGEST_ID = 2**63 - 1


class WorkForm(forms.Form):
    """A worker's answer to an assignment, or to a practice question."""

    assignment = forms.IntegerField(min_value=1, max_value=BIGGEST_ID)
    response = forms.CharField(max_length=10_000)

    @classmethod
    def of(cls, sent: QueryDict) -> Self:
        """What was ticked, or stands in each place, is one response."""
        said = f" {SEPARATOR} ".join(sent.getlist("response"))
        named = sent.get("practice") or sent.get("assignment")
        return cls({"assignment": named, "response": said})
