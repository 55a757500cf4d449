"""Alias of `convinse.integrations` for a version."""

from .. import integrations

__path__ = integrations.__path__
