"""One settings file; values come from the environment, see the table in README.md."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from dotenv import load_dotenv
from redis import ConnectionError
from redis.backoff import NoBackoff
from redis.retry import Retry

from . import menu, single_sign_on
from .environment import Environment
from .start import local_defaults
from .web import logs, security_headers

BASE_DIR = Path(__file__).resolve().parent.parent
# Templates and static files lie beside manage.py; in a wheel they lie in this package.
FILES = BASE_DIR if (BASE_DIR / "manage.py").exists() else BASE_DIR / "crowdselect"
load_dotenv(BASE_DIR / ".env", interpolate=False)  # into os.environ, which others read too
env = Environment()

DEBUG = env.flag("DEBUG", default=False)
SECRET_KEY = env("SECRET_KEY", default="") or local_defaults.secret_key()
# Earlier ones, which still open what was signed or sealed with them.
SECRET_KEY_FALLBACKS = env.names("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS")
# The address workers reach the server at: personal links start with it.
PUBLIC_URL = env.url_starting(
    "PUBLIC_URL", "http://127.0.0.1:8000", ["http://", "https://"]
).rstrip("/")
HTTPS = PUBLIC_URL.startswith("https://")
# Addresses and networks of the proxies that are believed when they say who asks, whether by https,
# and, if there is a header for it, as whom.
TRUSTED_PROXIES = env.names("TRUSTED_PROXIES")
USER_HEADER = env("USER_HEADER", default="").upper().replace("-", "_")
USER_HEADER = USER_HEADER and f"HTTP_{USER_HEADER}"

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.forms",
    "django.contrib.admin.apps.SimpleAdminConfig",  # crowdselect.urls looks for the pages
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "ninja",
    "axes",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "selection",
]

MIDDLEWARE = [
    "crowdselect.web.logs.RequestLogMiddleware",
    "crowdselect.web.arrival.Arrival",
    "crowdselect.web.security_headers.SecurityHeaders",
    "crowdselect.web.forwarded_headers.ForwardedHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "crowdselect.web.request_limits.DatabaseErrorsMiddleware",
    "crowdselect.web.request_limits.RequestLimitsMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "selection.audit.middleware.AuditMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "selection.accounts.proxy_login.ByProxy",
    "selection.accounts.second_factor.SecondFactor",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "crowdselect.urls"
WSGI_APPLICATION = "crowdselect.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# -- the database: SQLite in var/ until DATABASE_URL names a PostgreSQL

DATABASES = {
    "default": env.database(
        "DATABASE_URL", f"sqlite:///{local_defaults.VAR / 'crowdselect.sqlite3'}"
    )
}
DATABASES["default"]["CONN_MAX_AGE"] = env.number("CONN_MAX_AGE", default=60)
SQLITE = DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
if SQLITE:
    local_defaults.VAR.mkdir(exist_ok=True)
    local_defaults.keep_private(DATABASES["default"]["NAME"])
    # Readers go on while one writer writes, and a writer waits its turn instead of failing.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    # What one process holds stops the others for so long at most: one that is frozen, or a person
    # in psql, must not take everything with it.
    limits = {"lock_timeout": "10s", "idle_in_transaction_session_timeout": "5min"}
    options = DATABASES["default"].setdefault("OPTIONS", {})
    options.setdefault("options", " ".join(f"-c {name}={limits[name]}" for name in limits))
    # A host that fell silent is given up, and connected to anew: the system's own patience is a
    # quarter of an hour. (Milliseconds, where it says nothing of seconds.)
    silence = {"connect_timeout": 5, "tcp_user_timeout": 20_000, "keepalives_idle": 20}
    # How often a statement of selection.db.prepared_statements is sent before its plan is kept. A pool of
    # connections that mixes up what they keep needs ?prepare_threshold=None in DATABASE_URL.
    for name, value in (silence | {"prepare_threshold": 5}).items():
        options.setdefault(name, value)
    if options["prepare_threshold"] == "None":
        options["prepare_threshold"] = None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- Redis: carries messages and short-lived keys only; it may be emptied at any moment

REDIS_URL = env.url_starting("REDIS_URL", "", ["redis://", "rediss://", "unix://"])
EMBEDDED_REDIS = not REDIS_URL
if EMBEDDED_REDIS:
    REDIS_URL = f"unix://{local_defaults.redis_socket()}"
REDIS_SECONDS = 1.0  # that a page waits for it
CACHES = {
    "default": {
        "BACKEND": "crowdselect.cache.Cache",
        "LOCATION": REDIS_URL,
        # Nobody who answers waits long for a Redis that does not. Once more at once, because the
        # first to ask after a restart finds that its connection is gone; not where time was up.
        "OPTIONS": {
            "socket_timeout": REDIS_SECONDS,
            "socket_connect_timeout": REDIS_SECONDS,
            "retry": Retry(NoBackoff(), 1, (ConnectionError,)),
        },
    }
}

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_BACKEND = CELERY_BROKER_URL  # for the research only: no task of the app has a result
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
# A process that simulated a very large pool is replaced, with all the memory that it took (in kB).
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 600_000
# Forecasts (and large files) and webhooks have queues of their own, so that a run's next step never
# waits behind one. A worker that is told of no queue takes all.
CELERY_TASK_QUEUES: dict[str, Any] = {"celery": {}, "forecasts": {}, "webhooks": {}}
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {
    "selection.tasks.forecast": {"queue": "forecasts"},
    "selection.tasks.outlook": {"queue": "forecasts"},
    "selection.tasks.deliver": {"queue": "webhooks"},
    "selection.tasks.sort_upload": {"queue": "forecasts"},
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A message that a killed worker held comes back after this many seconds.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "socket_connect_timeout": 2.0,
    "socket_timeout": 5.0,
    "socket_keepalive": not EMBEDDED_REDIS,
    "health_check_interval": 10,
}
# A worker that is told to end waits so long for what it has begun.
WORKER_ENDS_SECONDS = env.number("WORKER_ENDS_SECONDS", default=30.0)
SWEEP_SECONDS = env.number("SWEEP_SECONDS", default=30.0, least=1)
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "selection.tasks.sweep", "schedule": SWEEP_SECONDS},
    "retain": {"task": "selection.tasks.retain", "schedule": timedelta(hours=6)},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(local_defaults.VAR / "celerybeat-schedule")
# Answers that come in within this time are taken in one step.
ADVANCE_DELAY_SECONDS = env.number("ADVANCE_DELAY_SECONDS", default=0.5)

# -- how often a minute; 0 for no limit. Counted in Redis, and not while that is away

API_REQUESTS_PER_MINUTE = env.number("API_REQUESTS_PER_MINUTE", default=30_000)  # with one token
API_FAILURES_PER_MINUTE = env.number("API_FAILURES_PER_MINUTE", default=60)  # from one address
# A process looks a token up in the database once in so many seconds: one that is revoked may open
# something for so long.
TOKEN_SECONDS = env.number("TOKEN_SECONDS", default=1.0)
LINK_REQUESTS_PER_MINUTE = env.number(
    "LINK_REQUESTS_PER_MINUTE", default=300
)  # with one worker's link
LINK_FAILURES_PER_MINUTE = env.number("LINK_FAILURES_PER_MINUTE", default=60)  # from one address

# -- whoever watches: /metrics is there for who sends this as a bearer token; empty: for nobody

METRICS_TOKEN = env("METRICS_TOKEN", default="")

# -- how long it is kept, in days; 0: for good. docs/personal-data.md

PERSONAL_DATA_DAYS = env.number(
    "PERSONAL_DATA_DAYS", default=0
)  # who workers are, after their runs
AUDIT_ADDRESS_DAYS = env.number("AUDIT_ADDRESS_DAYS", default=0)  # from where things were done
RESPONSES_DAYS = env.number("RESPONSES_DAYS", default=0)  # what was answered, after the run's end
# Whether webhooks may go to this machine, to its network, and by http.
WEBHOOKS_INSIDE = env.flag("WEBHOOKS_INSIDE", default=False)

# Amazon Mechanical Turk: whose pages may show a run's in a frame, and where a task is handed in.
MTURK_FRAMES = [
    "https://worker.mturk.com",
    "https://workersandbox.mturk.com",
    "https://requester.mturk.com",
    "https://requestersandbox.mturk.com",
    "https://www.mturk.com",
]
MTURK_SUBMITS_TO = ["https://www.mturk.com", "https://workersandbox.mturk.com"]

# -- people

AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "selection.accounts.RoleBackend",
]
# Whoever fails so often with one name from one address waits. It is counted in the database, so
# that it holds for all web servers and without Redis; for one address at a time, because otherwise
# anybody could shut a colleague out.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = "selection.accounts.lockout.lockout_parameters"
AXES_SENSITIVE_PARAMETERS = ["code", "credential"]  # besides the password
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "locked.html"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
# Pages, single sign-on, second factors and passkeys are django-allauth's. Its limits are off,
# because they are counted in the cache: axes counts passwords and codes alike.
ACCOUNT_ADAPTER = "selection.accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {"login": "selection.accounts.forms.LoginForm"}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_PREVENT_ENUMERATION = False
ACCOUNT_RATE_LIMITS = False
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before a way in changes
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
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
# Browsers know passkeys on https, and for trying out on localhost.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS
SOCIALACCOUNT_ADAPTER = "selection.accounts.adapters.SingleSignOnAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": single_sign_on.read_providers(env)}}
# Who comes by single sign-on or by a proxy for the first time: into this team, else into none.
NEW_LOGINS_TEAM = env("NEW_LOGINS_TEAM", default="")
NEW_LOGINS_ROLE = env("NEW_LOGINS_ROLE", default="viewer")
# Who has to have a second factor: "owners", "everybody", or nobody.
SECOND_FACTOR = env("SECOND_FACTOR", default="")
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
# Browsers that came once by https come back by nothing else. By what a request came only a trusted
# proxy can tell; without one crowdselect.web.forwarded_headers takes PUBLIC_URL's word. The API is no browser.
SECURE_HSTS_SECONDS = env.number("HSTS_SECONDS", default=365 * 24 * 3600) if HTTPS else 0
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = ["^api/"]
# Whether names below this one have https as well is not this program's to say, nor is a browser's
# list of such names.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = security_headers.POLICY

LANGUAGE_CODE = "en-us"
# Of the worker's page; everything else is in English.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("ar", "العربية")]
TIME_ZONE = env.time_zone("TIME_ZONE", default="UTC")
USE_TZ = True
FORMAT_MODULE_PATH = ["crowdselect.formats"]

STATIC_URL = "static/"
STATICFILES_DIRS = [FILES / "static"]
VAR_DIR = local_defaults.VAR
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# -- what is taken in: see selection.limits. In bytes of a whole request: a file in its form, from
# those who are signed in; answers, logins and everything else from all others

MOST_FILE_MB = env.number("MOST_FILE_MB", default=50, least=1)
MOST_FILE_ROWS = env.number("MOST_FILE_ROWS", default=200_000, least=1)
MOST_UPLOADED = (MOST_FILE_MB + 1) * 1024 * 1024
MOST_FROM_STRANGERS = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = env.number("MOST_REQUEST_MB", default=20, least=1) * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 200
# Files are read whole, so they need never lie on a disk.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = MOST_UPLOADED


UNFOLD = menu.UNFOLD

# -- what is logged, and who is told of errors: docs/operations.md

LOGS_AS_JSON = env.choice("LOG_FORMAT", ["plain", "json"]) == "json"
LOGGING = logs.logging_configuration(LOGS_AS_JSON, env.choice("LOG_LEVEL", logs.LEVELS))
CELERY_WORKER_HIJACK_ROOT_LOGGER = not LOGS_AS_JSON
SENTRY_DSN = env("SENTRY_DSN", default="")
OPENTELEMETRY = env("OTEL_EXPORTER_OTLP_ENDPOINT", default="")
