"""The pages of the app, below the list of runs, and its entry on the overview."""

from selection import extensions

from .pages.pages import PAST_PAGES

extensions.RUN_PAGES.extend(PAST_PAGES)
extensions.PIECES["overview"].append(extensions.Piece("past_answers/overview.html"))
