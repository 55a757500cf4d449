"""`python -m convinse`."""

import sys

from .cli import main

sys.exit(main())
