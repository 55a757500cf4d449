import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.flatten import flatten
from convinse.wikipedia.snippets import Link, Part, Snippet, clean
from places import ROOT
from wikipedia_html import HEADINGS, anchors


def flat(html, source="text"):
    """The first paragraph or cell of a page, flattened."""
    root = parse_html(f'<div class="mw-parser-output">{html}</div>')
    return flatten(root, source)


def read(html):
    """(kind, text, section) of the blocks of a page."""
    root = parse_html(f'<div class="mw-parser-output">{html}</div>')
    return [(block.kind, flatten(block.node, "text").text, block.section) for block in blocks(root)]


_BLANK = st.sampled_from(["", " ", "\n", "  \t"])
_WORD = st.text(alphabet="abZ9é-.'", min_size=1, max_size=5)
_WORDS = st.lists(st.one_of(_WORD, st.sampled_from([",", "(", "&amp;"])), min_size=1, max_size=3)
_PLAIN = st.tuples(st.just("text"), _WORDS, _BLANK, _BLANK)
_LINKED = st.tuples(st.just("link"), st.lists(_WORD, min_size=1, max_size=3), _BLANK, _BLANK)
_PIECES = st.lists(st.one_of(_PLAIN, _LINKED), max_size=10)


def render(pieces):
    """The pieces as HTML and as bare text; links lead to Page_0, Page_1, ..."""
    html = bare = ""
    wanted = []
    for kind, words, before, after in pieces:
        inner = before + " \n".join(words) + after
        bare += inner
        if kind == "link":
            marked = f"{before}<i>{words[0]}</i>{''.join(' ' + word for word in words[1:])}{after}"
            html += f'<a href="/wiki/Page_{len(wanted)}" title="x">{marked}</a>'
            wanted.append((" ".join(words), f"Page {len(wanted)}"))
        else:
            html += f"<b>{inner}</b>"
    return html, " ".join(bare.replace("&amp;", "&").split()), wanted


@given(_PIECES)
def test_text_is_what_a_reader_sees_and_every_link_lies_on_its_anchor(pieces):
    html, bare, wanted = render(pieces)
    snippet = flat(f"<p>{html}</p>")
    assert snippet.text == bare
    assert anchors(snippet) == wanted


@given(st.lists(_PIECES, min_size=1, max_size=4), st.sampled_from(["table", "info"]), st.sampled_from(["br", "li"]))
def test_links_of_cells_with_line_breaks_and_lists_lie_on_their_anchors(parts, source, apart):
    rendered = [render(pieces) for pieces in parts]
    if apart == "br":
        html = "<br/>".join(html for html, *_ in rendered)
    else:
        html = "<ul>" + "".join(f"<li>{html}</li>" for html, *_ in rendered) + "</ul>"
    snippet = flat(html, source)
    assert [anchor for anchor, _ in anchors(snippet)] == [anchor for _, _, wanted in rendered for anchor, _ in wanted]


def test_line_breaks_and_list_items_are_set_apart_by_commas_in_infoboxes_only():
    html = '<a href="/wiki/Bow">Bow</a><br>Arrow<ul><li>Shield</li><li>Helm,</li><li>Axe</li></ul>'
    assert flat(html, "table").text == "Bow Arrow Shield Helm, Axe"
    assert flat(html, "info").text == "Bow, Arrow, Shield, Helm, Axe"
    assert flat("One<br>two", "text").text == "One two"
    assert flat("Alpha,<br>", "info") == Snippet("Alpha", (), "info", (Part(0, 5),))  # no comma at the end


