"""What is measured of the algorithms: their promises, and the experiments of their papers."""

import os

# As in crowdselect/__init__.py: before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
