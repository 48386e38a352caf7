"""Names of columns in German, French and Spanish, as patterns.

They match folded names: without capitals, accents, spaces, hyphens and underscores.
"""

import re
import unicodedata

WORKER = (
    "kennung|bearbeiter(in|kennung|id)?|(be)?nutzer(kennung|id)?|mitarbeiter(id)?|"
    "teilnehmer(in|kennung|id)?|annotierer|"
    "travailleu(r|se)|idtravailleur|annotateur|identifiant|utilisateur|"
    "trabajadora?|id(del)?trabajador|anotador|usuario|identificador"
)
PARTICIPANT = "participante?"
NAME = "vollername|nom|nomcomplet|nombre|nombrecompleto"
EMAIL = (
    "email(address|adresse)?|mailadresse|adresse(e?mail|electronique)|courriel|"
    "correo(electronico)?|direcciondecorreo(electronico)?"
)
QUESTION = (
    "frage(n?id|n?nummer|nr)?|aufgabe(nid|nnummer)?|idquestion|tache|idtache|"
    "preguntas?|idpregunta|tarea|idtarea"
)
RESPONSE = "antwort(en)?|gegebeneantwort|reponses?|reponsedonnee|respuestas?|respuestadada"
CORRECT = (
    "(richtige|korrekte)antwort(en)?|losung(en)?|loesung(en)?|musterlosung|"
    "(bonne|juste)reponse|bonnesreponses|reponse(correcte|juste|attendue)|solution|"
    "(respuestas?)correctas?|solucion(es)?"
)
TEXT = "fragetext|fragentext|texte|textedelaquestion|enonce|texto|textodelapregunta|enunciado"
NUMBER = "id|nr|no|nummer|nummero|kennung|numero|identifiant|identificador"
CHOICES = "auswahl|antwortmoglichkeiten|auswahlmoglichkeiten|optionen|choix|choixpossibles|opciones"


def fold(column: str) -> str:
    """Return the folded name of a column."""
    bare = re.sub(r"[\s_-]", "", column).casefold()
    decomposed = unicodedata.normalize("NFKD", bare)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
