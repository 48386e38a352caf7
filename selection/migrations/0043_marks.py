"""Keep the comparison under which the answers of runs in progress were graded."""

from django.db import migrations


def keep_comparison(apps, schema_editor):
    Run, Question = (apps.get_model("selection", name) for name in ("Run", "Question"))
    runs = Run.objects.filter(status__in=["running", "paused"])
    sets = {*runs.values_list("question_set", flat=True)}
    sets |= {pk for pk in runs.values_list("further__question_set", flat=True) if pk}
    asked = Question.objects.filter(question_set__in=sets)
    changed = [q for q in asked.only("grading").iterator() if _compares_texts(q.grading)]
    for question in changed:
        question.grading["marks"] = True
    Question.objects.bulk_update(changed, ["grading"], 1000)


def _compares_texts(grading):
    return not {"number", "marks", "spaces"} & {name for name, on in grading.items() if on}


def forget_comparison(apps, schema_editor):
    Question = apps.get_model("selection", "Question")
    changed = [q for q in Question.objects.only("grading").iterator() if "marks" in q.grading]
    for question in changed:
        del question.grading["marks"]
    Question.objects.bulk_update(changed, ["grading"], 1000)


class Migration(migrations.Migration):
    dependencies = [("selection", "0041_keep_no_shows")]
    operations = [migrations.RunPython(keep_comparison, forget_comparison)]