CASES = yaml.safe_load((ROOT / "tests" / "cases" / "html.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_text_of_the_table_of_cases(case):
    in_table = case["in"] != "text"
    html = f"<table><tr><th>A</th><td>{case['html']}</td></tr></table>" if in_table else f"<p>{case['html']}</p>"
    node = parse_html(html).css_first("td" if in_table else "p")
    assert flatten(node, case["in"]).cleaned().text == case["text"]


def parts(snippet):
    return [snippet.text[part.start : part.end] for part in snippet.parts]


LINES = {
    "New York City, U.S.": ["New York City, U.S."],  # a comma of the line does not cut it
    "Aaron Benjamin Sorkin<br>June 9, 1961<br>": ["Aaron Benjamin Sorkin", "June 9, 1961"],
    "London,<br>England": ["London, England"],  # the line goes on
    "Labels:<br>EMI": ["Labels: EMI"],
    "<ul><li>Bow</li><li> Axe <br/> Helm </li></ul>": ["Bow", "Axe", "Helm"],
    "<p>Bow</p><p>Axe</p>": ["Bow", "Axe"],
    "<table><tr><td>1978</td><td>Bow</td></tr><tr><td>1979</td><td>Axe</td></tr></table>": ["1978 Bow", "1979 Axe"],
    "Bow<br>;": ["Bow"],
    "<br>": [],
}


@pytest.mark.parametrize(("html", "lines"), LINES.items())
def test_the_lines_of_an_infobox_cell_are_its_parts(html, lines):
    snippet = flat(html, "info")
    assert parts(snippet) == lines
    assert snippet.text == ", ".join(lines)
    assert parts(snippet.after("Kate, Born, ")) == lines
    assert flat(html, "text").parts == flat(html, "table").parts == ()


def test_parts_are_without_footnote_marks():
    html = "Bow [1]<br>[2]<br>Axe[a], silver<br>[3] Helm, [4]<br>Shield[5]"
    snippet = flat(html, "info").cleaned()
    assert parts(snippet) == ["Bow", "Axe, silver", "Helm", "Shield"]


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("/wiki/Kate_Bush", "Kate Bush"),
        ("./Kate_Bush", "Kate Bush"),
        ("//en.wikipedia.org/wiki/Kate_Bush", "Kate Bush"),
        ("https://en.wikipedia.org/wiki/Kate_Bush", "Kate Bush"),
        ("http://en.m.wikipedia.org/wiki/Kate_Bush?action=raw", "Kate Bush"),
        ("/wiki/Kate_Bush#Early_life", "Kate Bush"),
        ("./Kate_Bush#Early_life", "Kate Bush"),
        ("/wiki/Pel%C3%A9", "Pelé"),
        ("./Who%3F", "Who?"),
        ("/wiki/Alien_(film)", "Alien (film)"),
        ("/wiki/AC/DC", "AC/DC"),
        ("/wiki/kate_Bush", "Kate Bush"),
        ("/wiki/2001:_A_Space_Odyssey_(film)", "2001: A Space Odyssey (film)"),
    ],
)
def test_links_lead_to_titles(href, target):
    assert anchors(flat(f'<p>See <a href="{href}">her</a>.</p>')) == [("her", target)]


@pytest.mark.parametrize(
    "attributes",
    [
        'href="/w/index.php?title=Nobody&amp;action=edit&amp;redlink=1" class="new"',
        'href="./Nobody?action=edit&amp;redlink=1"',
        'href="/wiki/Nobody" class="new"',
        'href="/wiki/File:Kate.jpg"',
        'href="/wiki/Category:Singers"',
        'href="./Help:IPA/English"',
        'href="/wiki/User_talk:Kate"',
        'href="/wiki/Book:Kate"',
        'href="/wiki/:Category:Singers"',
        'href="./WP:NPOV"',
        'href="/wiki/Template:Kate"',
        'href="https://www.example.org/wiki/Kate"',
        'href="#Early_life"',
        'href="mailto:kate@example.org"',
        'name="kate"',
    ],
)
def test_what_leads_to_no_article_is_no_link_and_its_text_stays(attributes):
    assert flat(f"<p>See <a {attributes}>her</a>.</p>") == Snippet("See her.", (), "text")


def test_a_link_without_text_is_no_link():
    html = '<p>A <a href="/wiki/X"><img src="x.png" alt="X"></a> b <a href="/wiki/Y"> </a>c</p>'
    assert flat(html) == Snippet("A b c", (), "text")


