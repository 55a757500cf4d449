"""The clients against a real MediaWiki: parse, query, redirects, links and search."""

import pytest

from convinse.config import load_config
from convinse.evidence_retrieval_scoring.wikipedia_retriever import WikipediaRetriever
from convinse.knowledge_base.wikidata_client import WikidataClient
from convinse.support.mediawiki import until
from convinse.wikipedia.api import MediaWikiApi
from real_mediawiki import real_mediawiki, reason_to_skip

pytestmark = pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip() or "a MediaWiki is there")


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with real_mediawiki(tmp_path_factory.mktemp("mediawiki")) as address:
        yield address


@pytest.fixture
def client(api, closed):
    return closed(WikidataClient(api, api))


@pytest.fixture
def articles(api, closed):
    return closed(MediaWikiApi(api, api))


def test_a_page_is_rendered_and_its_redirect_followed(articles):
    page = articles.page("Titanic (1997 film)", until(20))
    assert page.title == "Titanic (1997 film)" and "directed by" in page.html and page.revision > 0
    assert articles.page("Leo DiCaprio", until(20))[0:1] == ("Leonardo DiCaprio",)
    assert articles.page("Nowhere", until(20)) is None


@pytest.mark.parametrize("page", [None, "Titanic (1997 film)"])
def test_linked_titles_have_their_items(articles, page):
    titles = ["Leo DiCaprio", "james_Cameron", "Nowhere", *(f"Page {number}" for number in range(60))]
    items = {title: item for batch in articles.items_of(titles, until(20), page) for title, item in batch.items()}
    assert items["Leo DiCaprio"] == ("Q38111", "Leonardo DiCaprio")
    assert items["james_Cameron"][0] == "Q42574" and items["Nowhere"] is None


def test_titles_redirects_and_search_lead_to_items(client):
    assert dict(client.titled("Leo DiCaprio|titanic (1997 film)|Nowhere", until(20))) == {
        "Leo DiCaprio": "Q38111", "titanic (1997 film)": "Q44578",
    }  # fmt: skip
    assert client.search_pages("film director Canada", until(20)) == ["Q42574"]
    assert client.search_pages("nothing of the kind", until(20)) == []


def test_what_links_to_a_page(client, articles):
    assert client.subjects("James Cameron", until(20)) == []  # pages are not items here, but the answer has its form


def test_evidences_of_a_live_page(api, workdir):
    config = load_config(
        "live.yml", kb_path="snapshot:kb", ers_wikipedia_api=api, ers_wikidata_api=api, ers_use_cache=False
    )
    retriever = WikipediaRetriever(config, titles={"Q44578": "Titanic (1997 film)"}.get)
    evidences = retriever.retrieve_wp_evidences("Q44578")
    retriever.store_cache()
    assert {"text", "table"} <= {evidence["source"] for evidence in evidences}
    entities = {entity["id"] for evidence in evidences for entity in evidence["wikidata_entities"]}
    assert {"Q42574", "Q38111", "Q202765"} <= entities
    assert evidences[0]["origin"]["url"] == f"{api.removesuffix('/api.php')}/wiki/Titanic_%281997_film%29"
