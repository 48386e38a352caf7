"""Columns named in German, French and Spanish, with and without accents."""

import pytest

from selection.imports import platforms

from .readers.files import said


@pytest.mark.parametrize(
    ("header", "worker", "question", "response"),
    [
        ("Kennung;Frage;Antwort", "Kennung", "Frage", "Antwort"),
        ("Frage;Bearbeiter;Antwort", "Bearbeiter", "Frage", "Antwort"),
        ("travailleur;question;réponse", "travailleur", "question", "réponse"),
        ("Travailleur;Question;Reponse", "Travailleur", "Question", "Reponse"),
        ("trabajador;pregunta;respuesta", "trabajador", "pregunta", "respuesta"),
    ],
)
def test_a_file_of_answers(header, worker, question, response):
    plan, (row,) = said("answers", f"{header}\n" + ("A1;q1;ja" if header[0] != "F" else "q1;A1;ja"))
    assert plan.fields == {"worker": worker, "question": question, "response": response}
    assert (row.worker, row.question, row.response) == ("A1", "q1", "ja")


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        ("Nr;Frage;richtige Antwort", {"question": "Nr", "prompt": "Frage"}),
        ("Kennung;Frage;Lösung", {"question": "Kennung", "prompt": "Frage"}),
        ("Frage;Fragetext;Loesung", {"question": "Frage", "prompt": "Fragetext"}),
        ("Schlüssel;Frage;Antwort", {"question": "Schlüssel", "prompt": "Frage"}),
        ("Nr;Frage;Antwort", {"question": "Nr", "prompt": "Frage"}),
        ("Frage-Nr;Frage;Antwort", {"question": "Frage-Nr", "prompt": "Frage"}),
        ("numéro;question;bonne réponse", {"question": "numéro", "prompt": "question"}),
        ("Nr.;Frage;Richtig", {"question": "Nr.", "prompt": "Frage"}),
        ("no;Question;Bonne reponse", {"question": "no", "prompt": "Question"}),
        ("id;pregunta;respuesta correcta", {"question": "id", "prompt": "pregunta"}),
        ("id;pregunta;solución", {"question": "id", "prompt": "pregunta"}),
    ],
)
def test_a_file_of_gold_questions(header, fields):
    plan, (row,) = said("questions", f"{header}\n1;Ist das ein Vogel?;ja")
    assert not plan.missing_fields()
    assert plan.fields == fields | {"answer": header.split(";")[2]}
    assert (row.question, row.prompt, row.accepted) == ("1", "Ist das ein Vogel?", ["ja"])


def test_tolerance_and_picture_are_recognised():
    header = ["Nr.", "Frage", "Lösung", "Toleranz", "Bild", "Bildbeschreibung"]
    fields = platforms.recognise_columns("questions", header).fields
    assert fields == {
        "question": "Nr.",
        "prompt": "Frage",
        "answer": "Lösung",
        "tolerance": "Toleranz",
        "image": "Bild",
        "alt": "Bildbeschreibung",
    }


def test_the_choices_and_the_given_answer_are_told_apart():
    header = ["Nr", "Frage", "Antwort", "richtige Antwort", "Antwortmöglichkeiten"]
    fields = platforms.recognise_columns("questions", header).fields
    assert (fields["answer"], fields["choices"]) == ("richtige Antwort", "Antwortmöglichkeiten")


@pytest.mark.parametrize(
    "header",
    [
        "Bearbeiter;Name",
        "Kennung;Vorname",
        "travailleur;nom",
        "Identifiant;Pays",
        "Trabajador;País",
    ],
)
def test_a_list_of_workers(header):
    plan, (row,) = said("workers", f"{header}\nA1;Ada")
    assert plan.fields["worker"] == header.split(";")[0]
    assert row.worker == "A1"


def test_english_headers_are_read_as_before():
    plan = platforms.recognise_columns("questions", ["question", "answer"])
    assert plan.fields == {"prompt": "question", "answer": "answer"}
    plan = platforms.recognise_columns("questions", ["question", "prompt", "answer"])
    assert plan.fields == {"question": "question", "prompt": "prompt", "answer": "answer"}
