"""Settings of django-unfold: the look of the requester's pages, and their menu."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy


def _link(title: str, icon: str, name: str, *parts: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": reverse_lazy(name, args=parts)}


def _list(title: str, icon: str, model: str, app: str = "selection") -> dict[str, Any]:
    """Link to the list of these objects, visible to users who may view them."""
    entry = _link(title, icon, f"admin:{app}_{model}_changelist")
    return entry | {"permission": lambda request: request.user.has_perm(f"{app}.view_{model}")}


def _group(title: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "items": items}


UNFOLD = {
    "SITE_TITLE": "CrowdSelect",
    "ACCOUNT": {"navigation": [{"title": "Your account", "link": reverse_lazy("mfa_index")}]},
    "SITE_HEADER": "CrowdSelect",
    "SITE_SYMBOL": "groups",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _: static("selection/icon.svg")}
    ],
    "STYLES": [lambda _: static("selection/admin.css")],
    "SCRIPTS": [lambda _: static("selection/pages.js")],
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "DASHBOARD_CALLBACK": "selection.admin.home.add_dashboard_context",
    # Teal; 600 carries white text, 500 is text on dark ground, so both are set for contrast.
    "COLORS": {
        "primary": {
            "50": "oklch(98.4% .014 180.72)",
            "100": "oklch(95.3% .051 180.801)",
            "200": "oklch(91% .096 180.426)",
            "300": "oklch(85.5% .138 181.071)",
            "400": "oklch(77.7% .152 181.912)",
            "500": "oklch(70.4% .14 182.503)",
            "600": "oklch(51.1% .096 186.391)",
            "700": "oklch(43.7% .078 188.216)",
            "800": "oklch(38.6% .063 188.416)",
            "900": "oklch(34% .055 188.6)",
            "950": "oklch(27.7% .046 192.524)",
        }
    },
    "SIDEBAR": {
        "navigation": [
            {
                "items": [
                    _link("Overview", "home", "admin:index"),
                    _list("Runs", "filter_alt", "run"),
                    _list("Watches", "visibility", "watch"),
                ]
            },
            _group(
                "Crowd",
                _list("Pools", "groups", "pool"),
            ),
            _group(
                "Gold questions",
                _list("Question sets", "quiz", "questionset"),
                _list("Practice questions", "school", "practice"),
            ),
            _group(
                "Access",
                _list("Connections", "cable", "connection"),
                _list("Teams", "diversity_3", "team"),
                _list("Users", "badge", "user", "auth"),
                _list("Audit log", "history", "auditentry"),
                _list("System", "monitor_heart", "heartbeat"),
                _link("Your account", "manage_accounts", "mfa_index"),
                _link("Documentation", "menu_book", "docs", "README"),
                _link("Terms", "help", "terms"),
            ),
            _group(
                "For programmers",
                _list("Workers", "person", "worker"),
                _list("Single questions", "help", "question"),
                _list("Answers", "fact_check", "answer"),
                _list("Model servers", "dns", "modelserver"),
                _list("API tokens", "key", "apitoken"),
                _list("Webhooks", "webhook", "webhook"),
                _link("API reference", "code", "api-1:openapi-view"),
            )
            | {"collapsible": True},
        ]
    },
}
