"""What a worker sends."""

from django import forms

BIGGEST_ID = 2**63 - 1


class WorkForm(forms.Form):
    """A worker's answer."""

    assignment = forms.IntegerField(min_value=1, max_value=BIGGEST_ID)
    response = forms.CharField(max_length=10_000)
