"""`python -m convinse`."""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - a clone may be run by any Python
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit(f"convinse: needs Python 3.10 or newer, this is {version}; bash run.sh finds a newer one")

from .cli import main

sys.exit(main())