NOISE = [
    '<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup>',
    '<sup class="mw-ref reference"><a href="./Kate#cite_note-1"><span class="mw-reflink-text">[1]</span></a></sup>',
    '<sup class="noprint Inline-Template">[<i><a href="/wiki/Wikipedia:Citation_needed">citation needed</a></i>]</sup>',
    '<a rel="nofollow" class="external autonumber" href="http://www.example.org/">[9]</a>',
    '<span class="mw-editsection">[<a href="/w/index.php?action=edit">edit</a>]</span>',
    '<style data-mw-deduplicate="x">.a{color:red}</style>',
    "<script>alert(1)</script>",
    '<span style="display:none">hidden</span>',
    '<span style="color:red; display: none;">hidden</span>',
    '<span class="IPA">/keɪt/</span>',
    '<span style="Display:None">hidden</span>',
    '<span style="visibility:hidden;color:transparent">00</span>',
    '<span class="coordinates"><span class="geo-default">38°N 77°W</span><span class="geo-nondefault">38.1; 77</span></span>',
    '<span class="geo-default">38°N 77°W</span>',
    '<span class="mwe-math-element"><math alttext="x^2"></math></span>',
    "<!-- a comment -->",
]


@pytest.mark.parametrize("noise", NOISE)
def test_marks_notes_and_hidden_text_are_left_out(noise):
    assert flat(f"<p>Kate{noise} sings.</p>").text == "Kate sings."


@pytest.mark.parametrize(
    "noise",
    [
        '<div class="hatnote">For other uses, see <a href="/wiki/Kate">Kate</a>.</div>',
        '<div role="note" class="hatnote navigation-not-searchable"><p>Not to be confused with Cate.</p></div>',
        '<table class="navbox"><tr><th>Singers</th><td>Kate</td></tr></table>',
        '<div class="navbox"><ul><li>Kate</li></ul></div>',
        '<table class="metadata ambox"><tr><th>!</th><td>This article needs sources.</td></tr></table>',
        '<div id="toc" class="toc"><ul><li>1 Life</li></ul></div>',
        '<div class="thumb tright"><p>A picture</p></div>',
        '<ul class="gallery"><li>A picture</li></ul>',
        "<figure><figcaption>A picture</figcaption></figure>",
        '<div class="reflist"><ol class="references"><li>A book.</li></ol></div>',
        '<div class="mw-references-wrap"><ol class="mw-references references"><li>A book.</li></ol></div>',
        '<table class="persondata"><tr><th colspan="2">Persondata</th></tr><tr><td>Name</td><td>Bush, Kate</td></tr></table>',
        '<table class="vertical-navbox vcard"><tr><th>Albums</th><td>Aerial</td></tr></table>',
        '<div class="dablink">For others, see Cate.</div>',
        '<table role="presentation"><tr><th>x</th><td>layout</td></tr></table>',
        "<table><tr><td>layout without headers</td></tr></table>",
    ],
)
def test_boxes_that_are_no_prose_make_no_blocks(noise):
    assert read(f"<p>One.</p>{noise}<p>Two.</p>") == [("p", "One.", ""), ("p", "Two.", "")]


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
        f"{heading(2, 'Legacy')}<p>Lives on.</p>"
    )
    assert read(html) == [("p", "Born.", "Life"), ("p", "Lives on.", "Legacy")]


def test_a_closing_subsection_ends_at_the_next_heading_of_its_level(heading):
    html = f"{heading(2, 'Songs')}{heading(3, 'Notes')}<p>Gone.</p>{heading(3, 'Singles')}<p>Stays.</p>"
    assert read(html) == [("p", "Stays.", "Singles")]


def test_parsoid_sections_are_read_like_flat_pages():
    html = (
        '<section data-mw-section-id="0"><p>Lead.</p></section>'
        '<section data-mw-section-id="1"><h2 id="Life">Life</h2><p>Born.</p>'
        '<section data-mw-section-id="2"><h3 id="Youth">Youth</h3><p>Sang.</p></section></section>'
        '<section data-mw-section-id="3"><h2 id="References">References</h2><p>Gone.</p></section>'
    )
    assert read(html) == [("p", "Lead.", ""), ("p", "Born.", "Life"), ("p", "Sang.", "Youth")]


def test_only_the_content_element_is_read():
    html = "<body><p>Menu</p>"
    html += '<div id="x" class="mw-content-ltr mw-parser-output" lang="en"><p>Text</p></div><p>Footer</p></body>'
    assert [flatten(block.node, "text").text for block in blocks(parse_html(html))] == ["Text"]
    assert [flatten(block.node, "text").text for block in blocks(parse_html("<p>Bare article</p>"))] == ["Bare article"]


