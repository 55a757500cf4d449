"""A grid of settings: the pipeline with every combination of them, over conversations that nothing is reported on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from .config import Config, SweepSettings, load_config, load_settings, parse_config, to_dict
from .experiment import run_experiment
from .identity import fingerprint
from .records.evidence import parse_sources
from .support.errors import ConfigError
from .support.files import replacing
from .support.workers import Crew

LOGGER = logging.getLogger(__name__)
_MOST_TRIALS = 1000


class SweepTrial(NamedTuple):
    """One combination of settings: the values that it tries, by key, and the configuration that has them."""

    values: dict[str, Any]
    config: Config


class Sweep(NamedTuple):
    """The settings of a sweep, checked, and its trials in the order of the grid, the last key varied first."""

    settings: SweepSettings
    trials: list[SweepTrial]


def read_sweep(path: str) -> Sweep:
    """Read and check the file of a sweep; all of its combinations are checked before any is run.

    Raises:
        ConfigError: as `load_config` does; the message names the combination. Or there are none, or too many.
    """
    settings = load_settings(SweepSettings, path)
    count = prod(map(len, settings.grid.values()))
    if not settings.grid or count > _MOST_TRIALS:
        raise ConfigError(f"{path}: grid: {count if settings.grid else 0} combinations; give 1 to {_MOST_TRIALS}")
    parse_sources(settings.sources, f"{path}: sources")
    base = to_dict(load_config(settings.config))
    parse_config({**base, "name": settings.name}, path)
    trials = []
    for values in product(*settings.grid.values()):
        tried = dict(zip(settings.grid, values, strict=True))
        config = parse_config(_changed(base, settings.name, tried, path), f"{path}: {_shown(tried)}")
        trials.append(SweepTrial(tried, config))
    return Sweep(settings, trials)


def run_sweep(
    sweep: Sweep, *, restart: bool = False, quiet: bool = False, crew: Crew | None = None
) -> tuple[list[tuple[SweepTrial, dict[str, Any]]], Path]:
    """Run the trials, one after another, or go on with them; the evidence cache keeps what they share.

    Args:
        sweep: see `read_sweep`.
        restart, quiet, crew: see `run_experiment`.

    Returns:
        The trials with their `metrics.json`, the best P@1 first, and the file `sweep.json` that has the same.
    """
    settings = sweep.settings
    tried = []
    for place, trial in enumerate(sweep.trials, 1):
        LOGGER.info("%d of %d: %s", place, len(sweep.trials), _shown(trial.values))
        outcome = run_experiment(
            trial.config, parse_sources(settings.sources), use_gold_answers=not settings.pred_answers, limit=settings.limit,
            restart=restart, quiet=quiet, part=settings.part, crew=crew,
        )  # fmt: skip
        tried.append((trial, outcome.metrics))
    tried.sort(key=lambda run: (-run[1]["p_at_1"], -run[1]["mrr"]))
    path = Path(sweep.trials[0].config.output_path) / "sweep.json"
    records = [{"settings": trial.values, "folder": trial.config.name, "metrics": metrics} for trial, metrics in tried]
    with replacing(path) as temporary:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(records), indent=2) + b"\n")
    return tried, path


def _changed(base: Mapping[str, Any], name: str, tried: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The configuration of a trial: its results lie in a folder of its own below that of the sweep."""
    data = {**base, "output_path": str(Path(base["output_path"]) / name), "name": f"trial-{fingerprint(tried)}"}
    for key, value in tried.items():
        if key in ("name", "output_path", "device"):
            raise ConfigError(f"{path}: grid: {key} makes no other results; leave it out")
        outer, _, inner = key.partition(".")
        if not inner:
            data[key] = value
        elif isinstance(data.get(outer), Mapping):
            data[outer] = {**data[outer], inner: value}
        else:
            raise ConfigError(f"{path}: grid: {key}: '{outer}' has no keys of its own")
    return data


def _shown(tried: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in tried.items())
