"""An earlier path of `read_lines`, which `convinse.formats.converters` has, too."""

from ..support.jsonlines import read_lines

__all__ = ["read_lines"]
