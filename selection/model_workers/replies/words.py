"""Words around an answer, in the languages that models reply in.

English, German, French, Spanish, Portuguese and Italian; less completely Russian, Arabic, Chinese,
Japanese, Korean, Dutch, Polish and Turkish.
"""

import re
from collections.abc import Iterable


def join_words(*words: str) -> str:
    """Return a pattern of these words, longest first; the words of a text are split at |."""
    known = {word for text in words for word in text.split("|")}
    return "(?:" + "|".join(map(_escape, sorted(known, key=lambda word: (-len(word), word)))) + ")"


def match_whole(*words: str) -> str:
    """Return the pattern of whole words."""
    return rf"(?<!\w){join_words(*words)}(?!\w)"


def _escape(word: str) -> str:
    return re.escape(word).replace(r"\ ", r"[ \t]+")


def read_table(rows: Iterable[str]) -> dict[str, str]:
    """Return the words of rows like “12 twelve zwölf” with the value before them."""
    return {word: row.split()[0] for row in rows for word in row.split()[1:]}


# Nouns that announce an answer by themselves: “the answer is”, “Antwort:”.
ANSWERS = (
    "answer|answers|ans|result|antwort|ergebnis|réponse|résultat|reponse|respuesta|resultado|"
    "resposta|risposta|risultato|antwoord|odpowiedź|cevap|yanıt|ответ|ответом"
)
# Nouns that also name any choice: “option A is London” announces nothing.
CHOICES = (
    "option|choice|alternative|letter|label|category|class|classification|sentiment|verdict|"
    "prediction|selection|solution|conclusion|rating|score|grade|output|decision|value|judgment|"
    "judgement|pick|wahl|auswahl|lösung|bewertung|kategorie|urteil|choix|note|opción|opcion|"
    "alternativa|solución|opção|gabarito|opzione|scelta|soluzione|variante|optie|seçenek|вариант|"
    "решение|выбор|оценка"
)
# The same nouns in scripts without spaces or with prefixes: the text around them has no gaps.
ANSWERS_JOINED = (
    "答案|正解|答え|回答|解答|正确选项|正確選項|正确的选项|正确答案|结论|결론|정답|답변|الإجابة|"
    "الاجابة|الجواب|إجابة|جواب"
)
CHOICES_JOINED = "选项|選択肢|الخيار|الاختيار|النتيجة"
QUALITIES = (
    "correct|right|best|final|true|chosen|selected|appropriate|suitable|accurate|likely|my|"
    "richtige|korrekte|beste|meine|passende|bonne|correcte|correcto|correcta|correta|corretta|"
    "giusta|juiste|doğru|правильный|верный|правильное|الصحيح|الصحيحة"
)
COPULAS = (
    "is|are|would be|should be|must be|will be|seems to be|appears to be|seems|ist|wäre|lautet|"
    "sind|scheint|est|serait|es|sería|é|seria|è|sarebbe|jest|это|является|هي|هو|هی"
)
COPULAS_JOINED = "应该是|应当是|應該是|是|为|為|は|은|는"
HEDGES = (
    "therefore|thus|hence|clearly|definitely|certainly|most likely|probably|likely|indeed|simply|"
    "obviously|actually|the|option|choice|letter|answer|number|alternative|label|category|only|"
    "eindeutig|wahrscheinlich|somit|daher|also|die|der|das|antwort|la|le|el|il|l'|lettre|letra|"
    "opción|opcion|opção|alternativa|opzione|réponse|respuesta|resposta|risposta|вариант|буква|"
    "ответ|probablement|probablemente|provavelmente|вероятно|الخيار|选项|選択肢|选|the correct|"
    "to be|"
    "buchstabe|lettera|de|seçenek"
)
FINAL = (
    "final|therefore|thus|hence|so|in conclusion|conclude|overall|endgültige|endgültig|daher|somit|"
    "folglich|also|finale|donc|por lo tanto|entonces|portanto|quindi|dunque|окончательный|итак|"
    "поэтому|следовательно|إذن|لذلك|النهائية"
)
FINAL_JOINED = "最终|最終|因此|所以|综上|故|よって|したがって|따라서"
LABELS = "correct|selected|response|final|chosen|best|richtig|correcta|corretta|верно"
OPENERS = (
    "so|thus|therefore|hence|∴|hmm|sure|okay|ok|definitely|probably|certainly|also|daher|donc|"
    "entonces|portanto|quindi|итак|clearly|of course|that would be"
)
CHOOSING = (
    "i meant|i choose|i pick|i select|i'd choose|i'd pick|i'd say|i'd go with|i would choose|"
    "i would say|i would select|i would go with|i'll go with|i will go with|going with|we choose|"
    "my answer|i rate it|i rate this|i would rate it|i would rate this|i'd rate it|i'd rate this|"
    "ich wähle|ich würde sagen|ich tippe auf|je choisis|elijo|escojo|escolho|scelgo|выбираю"
)
CHOOSING_JOINED = "应选|应选择|故选|因此选|所以选|我选择|我选|选择|选|أختار"
# “B is correct”, after the choice.
PRAISE = (
    "correct|right|the correct answer|the right answer|the best answer|the answer|the correct one|"
    "the correct option|the correct choice|the right choice|the best choice|the best option|"
    "the most appropriate|richtig|korrekt|die richtige antwort|die korrekte antwort|correcte|"
    "la bonne réponse|la réponse correcte|correcta|correcto|la respuesta correcta|correta|"
    "a resposta correta|corretta|la risposta corretta|правильный ответ|верный ответ|doğru|juist|"
    "the final answer|my answer|my final answer"
)
PRAISE_JOINED = (
    "是正确的|是正確的|正确|是正确答案|是答案|が正しい|が正解|هو الصحيح|هي الصحيحة|"
    "هي الإجابة الصحيحة|هو الجواب الصحيح"
)
# Words before a statement that make it a doubt, a condition, or somebody else's.
DOUBTS = (
    "not|never|cannot|can't|don't|doesn't|isn't|wouldn't|no longer|without|neither|nicht|kein|"
    "keine|nie|ne|pas|nunca|não|non|не|нет|ليس|ليست|لا|might|could|may|tempting|tempted|initially|"
    "at first|first glance|first thought|someone|some people|many people|student|student's|user|"
    "user's|wrong|incorrect|false|falsch|falsche|mauvaise|incorrecta|incorreta|sbagliata|"
    "неправильный|неверный|previous|example|instead of|format|eliminate"
)
CONDITIONAL = "if|whether|unless|suppose|assume|assuming|wenn|falls|ob|angenommen|si|se|если|إذا"
DOUBTS_JOINED = "如果|若|不|别|未|不是|并非|错误|錯誤|不正确|不认为|誤り|間違い|もし|아니"
NEGATIONS = (
    "not|n't|never|no|isn't|aren't|wasn't|doesn't|cannot|can't|neither|nor|hardly|rather than|"
    "instead of|unlike|far from|anything but|except|nicht|kein|keine|weder|noch|statt|pas|ni|nunca|"
    "tampoco|não|nem|non|né|niet|geen|nie|değil|не|ни|нельзя|غير|ليس|ليست|لا|excluding|without|"
    "isnt|eliminate|rule out|ruled out|exclude|reject"
)
NEGATIONS_JOINED = "不是|并非|並非|而非|不属于|没有|不|非|未|無|无"
NEGATED_AFTER_JOINED = (
    "ではない|ではありません|ではなく|じゃない|でない|は誤り|は間違い|は不正解|不正确|不对|"
    "是错误的|是错的|错误|不正確|是不|가 아니|이 아니|은 아니|는 아니"
)
WRONG = (
    "not|n't|never|wrong|incorrect|false|ruled out|eliminated|excluded|out|unlikely|impossible|"
    "nicht|kein|keine|falsch|unrichtig|pas|fausse|faux|incorrecte|incorrecta|incorrecto|falsa|"
    "incorreta|errada|sbagliata|errata|неверно|неправильно|неправильный|неверный|خطأ|خاطئة|خاطئ|"
    "also wrong|yanlış|değil"
)
CONDITIONS = "for|if|unless|when|depending|assuming|provided|only if|wenn|falls|si|se|если|إذا|?"
NOTHING = (
    "none|neither|both|either|nothing|all of|not listed|not among|cannot be|can't be|unclear|"
    "unknown|ambiguous|between|keine|keiner|weder|beide|entweder|aucune|aucun|ninguna|ninguno|"
    "nenhuma|nessuna|nessuno|ни один|обе|оба"
)
CONNECTIVES = (
    "because|since|as|over|rather|instead|which|due|given|is|are|with|from|that|but|not|while|"
    "whereas|although|weil|da|denn|ist|aber|nicht|car|parce|puisque|est|mais|porque|ya|es|pues|"
    "perché|poiché|è|é|так|потому|поскольку|لأن|لأنه|لأنها|-|–|—|→|=|✓|✅|✔"
)
CONJUNCTIONS = "and|und|et|y|e|и|و|和|と|then|dann|およびと|plus|as well as"
ALTERNATIVES = "or|oder|ou|o|u|или|أو|或|或者|または|and/or"
CORRECTIONS = (
    "wait|oops|actually|correction|let me reconsider|let me correct|let me recheck|"
    "on second thought|scratch that|i made a mistake|my mistake|i was wrong|sorry|apologies|moment|"
    "korrektur|doch|rather|no,|nein,|non,|нет,|in fact|tatsächlich|en réalité|en realidad"
)
CORRECTIONS_JOINED = "等等|不对|更正|待って|いや"
POINTING = (
    "it is|it's|it must be|it was|that is|that's|that would be|this is|this would be|these are|"
    "es ist|das ist|c'est|es la|es el|sentiment is|label is|category is|rating is|score is|"
    "statement is|claim is|review is|text is|tone is|verdict is|i think|i believe|die aussage ist|"
    "die stimmung ist|é a|è la|это"
)
REFUSALS = (
    "i can't help|i cannot help|i can't assist|i cannot assist|i can't answer|i cannot answer|"
    "i can't provide|i cannot provide|i can't fulfill|i cannot fulfill|i can't comply|"
    "i cannot comply|i can't discuss|i won't be able|i'm unable to|i am unable to|i'm not able to|"
    "i am not able to|can't help with that|cannot help with that|as an ai|ich kann dabei nicht|"
    "dabei kann ich nicht|ich kann diese frage nicht|je ne peux pas|no puedo ayudar|"
    "não posso ajudar|non posso aiutar|я не могу помочь|لا أستطيع|لا يمكنني|我无法|我不能|"
    "お手伝いできません|"
    "お答えできません"
)
# Spoken for a choice “yes” or “no”, by their first word.
YES = (
    "yes|y|true|t|correct|yeah|yep|ja|wahr|richtig|stimmt|oui|vrai|sí|verdadero|cierto|sim|"
    "verdadeiro|vero|sì|da|да|верно|правда|نعم|صحيح|是|是的|对|對|真|はい|正しい|예|네|evet|doğru|"
    "tak"
)
NO = (
    "no|n|false|f|incorrect|nope|nein|falsch|unwahr|faux|falso|não|nao|нет|неверно|ложь|خطأ|لا|否|"
    "不|"
    "不是|错|錯|假|いいえ|誤り|아니요|아니오|hayır|yanlış|nie|nee|non"
)
# Choices that are also common words: mentioned only if they stand alone.
COMMON = (
    "no|yes|a|i|an|is|it|in|on|so|or|none|not|all|both|other|can|may|will|us|am|he|she|we|you|one|"
    "right|correct|true|false|ja|nein|die|der|das|oui|non|si|sí|le|la|y|o|e|да|нет|high|low|good|"
    "bad|more|less|same|first|second|left|up|down|new|old|some|any|most"
)
EXPLANATIONS = "explanation|reason|reasoning|because|note|erklärung|begründung|explication|nota"
RATINGS = (
    "score|rating|rate|rated|grade|stars|points|punkte|note|bewertung|sterne|puntuación|nota|评分|"
    "оценка|voto|valutazione|out of"
)
APPROXIMATELY = (
    "approximately|about|around|roughly|exactly|only|just|a total of|the number|the|etwa|ungefähr|"
    "rund|genau|circa|ca|environ|aproximadamente|около|примерно|حوالي|equal to|equals|a|an|um"
)
FIGURES = read_table(
    (
        "0 zero null cero zéro ноль صفر 零",
        "0.5 half halb hälfte moitié mitad metade metà половина نصف 一半 半分",
        "0.25 quarter viertel",
        "1 one eins ein une uno один واحد",
        "2 two zwei deux dos dois due два اثنان",
        "3 three drei trois tres três tre три ثلاثة",
        "4 four vier quatre cuatro quatro quattro четыре أربعة",
        "5 five fünf cinq cinco cinque пять خمسة",
        "6 six sechs seis sei шесть ستة",
        "7 seven sieben sept siete sete sette семь سبعة",
        "8 eight acht huit ocho oito otto восемь ثمانية",
        "9 nine neun neuf nueve nove девять تسعة",
        "10 ten zehn dix diez dez dieci десять عشرة",
        "11 eleven elf onze once undici",
        "12 twelve zwölf douze doce doze dodici dozen",
        "13 thirteen dreizehn treize trece",
        "14 fourteen vierzehn quatorze catorce",
        "15 fifteen fünfzehn quinze quince",
        "16 sixteen sechzehn seize",
        "17 seventeen siebzehn",
        "18 eighteen achtzehn",
        "19 nineteen neunzehn",
        "20 twenty zwanzig vingt veinte vinte venti",
        "30 thirty dreißig trente treinta trinta trenta",
        "40 forty vierzig quarante cuarenta quarenta quaranta",
        "50 fifty fünfzig cinquante cincuenta",
        "60 sixty sechzig soixante sesenta",
        "70 seventy siebzig setenta",
        "80 eighty achtzig ochenta",
        "90 ninety neunzig noventa",
        "100 hundred hundert cent cien cem cento sto сто مئة",
    )
)
SCALES = read_table(
    (
        "1000 thousand tausend mille mil mila тысяч тысячи тыс ألف 千 k",
        "10000 万 萬",
        "100000000 亿 億",
        "1000000 million millions millionen mio millón millones milhão milhões milioni milione "
        "миллион миллионов миллиона млн مليون",
        "1000000000 billion milliarde milliarden mrd milliard milliards bilhão bilhões miliardi bn "
        "миллиард миллиардов миллиарда млрд مليار",
        "1000000000000 trillion billionen",
        "12 dozen dutzend",
    )
)
# Fields of a JSON object that hold an answer, best first, without signs between words.
FIELDS = (
    "finalanswer|answer|correctanswer|correctoption|correctchoice|selectedoption|selectedanswer|"
    "selectedchoice|choice|option|label|selected|selection|response|result|prediction|category|"
    "class|classification|verdict|sentiment|letter|value|output|rating|score|answers|choices|"
    "labels|decision|antwort|réponse|respuesta|resposta|risposta|ответ|答案|回答|إجابة"
)
