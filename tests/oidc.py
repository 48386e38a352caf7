"""A provider of single sign-on for tests: a real server for people and for programs.

It vouches at once for every visitor, with ``claims``.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET, KID = "crowdselect", "a secret of the two", "the key"


class Provider(ThreadingHTTPServer):
    """``claims`` describe the visitor; ``out_of_order`` makes one place answer with 500."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.claims: dict[str, Any] = {}
        self.out_of_order = ""
        self.issuer = self.address
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: set[str] = set()
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *words: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, query: str) -> None:
        given = {name: words[0] for name, words in parse_qs(query).items()}
        place = urlsplit(self.path).path.rpartition("/")[2]
        self.server.asked.append(place)
        if place == self.server.out_of_order:
            self._send(500, {})
        else:
            getattr(self, place.replace("-", "_"))(given)

    def openid_configuration(self, given: dict[str, str]) -> None:
        at = self.server.address
        self._send(
            200,
            {
                "issuer": self.server.issuer,
                "authorization_endpoint": f"{at}/authorize",
                "token_endpoint": f"{at}/token",
                "userinfo_endpoint": f"{at}/userinfo",
                "jwks_uri": f"{at}/jwks",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            },
        )

    def authorize(self, given: dict[str, str]) -> None:
        """The person says yes, and goes back with a code that is good once."""
        assert given["client_id"] == CLIENT
        assert {"openid", "email"} <= set(given["scope"].split())
        code = secrets.token_urlsafe(8)
        self.server.codes[code] = given
        self.send_response(302)
        back = {"code": code, "state": given["state"]}
        self.send_header("Location", f"{given['redirect_uri']}?{urlencode(back)}")
        self.end_headers()

    def token(self, given: dict[str, str]) -> None:
        asked = self.server.codes.pop(given["code"], None)
        proof = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).decode().rstrip("=")
        if (
            asked is None
            or given["client_secret"] != SECRET
            or asked["redirect_uri"] != given["redirect_uri"]
            or asked["code_challenge"] != challenge
        ):
            self._send(400, {"error": "invalid_grant"})
            return
        access = secrets.token_urlsafe(8)
        self.server.tokens.add(access)
        now = int(time.time())
        said = {"iss": self.server.address, "aud": CLIENT, "iat": now, "exp": now + 60}
        signed = jwt.encode(
            said | self.server.claims, self.server.key, "RS256", headers={"kid": KID}
        )
        reply = {"access_token": access, "token_type": "Bearer", "id_token": signed}
        self._send(200, reply)

    def jwks(self, given: dict[str, str]) -> None:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.server.key.public_key()))
        self._send(200, {"keys": [public | {"kid": KID, "alg": "RS256", "use": "sig"}]})

    def userinfo(self, given: dict[str, str]) -> None:
        token = self.headers["Authorization"].removeprefix("Bearer ")
        known = token in self.server.tokens
        self._send(200 if known else 401, self.server.claims if known else {})

    def _send(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def providing() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def environment(server: Provider, **more: str) -> dict[str, str]:
    """The settings of CrowdSelect for this provider."""
    own = {
        "NAME": "Example Inc.",
        "SERVER": server.address,
        "CLIENT": CLIENT,
        "SECRET": SECRET,
        "DOMAINS": "example.org, example.com",
    } | more
    return {"OIDC": "company"} | {f"OIDC_COMPANY_{name}": value for name, value in own.items()}
