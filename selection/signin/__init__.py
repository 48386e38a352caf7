"""How people come in: a password, a passkey, a second factor, single sign-on, or a proxy's word."""
