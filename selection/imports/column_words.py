"""Names of columns in German, French and Spanish, as patterns.

They match folded names: without capitals, accents, spaces, hyphens, underscores and final dots.
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
    "(richtige|korrekte|wahre)antwort(en)?|losung(en)?|loesung(en)?|musterlosung|musterloesung|"
    "goldantwort|(bonne|juste|vraie)reponse|bonnesreponses|reponse(correcte|juste|attendue)|"
    "solution|corrige|(respuestas?)(correctas?|verdaderas?)|solucion(es)?"
)
# Names that may also mark an answer as right or wrong.
TRUE = (
    "correct|truth|true(answer|label)|expected|"
    "richtig|korrekt|wahrheit|correcte?|juste|verite|correct[ao]|verdad"
)
TEXT = "fragetext|fragentext|texte|textedelaquestion|enonce|texto|textodelapregunta|enunciado"
NUMBER = "id|nr|no|nummer|nummero|kennung|numero|identifiant|identificador|schlue?ssel|cle"
CHOICES = "auswahl|antwortmoglichkeiten|auswahlmoglichkeiten|optionen|choix|choixpossibles|opciones"

TOLERANCE = "tolerance|toleranz|abweichung|tolerancia"
MEDIA = {
    "image": "(image|bild|foto|imagen)(url)?",
    "audio": "(audio|ton|klang|son|sonido)(url)?",
    "video": "(video|film)(url)?",
    "alt": "alt|alternativtext|bildbeschreibung|textealternatif|textoalternativo",
}


def fold(column: str) -> str:
    bare = re.sub(r"[\s_-]", "", column).casefold().rstrip(".:?")
    decomposed = unicodedata.normalize("NFKD", bare)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
