"""Settings of sign-in that do not depend on the environment: passwords, axes, django-allauth."""

from datetime import timedelta

AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "selection.accounts.RoleBackend"]
# So many failures with one name from one address cause a pause. They are counted in the database,
# so that they hold for all web servers and without Redis; and by address, because otherwise anybody
# could lock a colleague out.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = "selection.accounts.lockout.lockout_parameters"
AXES_SENSITIVE_PARAMETERS = ["code", "credential"]  # besides the password
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "locked.html"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
# Pages, single sign-on, second factors and passkeys are django-allauth's. Its rate limits are off,
# because they are counted in the cache; axes counts passwords and codes alike.
ACCOUNT_ADAPTER = "selection.accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {"login": "selection.accounts.forms.LoginForm"}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_PREVENT_ENUMERATION = False
ACCOUNT_RATE_LIMITS = False
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before a sign-in method changes
ACCOUNT_SESSION_REMEMBER = True
MFA_ADAPTER = "selection.accounts.adapters.FactorAdapter"
MFA_FORMS = {
    "authenticate": "selection.accounts.forms.AuthenticateForm",
    "reauthenticate": "selection.accounts.forms.ConfirmForm",
    "add_webauthn": "selection.accounts.forms.PasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RATE_LIMITS = False
MFA_TOTP_TOLERANCE = 1  # half a minute, for clocks that are not right
