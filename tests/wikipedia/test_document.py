import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.flatten import flatten
from convinse.wikipedia.snippets import Link, Snippet, clean
from wikipedia_html import HEADINGS, anchors


def flat(html, source="text"):
    """The first paragraph or cell of a page, flattened."""
    root = parse_html(f'<div class="mw-parser-output">{html}</div>')
    return flatten(root, source)


def read(html):
    """(kind, text, section) of the blocks of a page."""
    root = parse_html(f'<div class="mw-parser-output">{html}</div>')
    return [(kind, flatten(node, "text").text, section) for kind, node, section in blocks(root)]


_BLANK = st.sampled_from(["", " ", "\n", "  \t"])
_WORD = st.text(alphabet="abZ9é-.'", min_size=1, max_size=5)
_WORDS = st.lists(st.one_of(_WORD, st.sampled_from([",", "(", "&amp;"])), min_size=1, max_size=3)
_PLAIN = st.tuples(st.just("text"), _WORDS, _BLANK, _BLANK)
_LINKED = st.tuples(st.just("link"), st.lists(_WORD, min_size=1, max_size=3), _BLANK, _BLANK)
_PIECES = st.lists(st.one_of(_PLAIN, _LINKED), max_size=10)


def render(pieces):
    """The pieces as HTML and as bare text; links lead to Page_0, Page_1, ..."""
    html = bare = ""
    links = []
    for kind, words, before, after in pieces:
        inner = before + " \n".join(words) + after
        bare += inner
        if kind == "link":
            marked = f"{before}<i>{words[0]}</i>{''.join(' ' + word for word in words[1:])}{after}"
            html += f'<a href="/wiki/Page_{len(links)}" title="x">{marked}</a>'
            links.append((" ".join(words), f"Page {len(links)}"))
        else:
            html += f"<b>{inner}</b>"
    return html, " ".join(bare.replace("&amp;", "&").split()), links


@given(_PIECES)
def test_text_is_what_a_reader_sees_and_every_link_lies_on_its_anchor(pieces):
    html, bare, links = render(pieces)
    snippet = flat(f"<p>{html}</p>")
    assert snippet.text == bare
    assert anchors(snippet) == links


@given(st.lists(_PIECES, min_size=1, max_size=4), st.sampled_from(["table", "info"]), st.sampled_from(["br", "li"]))
def test_links_of_cells_with_line_breaks_and_lists_lie_on_their_anchors(parts, source, apart):
    rendered = [render(pieces) for pieces in parts]
    if apart == "br":
        html = "<br/>".join(html for html, *_ in rendered)
    else:
        html = "<ul>" + "".join(f"<li>{html}</li>" for html, *_ in rendered) + "</ul>"
    snippet = flat(html, source)
    assert [anchor for anchor, _ in anchors(snippet)] == [anchor for _, _, links in rendered for anchor, _ in links]


@each_case("html", "html")
def test_text_is_as_a_browser_shows_it(case):
    in_table = case["in"] != "text"
    html = f"<table><tr><th>A</th><td>{case['html']}</td></tr></table>" if in_table else f"<p>{case['html']}</p>"
    node = parse_html(html).css_first("td" if in_table else "p")
    assert flatten(node, case["in"]).cleaned().text == case["text"]


def parts(snippet):
    return [snippet.text[part.start : part.end] for part in snippet.parts]


@each_case("infoboxes", "lines")
def test_the_lines_of_an_infobox_cell_are_its_parts(case):
    html, lines = case["cell"], case["lines"]
    snippet = flat(html, "info")
    assert parts(snippet) == lines
    assert snippet.text == ", ".join(lines)
    assert parts(snippet.after("Kate, Born, ")) == lines
    assert flat(html, "text").parts == flat(html, "table").parts == ()


@each_case("links")
def test_links_lead_to_articles_only_and_their_text_stays(case):
    snippet = flat(f"<p>See <a {case['link']}>her</a>.</p>")
    assert snippet.text == "See her."
    assert anchors(snippet) == ([("her", case["target"])] if case["target"] else [])