@pytest.mark.parametrize(
    "html", ["", " ", "<p>", "<table><tr><th>", "</div></div>", "<div><ul><li>a<li>b", "just text", "\ufeff<p>x"]
)
def test_broken_html_raises_nothing(html):
    assert all(block.kind in ("p", "li", "table", "infobox") for block in blocks(parse_html(html)))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("12[1]", "12"),
        ("12 [a] m[note 3]", "12 m"),
        ("no [citation needed]", "no"),
        ("[sic] [Top 40]", "[sic] [Top 40]"),
        (" x ", "x"),
    ],
)
def test_footnote_marks_in_plain_text_are_cut_out(text, cleaned):
    assert clean(text) == cleaned


def test_tables_of_works_are_read_in_a_bibliography_and_its_lists_are_not():
    html = "<h2>Bibliography</h2><ul><li>A book.</li></ul>"
    rows = "<tr><th>Year</th><th>Book</th></tr><tr><td>1937</td><td>The Hobbit</td></tr>"
    html += f"<table class='wikitable'>{rows}</table>"
    assert [(kind, section) for kind, _, section in read(html)] == [("table", "Bibliography")]


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("infobox", ["infobox", "infobox_v2", "infobox biota", "biota", "vcard", "wikitable infobox"]),
        ("table", ["wikitable", "sortable", ""]),
    ],
)
def test_classes_of_infoboxes_and_tables(kind, named):
    for classes in named:
        (found,) = read(f'<table class="{classes}"><tr><th>a</th><td>b</td></tr></table>')
        assert found[0] == kind, classes
    assert [kind for kind, *_ in read("<table class='wikitable'><tr><td>a</td></tr></table>")] == ["table"]


def test_a_layout_table_is_opened():
    inner = "<table class='wikitable'><tr><th>a</th></tr><tr><td>b</td></tr></table>"
    for attributes in ("", 'class="multicol"', 'role="presentation"', 'class="collapsible"'):
        html = f"<table {attributes}><tr><td><p>Prose.</p></td><td>loose<ul><li>Item</li></ul>{inner}</td></tr></table>"
        assert [kind for kind, *_ in read(html)] == ["p", "li", "table"], attributes


def test_a_table_in_a_data_table_is_a_block_of_its_own():
    inner = "<table class='wikitable'><tr><th>a</th></tr><tr><td>b</td></tr></table>"
    html = f"<table class='wikitable'><tr><th>x</th></tr><tr><td>{inner}</td></tr></table>"
    assert [kind for kind, *_ in read(html)] == ["table", "table"]
    assert [kind for kind, *_ in read(html.replace("'wikitable'", "'plain'", 1))] == ["table", "table"]


def test_quotations_are_read_by_paragraph():
    found = read("<blockquote>Bare.</blockquote><blockquote><p>One.</p><p>Two.</p></blockquote>")
    assert found == [("p", text, "") for text in ("Bare.", "One.", "Two.")]


def test_coordinates_stay_in_the_cells_of_data_tables_and_as_shown_in_infoboxes():
    place = '<p><span class="geo-default">38°N</span><span class="geo-multi-punct">\ufeff / \ufeff</span>'
    place += '<span class="geo-nondefault">38.5</span></p>'
    table = f"<table class='wikitable'><tr><td>a</td><td>{place}</td></tr></table>"
    box = f"<table class='infobox'><tr><th>At</th><td>{place}</td></tr></table>"
    assert [text for _, text, _ in read(table)] == ["a 38°N / 38.5"]
    assert [text for _, text, _ in read(box)] == ["At 38°N"]


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("&lt;1 day", "less than 1 day"),
        ("p &lt; 0.05", "p less than 0.05"),
        ("&lt; 2012 2014", "2012 2014"),
        ("x&lt;ref>y", "xy"),
        ("a\u200bb\u00adc\ufeff", "abc"),
    ],
)
def test_typed_signs_of_markup_do_not_reach_the_text(typed, text):
    assert flat(typed).text == text


def test_a_cleaned_snippet_keeps_its_links_on_their_anchors():
    text = "[1] Bee[2][a], cow ^ and [note 3] dog[4]"
    links = tuple(Link(text.index(name), text.index(name) + 3, name) for name in ("Bee", "cow", "dog", "[2]"))
    found = Snippet(text, links, "text").cleaned()
    assert found.text == "Bee, cow and dog"
    assert anchors(found) == [("Bee", "Bee"), ("cow", "cow"), ("dog", "dog")]
