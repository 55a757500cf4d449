from case_tables import each_case
from convinse.wikipedia.document import blocks, flatten, parse_html
from convinse.wikipedia.page import sentences
from places import SNAPSHOT_SOURCES
from wikipedia_html import anchors

PAGES = sorted((SNAPSHOT_SOURCES / "pages").glob("*.html"))


def split(html):
    return [snippet for block in blocks(parse_html(html)) for snippet in sentences(block)]


@each_case("html", "prose")
def test_prose_is_cut_at_sentence_ends(case):
    assert [snippet.text for snippet in split(f"<p>{case['prose']}</p>")] == case["sentences"]


def test_a_list_item_is_one_snippet_also_inside_another_and_an_empty_one_is_none():
    html = "<ul><li>First album. Sold well.</li><li> </li></ul><dl><dd>Indented. Twice.</dd></dl>"
    html += (
        "<ul><li>Albums<ul><li>Lionheart</li><li>Aerial<ol><li>Disc one</li></ol></li></ul></li><li>Singles</li></ul>"
    )
    expected = ["First album. Sold well.", "Indented. Twice.", "Albums", "Lionheart", "Aerial", "Disc one", "Singles"]
    assert [snippet.text for snippet in split(html)] == expected


def test_no_word_of_the_embedded_pages_is_lost_or_repeated():
    assert PAGES
    for page in PAGES:
        for block in blocks(parse_html(page.read_text(encoding="utf-8"))):
            if block.kind == "p":
                whole = flatten(block.node, "text", skip_nested=True)
                parts = list(sentences(block))
                assert " ".join(part.text for part in parts) == whole.text
                assert sum(len(part.links) for part in parts) == len(whole.links)


def test_typed_footnote_marks_are_cut_out_before_the_text_is_split():
    (first, second) = split('<p>One [1].[2] <a href="/wiki/Two">Two</a>[citation needed] came.</p>')
    assert (first.text, second.text) == ("One.", "Two came.")
    assert anchors(second) == [("Two", "Two")]
