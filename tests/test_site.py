"""The site builds strictly, holds all that is generated, and asks nothing of other places."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from convinse.cli import build_parser, main
from convinse.config import Config
from places import ROOT
from website import command_reference, settings_reference

for package in ("sphinx", "myst_parser", "furo"):
    pytest.importorskip(package)
pytestmark = pytest.mark.timeout(300)  # seconds; six on a quiet machine
_ASKED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


class Asked(HTMLParser):
    """What a browser asks for besides the page, and the names of its places."""

    def __init__(self, text):
        super().__init__()
        self.urls, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        if url := values.get(_ASKED.get(tag)):
            self.urls.append(url)


def test_the_site(tmp_path):
    """One test, for a site takes seconds to build, and tests are run in several processes."""
    site = tmp_path / "site"
    assert main(["docs", "--output", str(site), "--quiet"]) == 0  # a warning is an error there
    every_page_is_there_and_in_the_navigation(site)
    nothing_is_asked_of_other_places(site)
    the_references_hold_every_key_and_every_command(site)
    pages_of_the_repository_are_shown_whole(site)


def every_page_is_there_and_in_the_navigation(site):
    start = (site / "index.html").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert (site / name).is_file() and (f'href="{name}"' in start or name == "index.html")


def nothing_is_asked_of_other_places(site):
    outside = re.compile(r"(?:https?:)?//")
    pages = list(site.rglob("*.html"))
    urls = [(page, url) for page in pages for url in Asked(page.read_text(encoding="utf-8")).urls]
    assert len(urls) > 100 and not [found for found in urls if outside.match(found[1])]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles)
    missing = [url for page, url in urls if url != "#" and not (page.parent / url.partition("?")[0]).exists()]
    assert not missing  # a picture or a style that is not there is asked for in vain


def the_references_hold_every_key_and_every_command(site):
    keys = Asked((site / "configuration.html").read_text(encoding="utf-8")).ids
    assert not [key.name for key in settings_reference.keys(Config) if f"confval-{key.name}" not in keys]
    commands = Asked((site / "commands.html").read_text(encoding="utf-8")).ids
    names = [name for name, _ in command_reference.parsers(build_parser())]
    assert not [name for name in names if f"command-{name.replace(' ', '-')}" not in commands]


def pages_of_the_repository_are_shown_whole(site):
    assert "Vocabulary" in (site / "contributing.html").read_text(encoding="utf-8")
    changes = (site / "changelog.html").read_text(encoding="utf-8")
    assert "The first version." in changes
    assert 'href="speed.html"' in (site / "contributing.html").read_text(encoding="utf-8").split("<article")[1]


def test_a_broken_link_or_a_page_in_no_list_fails(tmp_path, capfd):
    pages = tmp_path / "docs"
    (pages / "style").mkdir(parents=True)
    (pages / "style/site.css").touch()
    (pages / "conf.py").write_text((ROOT / "docs/conf.py").read_text().replace("parents[1]", f"parents[0] / '{ROOT}'"))
    (pages / "index.md").write_text("# a\n\n## List\n\n- [b](b.md)\n")
    (pages / "b.md").write_text("# b\n\n[c](nowhere.md)\n")
    (pages / "c.md").write_text("# c\n")
    from convinse.cli.develop import _build_site

    assert _build_site(pages, tmp_path / "site") == 1
    told = capfd.readouterr().err
    assert "nowhere.md" in told and "c.md: WARNING: document isn't included in any toctree" in told


def test_links_lead_to_pages_of_the_site_where_there_are_some():
    from website.extension import for_the_site

    assert for_the_site(Path(), "page", "[a](../docs/b.md#c)") == "[a](b.md#c)"
    text = "[a](../README.md) [b](../CONTRIBUTING.md#rules) [c](../config/config.yml) [d](x.md#y) [e](https://z.org)\n"
    text += "```text\n[f](../README.md)\n```\n"
    assert for_the_site(Path(), "page", text) == (
        "[a](index.md) [b](contributing.md#rules) {download}`c <../config/config.yml>` [d](x.md#y) [e](https://z.org)\n"
        "```text\n[f](../README.md)\n```\n"
    )
