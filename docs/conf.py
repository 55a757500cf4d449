"""The settings of the site's generator, Sphinx; `bash run.sh docs` calls it."""

import re

from sphinx.application import Sphinx

import convinse

project = "convinse"
author = "the convinse developers"
version = release = convinse.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_external_toc"]
external_toc_path = "_toc.yml"
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

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "convinse"
html_copy_source = False
html_static_path = ["style"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
templates_path: list[str] = []

# pages of the repository that are not in docs/ are files to download on the site
_PAGE_OUTSIDE = re.compile(r"\[([^\]`]*)\]\((\.\./[^)#]*\.(?:md|ipynb))[^)]*\)")


def setup(app: Sphinx) -> None:
    """Change the links to pages outside of docs/ as each page is read."""

    def read(app: Sphinx, name: str, content: list[str]) -> None:
        content[0] = _PAGE_OUTSIDE.sub(r"{download}`\1 <\2>`", content[0])

    app.connect("source-read", read)
