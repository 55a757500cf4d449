"""Configuration: YAML into one frozen, checked object."""

from .keys import Config, cache_path
from .loading import load_config, load_settings, parse_config, to_dict
from .places import SNAPSHOT, find_config, own_configurations, project_root, resolve
from .server_settings import EvsServer, HaLlm, LanguageModelSettings, Prices, QuLlm, ServerSettings
from .stage_settings import ClocqParams, EvsCascade, HaSeq2Seq, QuHistory, QuSr
from .training_settings import (
    EvsTraining,
    FitSettings,
    HaTraining,
    QuTraining,
    ReaderTraining,
    RetrieverTraining,
    StageTraining,
)
from .value_types import Backend, Device, NotNegative, Positive, Precision, RankingLoss, Settings, Share, Weight
from .yaml_files import read_yaml

__all__ = [
    "Backend",
    "ClocqParams",
    "Config",
    "Device",
    "EvsCascade",
    "EvsServer",
    "EvsTraining",
    "FitSettings",
    "HaLlm",
    "HaSeq2Seq",
    "HaTraining",
    "LanguageModelSettings",
    "NotNegative",
    "Positive",
    "Precision",
    "Prices",
    "QuHistory",
    "QuLlm",
    "QuSr",
    "QuTraining",
    "RankingLoss",
    "ReaderTraining",
    "RetrieverTraining",
    "SNAPSHOT",
    "ServerSettings",
    "Settings",
    "Share",
    "StageTraining",
    "Weight",
    "cache_path",
    "find_config",
    "load_config",
    "load_settings",
    "own_configurations",
    "parse_config",
    "project_root",
    "read_yaml",
    "resolve",
    "to_dict",
]
