"""The OpenID Connect providers that the environment names, as django-allauth takes them."""

from typing import Any

from .environment import Environment


def read_providers(env: Environment) -> list[dict[str, Any]]:
    """Read the providers named in ``OIDC``.

    ``OIDC=company`` comes with ``OIDC_COMPANY_NAME``, ``_SERVER``, ``_CLIENT``, ``_SECRET``,
    ``_DOMAINS`` and ``_CONFIRMED``; the checks report missing ones.
    """
    return [_read_provider(env, name.lower()) for name in env.names("OIDC")]


def _read_provider(env: Environment, name: str) -> dict[str, Any]:
    prefix = f"OIDC_{name.upper().replace('-', '_')}_"
    return {
        "provider_id": name,
        "name": env(f"{prefix}NAME", default=name.capitalize()),
        "client_id": env(f"{prefix}CLIENT", default=""),
        "secret": env(f"{prefix}SECRET", default=""),
        "settings": {
            "server_url": env(f"{prefix}SERVER", default="").rstrip("/"),
            "domains": [domain.lower() for domain in env.names(f"{prefix}DOMAINS")],
            # Some providers do not mark addresses as confirmed, because all of them are.
            "verified_email": env.flag(f"{prefix}CONFIRMED", default=False),
            "oauth_pkce_enabled": True,
        },
    }
