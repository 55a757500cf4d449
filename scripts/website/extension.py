"""The Sphinx extension of the site: its directives, the list of pages, and files of the repository on it.

`docs/index.md` is the one list of pages: under each of its headings, the links to pages become an entry of the site's navigation.
A page that is in no list fails the strict build.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import convinse
from convinse.cli import build_parser
from convinse.config import Config

from . import command_reference, measured_tables, settings_reference

_BLOCKS = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_WHOLE = re.compile(r"<!-- the site shows (\S+) here -->")
_LISTED = re.compile(r"^[-|].*?\]\((\w[\w/-]*)\.md\)", re.MULTILINE)
# pages of the site that stand for files of the repository
_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}


class Commands(SphinxDirective):
    """`{commands}`: its body names commands, a line each; those below a group come with it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A section for each command."""
        known = dict(command_reference.parsers(build_parser()))
        wanted = [line for line in self.content if line.strip()]
        if unknown := [name for name in wanted if name not in known]:
            raise self.error(f"no such command: {', '.join(unknown)}")
        sections: list[nodes.Node] = []
        for name, parser in known.items():
            if not any(name == word or name.startswith(f"{word} ") for word in wanted):
                continue
            section = nodes.section(ids=[nodes.make_id(f"command {name}")], names=[f"command {name}"])
            section += nodes.title(name, "", nodes.literal(text=name))
            section += self.parse_text_to_nodes(command_reference.markdown(name, parser))
            sections.append(section)
        return sections


class ConfigurationKeys(SphinxDirective):
    """`{configuration-keys}`: its body names keys of the configuration, a line each; keys below one come with it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """An entry for each key."""
        wanted = [line for line in self.content if line.strip()]
        try:
            known = list(settings_reference.keys(Config))
        except LookupError as error:
            raise self.error(str(error)) from None
        if unknown := set(wanted) - {key.name for key in known}:
            raise self.error(f"no such key: {', '.join(sorted(unknown))}")
        texts = [settings_reference.markdown(key) for name in wanted for key in known if key.name.split(".")[0] == name]
        return [*self.parse_text_to_nodes("\n".join(texts))]


class Figures(SphinxDirective):
    """`{figures} NAME [PART ...]`: the tables of docs/figures/NAME.json, of all its parts or of those that are named.

    Its option `arguments` is what `docs --measure` gives the bench besides.
    """

    required_arguments = 1
    optional_arguments = 9
    option_spec = {"arguments": directives.unchanged}  # docutils reads it from the class

    def run(self) -> list[nodes.Node]:
        """The tables, each behind its title and before what it depends on."""
        name, *parts = self.arguments
        path = Path(self.env.srcdir) / "figures" / f"{name}.json"
        self.env.note_dependency(path)
        try:
            text = measured_tables.markdown(path, name, parts)
        except LookupError as error:
            raise self.error(str(error)) from None
        return [*self.parse_text_to_nodes(text)]


def for_the_site(docs: Path, name: str, text: str) -> str:
    """A page as the site reads it: whole files of the repository in their places, links out of docs/ led to where they go.

    `name` is that of the page, without its suffix.
    """
    folder = PurePosixPath(name).parent
    if whole := _WHOLE.search(text):
        source = PurePosixPath(os.path.normpath(folder / whole[1]))
        text = (docs / source).read_text(encoding="utf-8")
        text = _links(text, lambda target: os.path.relpath(source.parent / target, folder))
    text = _links(text, lambda target: _on_the_site(target, folder), leave=_downloaded)
    return text + _navigation(text) if name == "index" else text


def _links(text: str, change: Callable[[str], str], leave: Callable[[str, str], str] | None = None) -> str:
    """A text with the targets of its relative links changed; code blocks stay as they are."""

    def linked(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        target = change(target)
        return leave(label, target) if leave and target.startswith("../") else f"[{label}]({target}{anchor})"

    parts = _BLOCKS.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(linked, part) for part in parts)


def _on_the_site(target: str, folder: PurePosixPath) -> str:
    """Where a link of a page in `folder` leads on the site; `../` is left where the target is no page."""
    path = os.path.normpath(folder / target)
    if not path.startswith("../"):
        return target
    inside = path.removeprefix("../")
    page = inside.removeprefix("docs/") if inside.startswith("docs/") else _PAGES.get(inside)
    return os.path.relpath(page, folder) if page else target


def _downloaded(label: str, target: str) -> str:
    return f"{{download}}`{label.replace('`', '')} <{target}>`" if PurePosixPath(target).suffix else label


def _navigation(text: str) -> str:
    """A hidden list of pages for each heading of the start page that has links to pages; a page is in the first that names it."""
    trees, listed = [], set()
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        if title.startswith("What do you"):
            continue
        names = [name for name in dict.fromkeys(_LISTED.findall(body)) if name not in listed]
        listed.update(names)
        if names:
            trees.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title.strip()}\n\n" + "\n".join(names) + "\n```\n")
    return "".join(trees)


def setup(app: Sphinx) -> dict[str, bool | str]:
    """Add the directives, and what is done to each page before it is read."""
    for name, directive in {
        "commands": Commands, "configuration-keys": ConfigurationKeys, "figures": Figures,
    }.items():  # fmt: skip
        app.add_directive(name, directive)

    def read(app: Sphinx, name: str, content: list[str]) -> None:
        content[0] = for_the_site(Path(app.srcdir), name, content[0])

    app.connect("source-read", read)
    return {"version": convinse.__version__, "parallel_read_safe": True, "parallel_write_safe": True}
