"""The choices of a Label Studio project, which its export of tasks does not list."""

import json
from typing import Any

import pytest

from selection.errors import Refused
from selection.imports.readers import label_studio, read_table

from .files import said


def export(*chosen: list[str], control: str = "bird", **more: object) -> str:
    """A task for each of these choices; the first is ground truth."""
    return json.dumps(
        [
            {
                "id": number,
                "data": {"text": f"What is {number}?", "choices": ["not", "these"]},
                "annotations": [
                    {
                        "completed_by": 3,
                        "ground_truth": number == 0,
                        "result": [
                            {
                                "value": {"choices": labels},
                                "from_name": control,
                                "to_name": "text",
                                "type": "choices",
                            }
                        ],
                    }
                ],
                **more,
            }
            for number, labels in enumerate(chosen)
        ]
    )


def test_the_labels_that_occur_in_it_are_the_choices_and_the_preview_says_so():
    raw = export(["Gull"], ['Grä"sm]ücke'], ["Gull"])
    plan, (row,) = said("questions", raw)
    assert plan.title == "a Label Studio export"
    assert (row.accepted, row.choices) == (["Gull"], ['Grä"sm]ücke', "Gull"])
    assert row.grading == {}
    assert read_table(raw, "f").what == "JSON; as choices, the 2 labels that occur in it"


def test_several_ticked_ones_make_it_a_question_to_tick_all_that_apply():
    _, (row,) = said("questions", export(["Gull", "Tern"], ["Bat"]))
    assert (sorted(row.choices), row.accepted) == (["Bat", "Gull", "Tern"], ["Gull", "Tern"])
    assert row.grading == {"multiple": True}


def test_the_configuration_is_believed_where_the_file_has_it():
    config = '<View><Choices name="bird" toName="text" choice="single">\n<Choice value="Tern"/>'
    config += "<Choice alias='g' value='Gull &amp; co'/><Choice value=\"Gull\"/></Choices></View>"
    raw = export(["Gull"], project={"label_config": config})
    _, (row,) = said("questions", raw)
    assert row.choices == ["Tern", "Gull & co", "Gull"]
    assert "its configuration has 3 choices" in read_table(raw, "f").what


@pytest.mark.parametrize(
    "raw",
    [
        export(["Gull"], ["Gull"]),
        export(["a|b"], ["c"]),
        export(*([f"text {i}"] for i in range(label_studio.MOST + 1))),
        export(["Gull"], ["Tern"])[:-1] + "," + export(["good"], ["bad"], control="light")[1:],
        '[{"a": 1}]',
        export(["Gull"], ["Tern"]).replace("Tern", r"\q"),
    ],
    ids=["one", "bars", "texts", "two things", "something else", "no JSON"],
)
def test_config_without_a_single_choice_set_has_no_choices(raw):
    assert label_studio.read_choices(raw) is None


def test_ground_truth_is_nobodys_answer():
    _, rows = said("answers", export(["Gull"], ["Tern"]))
    assert [(row.worker, row.response) for row in rows] == [("3", "Tern")]


def choice(control: str, label: str) -> dict[str, Any]:
    value = {"choices": [label]}
    return {"from_name": control, "to_name": "t", "type": "choices", "value": value}


def comment(text: str) -> dict[str, Any]:
    return {"from_name": "c", "to_name": "t", "type": "textarea", "value": {"text": [text]}}


def task(*annotations: dict[str, Any]) -> str:
    return json.dumps([{"id": 1, "data": {"id": "q1"}, "annotations": annotations}])


def test_the_only_control_for_choices_is_the_label_beside_comments():
    annotation = {"completed_by": 3, "result": [comment("ok"), choice("bird", "yes")]}
    table = read_table(task(annotation), "f")
    (row,) = table.rows
    assert dict(zip(table.header, row[1], strict=True))["label"] == "yes"
    assert table.what == "JSON; the label is that of the control “bird”"


def test_several_choice_controls_make_no_label_column():
    result = [choice("bird", "yes"), choice("size", "big")]
    table = read_table(task({"completed_by": 3, "result": result}), "f")
    assert {"label bird", "label size"} < {*table.header}
    assert "label" not in table.header


def test_empty_and_cancelled_annotations_are_left_out_and_regions_are_faults():
    region = {"from_name": "l", "type": "labels", "value": {"start": 0, "labels": ["Bird"]}}
    skipped = {"completed_by": 5, "was_cancelled": True, "result": [choice("bird", "no")]}
    kept = {"completed_by": 6, "result": [choice("bird", "yes")]}
    table = read_table(task(kept, {"completed_by": 4, "result": []}, skipped), "f")
    assert len(list(table.rows)) == 1
    with pytest.raises(Refused, match="the type “labels” has parts or places"):
        read_table(task({"completed_by": 3, "result": [region]}), "f")


def test_labels_of_doccano_are_the_choices():
    tasks = [
        {"id": number, "text": f"Text {number}", "label": labels, "Comments": []}
        for number, labels in enumerate((["bad"], ["good"], ["bad", "good"]), 1)
    ]
    lines = "\n".join(json.dumps(task) for task in tasks)
    table = read_table(lines, "f")
    assert table.what == "JSON; as choices, the 2 labels that occur in it"
    first = dict(zip(table.header, next(table.rows)[1], strict=True))
    assert (first["choices"], first["kind"], first["label"]) == ("bad | good", "multiple", "bad")
    spans = json.dumps({"id": 1, "text": "Anna", "label": [[0, 4, "NAME"]]})
    assert read_table(spans, "f").what == "JSON"
