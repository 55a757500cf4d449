from case_tables import each_case
from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.infobox import attributes
from wikipedia_html import anchors


def read(rows, title="Kate Bush"):
    root = parse_html(f'<table class="infobox vcard"><tbody>{rows}</tbody></table>')
    ((_, infobox, _),) = blocks(root)
    return list(attributes(infobox, title))


def test_a_row_of_header_cells_names_the_columns_below_it():
    rows = """<tr><th colspan="3">Kate Bush</th></tr><tr><th colspan="3">Career</th></tr>
      <tr><th>Years</th><th>Team</th><th>Caps</th></tr>
      <tr><td>1978</td><td><a href="/wiki/Arsenal">Arsenal</a></td><td></td></tr>
      <tr><th colspan="3">Other</th></tr><tr><th>a</th><td>b</td><td>c</td></tr>"""
    first, second = read(rows)
    assert first.text == "Kate Bush, Career, Years is 1978, Team is Arsenal"
    assert anchors(first) == [("Arsenal", "Arsenal")]
    assert second.text == "Kate Bush, Other, a, b, c"


@each_case("infoboxes", "texts")
def test_texts_of_attributes(case):
    assert [snippet.text for snippet in read(case["rows"], case["texts"][0].partition(",")[0])] == case["texts"]


@each_case("infoboxes", "parts")
def test_an_attribute_has_its_path_and_its_values(case):
    snippets = read(case["rows"])
    assert [
        [list(snippet.path), [[part.header, snippet.text[part.start : part.end]] for part in snippet.parts]]
        for snippet in snippets
    ] == case["parts"]
    assert all(snippet.row is None for snippet in snippets)
