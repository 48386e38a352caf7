"""Forms of the worker's page."""

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
    def parse(cls, post: QueryDict) -> Self:
        """Return a form in which several ticks, or places of an order, make one response."""
        response = f" {SEPARATOR} ".join(post.getlist("response"))
        assignment = post.get("practice") or post.get("assignment")
        return cls({"assignment": assignment, "response": response})
