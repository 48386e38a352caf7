"""Settings of django-unfold: the look of the requester's pages, and their menu."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy


def _menu_entry(title: str, icon: str, model: str) -> dict[str, Any]:
    """Return an entry of the sidebar, visible to users who may view these objects."""
    app, name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_changelist"),
        "permission": lambda request: request.user.has_perm(f"{app}.view_{name}"),
    }


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
    "SCRIPTS": [
        lambda _: static("selection/named.js"),
        lambda _: static("selection/regions.js"),
        lambda _: static("selection/local_time.js"),
        lambda _: static("selection/focus.js"),
        lambda _: static("selection/keyboard.js"),
    ],
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
                    {"title": "Overview", "icon": "home", "link": reverse_lazy("admin:index")},
                    _menu_entry("Runs", "filter_alt", "selection.run"),
                ]
            },
            {
                "title": "Crowd",
                "items": [
                    _menu_entry("Pools", "groups", "selection.pool"),
                    _menu_entry("Workers", "person", "selection.worker"),
                    _menu_entry("Model servers", "dns", "selection.modelserver"),
                ],
            },
            {
                "title": "Gold questions",
                "items": [
                    _menu_entry("Question sets", "quiz", "selection.questionset"),
                    _menu_entry("Questions", "help", "selection.question"),
                    _menu_entry("Practice questions", "school", "selection.practice"),
                ],
            },
            {
                "title": "Records",
                "items": [
                    _menu_entry("Answers", "fact_check", "selection.answer"),
                    _menu_entry("Audit log", "history", "selection.auditentry"),
                ],
            },
            {
                "title": "Access",
                "items": [
                    _menu_entry("API tokens", "key", "selection.apitoken"),
                    _menu_entry("Connections", "cable", "selection.connection"),
                    _menu_entry("Webhooks", "webhook", "selection.webhook"),
                    _menu_entry("Teams", "diversity_3", "selection.team"),
                    _menu_entry("Users", "badge", "auth.user"),
                    _menu_entry("System", "monitor_heart", "selection.heartbeat"),
                    {
                        "title": "Your account",
                        "icon": "manage_accounts",
                        "link": reverse_lazy("mfa_index"),
                    },
                    {
                        "title": "Documentation",
                        "icon": "menu_book",
                        "link": reverse_lazy("docs", args=["README"]),
                    },
                    {"title": "Terms", "icon": "help", "link": reverse_lazy("terms")},
                    {
                        "title": "API reference",
                        "icon": "code",
                        "link": reverse_lazy("api-1:openapi-view"),
                    },
                ],
            },
        ]
    },
}
