"""Settings; values come from the environment, see the table in README.md."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dotenv import load_dotenv
from redis import ConnectionError
from redis.backoff import NoBackoff
from redis.retry import Retry

from . import menu, single_sign_on
from .environment import Environment
from .sign_in import *  # noqa: F403
from .start import local_defaults
from .web import logs, security_headers

BASE_DIR = Path(__file__).resolve().parent.parent
# Templates, static files and documentation lie beside manage.py; in a wheel, in this package.
FILES = BASE_DIR if local_defaults.IS_CHECKOUT else BASE_DIR / "crowdselect"
load_dotenv(local_defaults.ENVIRONMENT_FILE, interpolate=False)  # into os.environ, for all modules
env = Environment()

DEBUG = env.flag("DEBUG", default=False)
SECRET_KEY = env("SECRET_KEY", default="") or local_defaults.secret_key()
# Earlier keys, which still verify and decrypt.
SECRET_KEY_FALLBACKS = env.names("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS")
# The address workers reach the server at: personal links start with it.
PUBLIC_URL = env.url_starting(
    "PUBLIC_URL", "http://127.0.0.1:8000", ["http://", "https://"]
).rstrip("/")
# The address that publications cite for the software.
CITATION_URL = env.url_starting("CITATION_URL", PUBLIC_URL, ["http://", "https://"]).rstrip("/")
DOCS_DIR = FILES / "docs"
HTTPS = PUBLIC_URL.startswith("https://")
# Addresses and networks of proxies that are trusted to report the client's address, the scheme and,
# if there is a header for it, the user.
TRUSTED_PROXIES = env.names("TRUSTED_PROXIES")

# Apps on top of the core, each of which can be left out.
APPS = ["past_answers", "mail"]
APPS_LEFT_OUT = env.choices("APPS_LEFT_OUT", APPS)
INSTALLED_APPS = [
    "unfold",
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
    *(f"crowdselect.{name}" for name in APPS if name not in APPS_LEFT_OUT),
]

MIDDLEWARE = [
    "crowdselect.web.logs.RequestLogMiddleware",
    "crowdselect.web.request_queue.Arrival",
    "crowdselect.web.security_headers.SecurityHeaders",
    "crowdselect.web.forwarded_headers.ForwardedHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "crowdselect.web.request_limits.DatabaseErrorsMiddleware",
    "crowdselect.web.request_limits.RequestLimitsMiddleware",
    "django.middleware.common.CommonMiddleware",
    "crowdselect.web.viewer_locale.ViewerLocaleMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "selection.audit.middleware.AuditMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
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
            "builtins": ["selection.template_filters"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
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
    local_defaults.VAR.mkdir(parents=True, exist_ok=True)
    local_defaults.keep_private(DATABASES["default"]["NAME"])
    # Readers continue during a write, and a writer waits for its turn instead of failing.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    options = DATABASES["default"].setdefault("OPTIONS", {})
    # A lock stops other processes for so long at most: a frozen process, or a person in psql, must
    # not block everything. A pooler refuses these options; the role has them then, which
    # selection.checks verifies.
    DATABASE_LIMITS = {"lock_timeout": "10s", "idle_in_transaction_session_timeout": "5min"}
    DATABASE_POOLED = env.flag("DATABASE_POOLED")
    if not DATABASE_POOLED:
        limits = " ".join(f"-c {name}={value}" for name, value in DATABASE_LIMITS.items())
        options.setdefault("options", limits)
    # A pooled connection may be another one in each transaction: it keeps no cursor and no plan.
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = DATABASE_POOLED
    # Connections to an unreachable host are given up, and made anew: the system's own timeout is a
    # quarter of an hour. (tcp_user_timeout is in milliseconds.)
    silence = {"connect_timeout": 5, "tcp_user_timeout": 20_000, "keepalives_idle": 20}
    # Executions of a statement of selection.db.prepared_statements before its plan is kept.
    threshold = None if DATABASE_POOLED else 5
    for name, value in (silence | {"prepare_threshold": threshold}).items():
        options.setdefault(name, value)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- Redis: carries messages and short-lived keys only; it may be emptied at any moment

REDIS_URL = env.url_starting("REDIS_URL", "", ["redis://", "rediss://", "unix://"])
EMBEDDED_REDIS = not REDIS_URL
if EMBEDDED_REDIS:
    REDIS_URL = f"unix://{local_defaults.redis_socket()}"
REDIS_SECONDS = 1.0  # timeout of a page
CACHES = {
    "default": {
        "BACKEND": "crowdselect.cache.Cache",
        "LOCATION": REDIS_URL,
        # Workers do not wait long for an unreachable Redis. A broken connection is retried once,
        # because the first command after a restart finds one; a timeout is not.
        "OPTIONS": {
            "socket_timeout": REDIS_SECONDS,
            "socket_connect_timeout": REDIS_SECONDS,
            "retry": Retry(NoBackoff(), 1, (ConnectionError,)),
        },
    }
}

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
# A process that took more memory, for example for a very large pool, is replaced (in kB).
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 600_000
# Forecasts (and large files) and webhooks have queues of their own, so that a run's next step never
# waits behind one. A Celery worker without -Q serves all queues.
CELERY_TASK_QUEUES: dict[str, Any] = {
    "celery": {},
    "forecasts": {},
    "webhooks": {},
    "models": {},
    "jobs": {},
}
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {
    "selection.tasks.forecast_run": {"queue": "forecasts"},
    "selection.tasks.deliver": {"queue": "webhooks"},
    "selection.tasks.call_models": {"queue": "models"},
    "selection.tasks.exchange": {"queue": "webhooks"},
    "selection.tasks.poll_tool": {"queue": "webhooks"},
    "crowdselect.mail.tasks.send_mail": {"queue": "webhooks"},
    "selection.tasks.work_on_job": {"queue": "jobs"},
    "selection.tasks.work_on_long_job": {"queue": "forecasts"},
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
# A Celery worker that is told to end waits so long for its current tasks.
WORKER_ENDS_SECONDS = env.number("WORKER_ENDS_SECONDS", default=30.0)
SWEEP_SECONDS = env.number("SWEEP_SECONDS", default=30.0, least=1)
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "selection.tasks.sweep", "schedule": SWEEP_SECONDS},
    "retain": {"task": "selection.tasks.retain", "schedule": timedelta(hours=6)},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(local_defaults.VAR / "celerybeat-schedule")
# Answers that arrive within this time are counted in one step.
ADVANCE_DELAY_SECONDS = env.number("ADVANCE_DELAY_SECONDS", default=0.5)

# -- rate limits a minute; 0 for no limit. Counted in Redis, and not enforced while that is away

API_REQUESTS_PER_MINUTE = env.number("API_REQUESTS_PER_MINUTE", default=30_000)  # of a token
API_FAILURES_PER_MINUTE = env.number("API_FAILURES_PER_MINUTE", default=60)  # of an address
# A process looks a token up in the database once in so many seconds: a revoked token may work for
# so long.
TOKEN_SECONDS = env.number("TOKEN_SECONDS", default=1.0)
LINK_REQUESTS_PER_MINUTE = env.number("LINK_REQUESTS_PER_MINUTE", default=300)  # of a worker's link
LINK_FAILURES_PER_MINUTE = env.number("LINK_FAILURES_PER_MINUTE", default=60)  # of an address

# -- monitoring: the bearer token for /metrics, which does not exist while this is empty

METRICS_TOKEN = env("METRICS_TOKEN", default="")

# -- retention in days; 0: unlimited. docs/personal-data.md

PERSONAL_DATA_DAYS = env.number("PERSONAL_DATA_DAYS", default=0)  # workers' identity, after the end
AUDIT_ADDRESS_DAYS = env.number("AUDIT_ADDRESS_DAYS", default=0)  # addresses in the audit log
RESPONSES_DAYS = env.number("RESPONSES_DAYS", default=0)  # workers' responses, after the run's end
# Allow webhooks to this machine, to its network, and by http.
WEBHOOKS_INSIDE = env.flag("WEBHOOKS_INSIDE", default=False)
# Allow model servers on this machine and in its network, and by http: Ollama, llama.cpp, vLLM.
MODELS_INSIDE = env.flag("MODELS_INSIDE", default=False)
# Allow connections to annotation tools on this machine and in its network, and by http.
CONNECTORS_INSIDE = env.flag("CONNECTORS_INSIDE", default=False)
# API keys of this machine's environment that teams may use, each only for addresses that begin with
# one: OPENAI_API_KEY=https://api.openai.com/ and further ones after commas.
MODEL_KEYS = env.pairs("MODEL_KEYS")

# -- e-mail: to the server's output until EMAIL_HOST names a mail server. docs/email.md

EMAIL_HOST = env("EMAIL_HOST", default="")
EMAIL_BACKEND = env(
    "EMAIL_BACKEND",
    default=f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend",
)
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", default=False)  # STARTTLS
EMAIL_USE_SSL = env.flag("EMAIL_USE_SSL", default=False)  # TLS from the first byte
_port = 465 if EMAIL_USE_SSL else 587 if EMAIL_USE_TLS else 25
EMAIL_PORT = env.number("EMAIL_PORT", default=_port, least=1)
EMAIL_HOST_USER = env("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env("EMAIL_HOST_PASSWORD", default="")
EMAIL_TIMEOUT = env.number("EMAIL_TIMEOUT", default=10, least=1)
DEFAULT_FROM_EMAIL = env(
    "DEFAULT_FROM_EMAIL", default=f"CrowdSelect <crowdselect@{urlsplit(PUBLIC_URL).hostname}>"
)
SERVER_EMAIL = DEFAULT_FROM_EMAIL

# Amazon Mechanical Turk: sites that may frame a run's page, and addresses to submit a task to.
MTURK_FRAMES = [
    "https://worker.mturk.com",
    "https://workersandbox.mturk.com",
    "https://requester.mturk.com",
    "https://requestersandbox.mturk.com",
    "https://www.mturk.com",
]
MTURK_SUBMITS_TO = ["https://www.mturk.com", "https://workersandbox.mturk.com"]

# -- sign-in: see also sign_in.py

ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
# Browsers support passkeys on https, and on localhost for trying them out.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS
SOCIALACCOUNT_ADAPTER = "selection.accounts.adapters.SingleSignOnAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": single_sign_on.read_providers(env)}}
# The team of users who first sign in by single sign-on; empty: no team.
NEW_LOGINS_TEAM = env("NEW_LOGINS_TEAM", default="")
NEW_LOGINS_ROLE = env("NEW_LOGINS_ROLE", default="viewer")
# Users who must have a second factor: "owners", "everybody", or none if empty.
SECOND_FACTOR = env("SECOND_FACTOR", default="")
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
# Browsers that came once by https use nothing else afterwards. Only a trusted proxy can report the
# scheme of a request; without one, crowdselect.web.forwarded_headers relies on PUBLIC_URL. The API
# is exempt, because its clients are not browsers.
SECURE_HSTS_SECONDS = env.number("HSTS_SECONDS", default=365 * 24 * 3600) if HTTPS else 0
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = ["^api/"]
# This program cannot know if subdomains have https as well, nor join a browser's preload list.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = security_headers.POLICY

LANGUAGE_CODE = "en-us"
# Languages of the worker's page; all other pages are in English.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("ar", "العربية")]
TIME_ZONE = env.time_zone("TIME_ZONE", default="UTC")
USE_TZ = True
FORMAT_MODULE_PATH = ["crowdselect.formats"]
# Plain words for texts of Django and django-unfold.
LOCALE_PATHS = [Path(__file__).parent / "locale"]

STATIC_URL = "static/"
STATICFILES_DIRS = [FILES / "static"]
VAR_DIR = local_defaults.VAR
SUPERVISOR = [
    str(BASE_DIR / "crowdselect" / "start" / "run_supervisor.py"),
    *("-c", str(BASE_DIR / "crowdselect" / "start" / "supervisord.conf")),
]
STATIC_ROOT = VAR_DIR / "static"
WHITENOISE_USE_FINDERS = env.flag("STATIC_FROM_PACKAGES", default=False)  # of manage.py launch
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# -- sizes: see selection.limits. In bytes of a whole request: forms with a file, from signed-in
# users; answers, logins and all other requests

MOST_FILE_MB = env.number("MOST_FILE_MB", default=50, least=1)
MOST_FILE_ROWS = env.number("MOST_FILE_ROWS", default=200_000, least=1)
MOST_UPLOADED = (MOST_FILE_MB + 1) * 1024 * 1024
MOST_FROM_STRANGERS = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = env.number("MOST_REQUEST_MB", default=20, least=1) * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 200
# Files are read whole, so they need not be written to a disk.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = MOST_UPLOADED


UNFOLD = menu.UNFOLD

# -- logs and error reports: docs/operations.md

LOGS_AS_JSON = env.choice("LOG_FORMAT", ["plain", "json"]) == "json"
LOGGING = logs.logging_configuration(LOGS_AS_JSON, env.choice("LOG_LEVEL", logs.LEVELS))
CELERY_WORKER_HIJACK_ROOT_LOGGER = not LOGS_AS_JSON
SENTRY_DSN = env("SENTRY_DSN", default="")
OPENTELEMETRY = env("OTEL_EXPORTER_OTLP_ENDPOINT", default="")
