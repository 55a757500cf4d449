"""The shipped model of `qu: history` anew, after a change of the embedded model, knowledge base or conversations.

    .venv/bin/python scripts/recipes/history.py [--output FOLDER]

Annotates the embedded train and dev parts with all sources and trains on them; needs the extra neural, takes seconds.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path

from convinse.config import load_config, resolve
from convinse.question_understanding.trained_history import SHIPPED, TrainedHistory
from convinse.records.evidence import SOURCES
from convinse.support.errors import ConvinseError
from convinse.training.distant_supervision import annotate
from convinse.training.history import train_history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--output", type=Path, default=resolve(SHIPPED), metavar="FOLDER", help="(default: %(default)s)"
    )
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("convinse").setLevel(logging.INFO)
    with tempfile.TemporaryDirectory(prefix="convinse-") as folder:
        config = load_config(
            "lexical.yml",
            qu="history",
            output_path=folder,
            ers_cache_path=f"{folder}/cache",
            qu_training={"output": str(options.output)},
            device="cpu",
        )
        try:
            annotate(config, SOURCES, ("train", "dev"))
            train_history(TrainedHistory(config))
        except ConvinseError as error:
            raise SystemExit(f"train_history: {error}") from None


if __name__ == "__main__":
    main()
