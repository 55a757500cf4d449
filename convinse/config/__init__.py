"""Configuration: YAML into one frozen, checked object."""

from .keys import Config, cache_path
from .loading import check_settings, load_config, load_settings, parse_config, read_config, to_dict
from .places import LIVE, NO_KB, SNAPSHOT, find_config, own_configurations, project_root, resolve
from .server_settings import EvsServer, LanguageModelSettings, ServerSettings
from .stage_settings import ClocqParams
from .training_settings import EvsTraining, FitSettings, StageTraining
from .value_types import Backend, Device, Minutes, NotNegative, Positive, Precision, Share, Weight

__all__ = [
    "Backend",
    "ClocqParams",
    "Config",
    "Device",
    "EvsServer",
    "EvsTraining",
    "FitSettings",
    "LanguageModelSettings",
    "LIVE",
    "NO_KB",
    "Minutes",
    "NotNegative",
    "Positive",
    "Precision",
    "SNAPSHOT",
    "ServerSettings",
    "Share",
    "StageTraining",
    "Weight",
    "cache_path",
    "check_settings",
    "find_config",
    "load_config",
    "load_settings",
    "own_configurations",
    "parse_config",
    "project_root",
    "read_config",
    "resolve",
    "to_dict",
]
