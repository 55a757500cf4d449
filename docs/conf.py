"""The settings of the site's generator, Sphinx; `bash run.sh docs` calls it."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT), str(_ROOT / "scripts")]

import convinse  # noqa: E402

project = "convinse"
author = "the convinse developers"
version = release = convinse.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "website.extension"]
exclude_patterns = ["figures"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

default_role = "code"  # docstrings have code between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
add_module_names = False
# types in signatures: many are on no page, and their names lead there where they are; links of the pages are checked
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_title = "convinse"
html_copy_source = False
html_static_path = ["style"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
templates_path: list[str] = []
