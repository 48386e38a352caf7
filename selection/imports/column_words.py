"""Names of columns in German, French and Spanish, as patterns.

They match folded names: without capitals, accents, spaces, hyphens, underscores and final dots.
"""

import re
import unicodedata

WORKER = (
    "kennung|bearbeiter(in|kennung|id)?|(be)?nutzer(kennung|id)?|"
    "mitarbeiter(id|nr|nummer)?|personal(id|nr|nummer)|teilnehmer(in|kennung|id)?|annotierer|"
    "travailleu(r|se)|idtravailleur|annotateur|identifiant|utilisateur|"
    "trabajadora?|id(del)?trabajador|anotador|usuario|identificador"
)
PARTICIPANT = "participante?"
NAME = "vollername|nom|nomcomplet|nombre|nombrecompleto"
EMAIL = (
    "email(address|adresse)?|mailadresse|adresse(e?mail|electronique)|courriel|"
    "correo(electronico)?|direcciondecorreo(electronico)?"
)
QUESTION_TEXT = "frage|aufgabe|tache|preguntas?|tarea"
QUESTION = f"{QUESTION_TEXT}|(frage|aufgabe)n?(id|nr|nummer)|id(question|tache|pregunta|tarea)"
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

WRONG = (
    "(incorrect|wrong|false)(answers?|options?|choices?)[1-9]?|incorrect[1-9]?|distractors?[1-9]?|foils?[1-9]?|"
    "falsche(antwort(en)?|auswahl)[1-9]?|distraktor(en)?[1-9]?|"
    "(mauvaises?|fausses?)reponses?[1-9]?|distracteurs?[1-9]?|"
    "respuestas?(incorrectas?|falsas?)[1-9]?|distractor(es)?[1-9]?|yanlis(cevap(lar)?|secenek)[1-9]?|"
    "celdiriciler"
)
# Text that belongs to the question beside its prompt.
CONTEXT = (
    "contexts?|passages?|paragraphs?|articles?|documents?|story|premise|background|excerpt|inputs?|"
    "(source|reading)(text|passage)?|body|dialog(ue)?|conversation|system(prompt|message)?|"
    "kontext|passage|absatz|textstelle|hintergrund|lesetext|eingabe|"
    "contexte|paragraphe|extrait|entree|contexto|pasaje|parrafo|fragmento|entrada|"
    "baglam|paragraf|metin|girdi"
)
# Columns and rows with means, ranks or running numbers beside the values.
SUMMARY = (
    "mean|average|avg|total|overall|sum|median|std(dev)?|variance|min|max|rank|count|n|"
    "(mean|average|avg|total|overall|final)(score|acc(uracy)?)|macro(avg)?|micro(avg)?|"
    "durchschnitt|mittel(wert)?|gesamt|summe|schnitt|moyenne|moy|somme|rang|ecarttype|"
    "media|promedio|suma|ortalama|toplam|index|rownames?|rownum(ber)?|nan"
)
# Columns about a visit or a computer rather than about the worker.
VISIT = (
    "((session|client|remote|user|worker|last|participant|device|source)?"
    "ip(v[46])?(address|adresse|addr|adresi)?|adresseip|direccionip|ipadresi)|"
    "(session|visit|sitzung|seance|sesion|oturum|visita|visite)s?"
    "(key|token|uuid|number|nr|kennung)?(id)?|(id(de)?)?(session|sesion|seance|visita|visite)|"
    "(submission|assignment|response|hit|study|task|batch|unit|tracking|device|cookie|browser)"
    "(u?id|token)|(http)?refer+er|(http)?useragent|browser(version|name|metainfo)?|fingerprint|"
    "(location)?(latitude|longitude|lat|lng|lon)|.*(start|finish|creat|submitt|complet)edat|"
    "timetaken|completion(code|time)|bonus(amount|es)?|approved|(start|end|recorded)date"
)

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
