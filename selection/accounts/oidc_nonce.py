"""OpenID Connect nonce: an ID token is valid only for the sign-in that requested it.

See OpenID Connect Core 1.0, 3.1.3.7. django-allauth sends and checks a state and PKCE, but no
nonce. Ours is derived from the state, which is in the session until the user comes back with it: an
ID token from another sign-in, or from another browser, has a different one.
"""

from typing import Any

from allauth.core.internal.httpkit import add_query_params
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.utils import get_request_param
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac


def oidc_nonce(state: str) -> str:
    return salted_hmac("selection.accounts.oidc_nonce", state, algorithm="sha256").hexdigest()


class NonceClient(OAuth2Client):
    def get_redirect_url(self, *args: Any, **kwargs: Any) -> str:
        url = super().get_redirect_url(*args, **kwargs)
        return str(add_query_params(url, {"nonce": oidc_nonce(self.state or "")}))


class NonceAdapter(OpenIDConnectOAuth2Adapter):
    client_class = NonceClient

    def complete_login(
        self, request: HttpRequest, app: Any, token: Any, *, response: dict[str, Any]
    ) -> Any:
        if not response.get("id_token"):
            raise OAuth2Error("There is no proof in what the provider sent.")
        return super().complete_login(request, app, token, response=response)

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        claims: dict[str, Any] = super()._decode_id_token(app, id_token)
        state = get_request_param(self.request, "state", "")
        if not constant_time_compare(str(claims.get("nonce", "")), oidc_nonce(state)):
            raise OAuth2Error("The proof is of another sign-in.")
        return claims
