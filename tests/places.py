"""Where the tests find the checkout and the shared data."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SNAPSHOT = ROOT / "convinse" / "snapshot"
SNAPSHOT_SOURCES = ROOT / "scripts" / "recipes" / "snapshot"
DATA = Path(os.environ.get("CONVINSE_DATA") or ROOT.parent / "shared" / "data")
