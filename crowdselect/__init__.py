"""The project: settings, URLs and the Celery application."""

import gc
import os

# Before the modules are loaded: with Python's own 700, a tenth of each start went to collections
# that found nothing, because modules stay.
gc.set_threshold(10_000, 10, 10)

from .celery import app as celery_app  # noqa: E402

# Read when numpy is loaded, which comes later. The core's matrices are small: on two busy cores a
# second thread of the linear algebra made a simulated run of `credible` twenty times dearer.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["celery_app"]
