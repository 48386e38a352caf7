"""Signing in, for tests: people with passwords, their browsers, and their authenticator apps."""

import base64
import hashlib
import hmac
import re
import struct
import time

from django.contrib.auth.models import User
from django.test import Client

PASSWORD = "a long and right one"
LOGIN, ACCOUNT = "/admin/login/", "/admin/account/"


def person(name: str = "ada", **fields: object) -> User:
    """A superuser, unless said otherwise."""
    return User.objects.create_user(
        name, password=PASSWORD, **{"is_staff": True, "is_superuser": True} | fields
    )


def sign_in(client: Client, name: str = "ada", password: str = PASSWORD):
    return client.post(LOGIN, {"username": name, "password": password})


def browser(name: str = "ada", address: str = "192.0.2.1") -> Client:
    """One in which they have typed their password."""
    client = Client(REMOTE_ADDR=address)
    sign_in(client, name)
    return client


def inside(client: Client) -> bool:
    """Tell if the browser is signed in."""
    return client.get("/admin/").status_code == 200


def code(secret: str, steps: int = 0) -> str:
    """The code of the app, half minutes from now (RFC 6238)."""
    counter = struct.pack(">Q", int(time.time()) // 30 + steps)
    mac = hmac.new(base64.b32decode(secret), counter, hashlib.sha1).digest()
    at = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[at : at + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def confirm(client: Client):
    return client.post(f"{ACCOUNT}confirm/", {"password": PASSWORD})


def add_app(client: Client) -> str:
    """Add an authenticator app to the signed-in user; return its secret."""
    confirm(client)
    page = client.get(f"{ACCOUNT}app/").content.decode()
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page)[1]
    added = client.post(f"{ACCOUNT}app/", {"code": code(secret, -1)})  # values used up by it
    assert added.status_code == 302, added.content.decode()
    return secret


def recovery_codes(client: Client) -> list[str]:
    page = client.get(f"{ACCOUNT}codes/").content.decode()
    return re.search(r"<pre[^>]*>(.*?)</pre>", page, re.S)[1].split()


def next_step(client: Client, given: str):
    """The second step of signing in."""
    return client.post(f"{LOGIN}code/", {"code": given})