def test_a_link_without_text_is_no_link():
    html = '<p>A <a href="/wiki/X"><img src="x.png" alt="X"></a> b <a href="/wiki/Y"> </a>c</p>'
    assert flat(html) == Snippet("A b c", (), "text")


@each_case("blocks")
def test_blocks_of_a_page(case):
    blocks_of_page = [[kind, text] for kind, text, _ in read(f"<p>One.</p>{case['html']}<p>Two.</p>")]
    assert blocks_of_page == [["p", "One."], *case["blocks"], ["p", "Two."]]


@pytest.fixture(params=HEADINGS.values(), ids=HEADINGS)
def heading(request):
    """Writes a heading of a level as one of the renderers does."""
    return request.param.format


CLOSING = "References|External links|See also|Notes|Further reading|Bibliography|Footnotes|Sources".split("|")


def test_blocks_know_their_section(heading):
    html = f"<p>Lead.</p>{heading(2, 'Life')}<p>Born.</p>"
    html += f"{heading(3, 'Youth')}<ul><li>Sang.</li></ul>{heading(2, 'Work')}<p>Wrote.</p>"
    assert read(html) == [("p", "Lead.", ""), ("p", "Born.", "Life"), ("li", "Sang.", "Youth"), ("p", "Wrote.", "Work")]


@pytest.mark.parametrize("name", CLOSING)
def test_closing_sections_are_left_out_with_what_is_below_them(heading, name):
    html = (
        f"{heading(2, 'Life')}<p>Born.</p>{heading(2, name)}<p>Gone.</p><ul><li>Gone.</li></ul><div><p>Gone.</p></div>"
        f"{heading(3, 'Books')}<p>Gone.</p><table><tr><th>a</th></tr><tr><td>Gone</td></tr></table>"
        f"{heading(2, 'Legacy')}<p>Lives on.</p>{heading(3, name)}<p>Gone.</p>{heading(3, 'Songs')}<p>Stay.</p>"
    )
    assert read(html) == [("p", "Born.", "Life"), ("p", "Lives on.", "Legacy"), ("p", "Stay.", "Songs")]


def test_only_the_content_element_is_read():
    html = "<body><p>Menu</p>"
    html += '<div id="x" class="mw-content-ltr mw-parser-output" lang="en"><p>Text</p></div><p>Footer</p></body>'
    assert [flatten(node, "text").text for _, node, _ in blocks(parse_html(html))] == ["Text"]
    assert [flatten(node, "text").text for _, node, _ in blocks(parse_html("<p>Bare article</p>"))] == ["Bare article"]


@pytest.mark.parametrize(
    "html", ["", " ", "<p>", "<table><tr><th>", "</div></div>", "<div><ul><li>a<li>b", "just text", "\ufeff<p>x"]
)
def test_broken_html_raises_nothing(html):
    assert all(kind in ("p", "li", "table", "infobox") for kind, *_ in blocks(parse_html(html)))


@each_case("html", "marked")
def test_footnote_marks_in_plain_text_are_cut_out(case):
    assert clean(case["marked"]) == case["text"]


def test_tables_of_works_are_read_in_a_bibliography_and_its_lists_are_not():
    html = "<h2>Bibliography</h2><ul><li>A book.</li></ul>"
    rows = "<tr><th>Year</th><th>Book</th></tr><tr><td>1937</td><td>The Hobbit</td></tr>"
    html += f"<table class='wikitable'>{rows}</table>"
    assert [(kind, section) for kind, _, section in read(html)] == [("table", "Bibliography")]


def test_a_cleaned_snippet_keeps_its_links_on_their_anchors():
    text = "[1] Bee[2][a], cow ^ and [note 3] dog[4]"
    links = tuple(Link(text.index(name), text.index(name) + 3, name) for name in ("Bee", "cow", "dog", "[2]"))
    found = Snippet(text, links, "text").cleaned()
    assert found.text == "Bee, cow and dog"
    assert anchors(found) == [("Bee", "Bee"), ("cow", "cow"), ("dog", "dog")]
