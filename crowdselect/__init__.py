"""The project: settings, URLs and the Celery application."""

import os

from .celery import app as celery_app

# Read when numpy is loaded, which comes later. The core's matrices are small: on two busy cores a
# second thread of the linear algebra made a simulated run of `credible` twenty times dearer.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["celery_app"]
