"""The OpenID Connect providers that the environment names, as django-allauth takes them."""

from typing import Any

from .environment import Environment


def read_providers(env: Environment) -> list[dict[str, Any]]:
    """``OIDC=company`` with ``OIDC_COMPANY_NAME``, ``_SERVER``, ``_CLIENT``, ``_SECRET``,
    ``_DOMAINS`` and ``_CONFIRMED``; what is missing is said by the checks.
    """
    return [_read_provider(env, name.lower()) for name in env.names("OIDC")]


def _read_provider(env: Environment, name: str) -> dict[str, Any]:
    own = f"OIDC_{name.upper().replace('-', '_')}_"
    return {
        "provider_id": name,
        "name": env(f"{own}NAME", default=name.capitalize()),
        "client_id": env(f"{own}CLIENT", default=""),
        "secret": env(f"{own}SECRET", default=""),
        "settings": {
            "server_url": env(f"{own}SERVER", default="").rstrip("/"),
            "domains": [domain.lower() for domain in env.names(f"{own}DOMAINS")],
            # Some providers do not say of an address whether it is confirmed, because all are.
            "verified_email": env.flag(f"{own}CONFIRMED", default=False),
            "oauth_pkce_enabled": True,
        },
    }
