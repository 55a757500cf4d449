"""Tests with Ray run in a process of their own, see `test_with_ray.py`."""

import os

from test_with_ray import HERE

collect_ignore_glob = [] if HERE in os.environ else ["test_ray_*.py"]
