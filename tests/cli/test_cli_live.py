import pytest

from live_world import live_world


@pytest.fixture
def wiki():
    with live_world() as server:
        server.pages = {"Titanic (1997 film)": '<p>The film was shot in <a href="/wiki/Rosarito">Rosarito</a>.</p>'}
        yield server


@pytest.fixture
def addresses(wiki):
    keys = (f"ers_wikidata_api={wiki.api}", f"ers_wikipedia_api={wiki.api}", "ers_cache_path=cache")
    return [word for key in keys for word in ("--set", key)]


def test_a_conversation_over_live_sources_is_cited_kept_and_grown(workdir, command, wiki, addresses, monkeypatch):
    lines = command("ask", "--live", *addresses, "Who directed Titanic?", "When was he born?")
    assert "1. James Cameron (Q42574)" in lines and "1. 16 August 1954" in lines
    assert f"(as of 2026-11-20, {wiki.api.removesuffix('/w/api.php')}/wiki/Q44578#P57)" in lines
    assert "parse" in wiki.actions() and len(wiki.requests) <= 8
    requests = len(wiki.requests)
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    again = command("ask", "--live", *addresses, "Who directed Titanic?", "When was he born?")
    assert [line for line in again.splitlines() if "not looked up" not in line] == lines.splitlines()
    assert len(wiki.requests) == requests
    assert "not looked up: " in command("ask", "--live", *addresses, "Who wrote The Hobbit?")
    assert "items" in command("kb", "grow", "grown", *addresses)
    grown = ("--set", "kb_path=grown", "--set", "ers_wikipedia_dump=null")
    assert "1. James Cameron (Q42574)" in command("ask", *grown, "Who directed Titanic?")
