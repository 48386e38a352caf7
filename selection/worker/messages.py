"""Messages of the worker's page, in the worker's language."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

DAY = 24 * 3600
NOTICES = {
    "again": gettext_lazy("That question is answered already: your first answer to it counts."),
    "late": gettext_lazy("Too late: the time for that question was up. It counts as wrong."),
    "retired": gettext_lazy(
        "That question was withdrawn before your answer arrived. The answer was not saved."
    ),
    "ended": gettext_lazy("This test ended before your answer arrived. The answer was not saved."),
    "choices": gettext_lazy("That answer is not in the list. Please choose one."),
    "alone": gettext_lazy(
        "An answer such as “none of the above” cannot be combined with others. Please correct your "
        "choice."
    ),
    "order": gettext_lazy(
        "Each answer has one place, and each place one answer. Please put them in order."
    ),
    "number": gettext_lazy("That is not a number; it was not taken. Please give a number."),
    "date": gettext_lazy("That is not a date; it was not taken. Please give a date."),
    "time": gettext_lazy("That is not a time; it was not taken. Please give a time."),
    "empty": gettext_lazy("Please give an answer first (at most 10,000 characters)."),
    "heard": gettext_lazy(
        "Thank you, the people who ask the questions will see this. Please answer as well as you "
        "can: if they find the question broken, it does not count."
    ),
    "practice": gettext_lazy("That is not right. Read the instructions again, and try once more."),
    "wordless": gettext_lazy("Please describe the problem in at most 2,000 characters."),
}
# Notices of refused responses that the worker can correct.
REFUSED = ("choices", "alone", "order", "number", "date", "time", "empty")


def notice_text(name: str) -> str:
    """Write the notice; empty for an unknown name. "practice 2" adds that two tries are left."""
    name, _space, rest = name.partition(" ")
    text = str(NOTICES.get(name, ""))
    if not text or not rest.isdecimal() or len(rest) > 5:
        return text
    tries = ngettext("You have %(n)d try left.", "You have %(n)d tries left.", int(rest))
    return f"{text} {tries % {'n': int(rest)}}"


def time_left(seconds: int | None) -> str:
    """Word the time left; empty without a deadline."""
    if seconds is None:
        return ""
    if seconds >= 2 * DAY:
        days = seconds // DAY
        return ngettext("%(n)d day left to answer", "%(n)d days left to answer", days) % {"n": days}
    if seconds >= 2 * 3600:
        hours = seconds // 3600
        text = ngettext("%(n)d hour left to answer", "%(n)d hours left to answer", hours)
        return text % {"n": hours}
    if seconds >= 2 * 60:
        minutes = seconds // 60
        text = ngettext("%(n)d minute left to answer", "%(n)d minutes left to answer", minutes)
        return text % {"n": minutes}
    return _("Less than 2 minutes left to answer")
