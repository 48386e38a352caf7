"""Measurements of the algorithms, and the experiments of their papers."""

import os

# Before numpy is loaded, as in crowdselect/__init__.py.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
