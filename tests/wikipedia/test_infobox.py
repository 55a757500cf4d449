import pytest

from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.infobox import attributes
from wikipedia_html import anchors


def read(rows, title="Kate Bush"):
    root = parse_html(f'<table class="infobox vcard"><tbody>{rows}</tbody></table>')
    (block,) = blocks(root)
    return list(attributes(block, title))


def test_an_attribute_is_one_snippet_with_its_links():
    (snippet,) = read(
        '<tr><th scope="row" class="infobox-label">Born</th><td class="infobox-data">Catherine Bush<br />'
        '<span style="display:none">(1958-07-30)</span>30 July 1958<br />'
        '<a href="/wiki/Bexleyheath">Bexleyheath</a>, England'
        '<sup class="reference">[1]</sup></td></tr>'
    )
    assert snippet.text == "Kate Bush, Born, Catherine Bush, 30 July 1958, Bexleyheath, England"
    assert anchors(snippet) == [("Bexleyheath", "Bexleyheath")]
    assert snippet.source == "info"


def test_a_row_of_header_cells_names_the_columns_below_it():
    rows = """<tr><th colspan="3">Kate Bush</th></tr><tr><th colspan="3">Career</th></tr>
      <tr><th>Years</th><th>Team</th><th>Caps</th></tr>
      <tr><td>1978</td><td><a href="/wiki/Arsenal">Arsenal</a></td><td></td></tr>
      <tr><th colspan="3">Other</th></tr><tr><th>a</th><td>b</td><td>c</td></tr>"""
    first, second = read(rows)
    assert first.text == "Kate Bush, Career, Years is 1978, Team is Arsenal"
    assert anchors(first) == [("Arsenal", "Arsenal")]
    assert second.text == "Kate Bush, Other, a, b, c"


IMAGE = '<a class="image" href="/wiki/File:K.jpg"><img src="k.jpg" width="{}"></a>'
LISTED = '<ul><li><a href="/wiki/Art_pop">Art pop</a></li><li>art rock</li></ul>'
BOXES = {  # rows and the texts of their attributes, which begin with the title
    "sub-headers stand before the attributes below them": (
        """<tr><th colspan="2" class="infobox-above fn">Kate Bush</th></tr><tr><th>Born</th><td>1958</td></tr>
      <tr><th colspan="2" class="infobox-header">Musical career</th></tr><tr><th>Labels</th><td>EMI</td></tr>
      <tr><th colspan="2">Personal</th></tr><tr><th>Height</th>
      <td>5 ft</td></tr>""",
        ["Kate Bush, Born, 1958", "Kate Bush, Musical career, Labels, EMI", "Kate Bush, Personal, Height, 5 ft"],
    ),
    "titles, images, captions and empty values are left out": (
        """<tr><th colspan="2">KATE BUSH</th></tr>
      <tr><td colspan="2" class="infobox-image"><a href="/wiki/File:K.jpg"
      class="mw-file-description"><img src="k.jpg"></a>
      <div class="infobox-caption">Bush in 1978</div></td></tr>
      <tr><td colspan="2">A note over both columns</td></tr><tr><th>Born</th><td> </td></tr><tr><th></th><td>x</td></tr>
      <tr><th>Origin</th><td>Kent</td></tr>""",
        ["Kate Bush, Origin, Kent"],
    ),
    "old infoboxes with plain cells are read, too": (
        "<tr><td><b>Directed by</b></td><td>John</td></tr><tr><td>Gross</td><td>$3 million</td></tr>",
        ["Film, Directed by, John", "Film, Gross, $3 million"],
    ),
    "items of lists are set apart by commas": (
        f'<tr><th>Genres:</th><td><div class="hlist">{LISTED}</div></td></tr>',
        ["Kate Bush, Genres, Art pop, art rock"],
    ),
    "several cells of a row stay together": (
        "<tr><th>1978–1979</th><td>Arsenal</td><td>12</td></tr>",
        ["Kate Bush, 1978–1979, Arsenal, 12"],
    ),
    "a value below a sub-header belongs to it": (
        """<tr><th colspan="2">Homo sapiens</th></tr><tr><th colspan="2">Scientific classification</th></tr>
      <tr><td>Kingdom:</td><td>Animalia</td></tr><tr><th colspan="2">Binomial name</th></tr>
      <tr><td colspan="2"><b>Homo sapiens</b> <br>Linnaeus</td></tr><tr><td colspan="2">A note</td></tr>""",
        ["Human, Scientific classification, Kingdom, Animalia", "Human, Binomial name, Homo sapiens, Linnaeus"],
    ),
    "bulleted attributes belong to the one above and plain ones do not": (
        """<tr><th colspan="2">Bari</th></tr><tr><th colspan="2">Area</th></tr>
      <tr><th> • Total</th><td>9 km2</td></tr><tr><th>- Land</th><td>8 km2</td></tr>
      <tr><th>Time zone</th><td>CET</td></tr><tr><td>•</td><th>Summer</th><td>CEST</td></tr>
      <tr class="mergedtoprow"><th>Code</th><td>70121</td></tr>""",
        [
            "Bari, Area, Total, 9 km2",
            "Bari, Area, Land, 8 km2",
            "Bari, Time zone, CET",
            "Bari, Time zone, Summer, CEST",
            "Bari, Code, 70121",
        ],
    ),
    "footnotes and navigation of the box are left out": (
        """<tr><th colspan="2">Aerial</th></tr><tr><th>a.</th><td>A footnote</td></tr>
      <tr><th colspan="2">Chronology</th></tr><tr><td colspan="2">← Red Shoes | Aerial →</td></tr>
      <tr><th>Label</th><td>EMI</td></tr>""",
        ["Aerial, Chronology, Label, EMI"],
    ),
    "a picture takes its caption with it and a flag does not": (
        f"""<tr><th colspan="2">x</th></tr><tr><th colspan="2">Look</th></tr>
      <tr><td colspan="2">{IMAGE.format(220)}<div>Caption</div></td></tr>
      <tr><th colspan="2">Home</th></tr><tr><td colspan="2">{IMAGE.format(23)} England</td></tr>""",
        ["x, Home, England"],
    ),
}


@pytest.mark.parametrize(("rows", "expected"), BOXES.values(), ids=BOXES)
def test_texts_of_attributes(rows, expected):
    assert [snippet.text for snippet in read(rows, expected[0].partition(",")[0])] == expected


PARTS = {  # rows, and of their attributes the path and the (header, value) pairs
    "of lines, lists and several cells": (
        """<tr><th colspan="2">Kate Bush</th></tr><tr><th>Born:</th><td>Catherine Bush[1]<br>30 July 1958
      <br>Bexleyheath, England</td></tr>
      <tr><th colspan="2">Career:</th></tr><tr><th>Labels</th><td><ul><li>EMI</li><li>Fish People</li></ul></td></tr>
      <tr><th>Years</th><td>1975</td><td>now</td></tr>""",
        [
            (["Born"], [("", "Catherine Bush"), ("", "30 July 1958"), ("", "Bexleyheath, England")]),
            (["Career", "Labels"], [("", "EMI"), ("", "Fish People")]),
            (["Career", "Years"], [("", "1975"), ("", "now")]),
        ],
    ),
    "of bulleted attributes and values over the whole width": (
        """<tr><th colspan="2">Bari</th></tr><tr><th>Area</th><td>10 km2</td></tr>
      <tr><th> • Total</th><td>9 km2</td></tr><tr><th>Time zone</th><td>CET</td></tr>
      <tr><th colspan="2">Twin towns</th></tr><tr><td colspan="2">Guangzhou<br>Batumi</td></tr>""",
        [
            (["Area"], [("", "10 km2")]),
            (["Area", "Total"], [("", "9 km2")]),
            (["Time zone"], [("", "CET")]),
            (["Twin towns"], [("", "Guangzhou"), ("", "Batumi")]),
        ],
    ),
    "below columns, which are their headers": (
        """<tr><th>Years</th><th>Team</th><th>Caps</th></tr><tr><td>1978</td><td></td><td>3<br>(1)</td></tr>
      <tr><th colspan="3">Career</th></tr><tr><th>Years</th><th></th><th>Caps</th></tr>
      <tr><td>1979</td><td>Luton</td><td>4</td></tr>""",
        [
            ([], [("Years", "1978"), ("Caps", "3"), ("Caps", "(1)")]),
            (["Career"], [("Years", "1979"), ("", "Luton"), ("Caps", "4")]),
        ],
    ),
}


@pytest.mark.parametrize(("rows", "expected"), PARTS.values(), ids=PARTS)
def test_an_attribute_knows_its_path_and_its_values(rows, expected):
    snippets = read(rows)
    assert [
        (list(snippet.path), [(part.header, snippet.text[part.start : part.end]) for part in snippet.parts])
        for snippet in snippets
    ] == expected
    assert all(snippet.row is None for snippet in snippets)
