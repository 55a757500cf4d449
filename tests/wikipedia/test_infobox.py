from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.infobox import attributes


def read(rows, title="Kate Bush"):
    root = parse_html(f'<table class="infobox vcard"><tbody>{rows}</tbody></table>')
    (block,) = blocks(root)
    return list(attributes(block, title))


def texts(rows, title="Kate Bush"):
    return [snippet.text for snippet in read(rows, title)]


def test_an_attribute_is_one_snippet_with_its_links():
    (snippet,) = read(
        '<tr><th scope="row" class="infobox-label">Born</th><td class="infobox-data">Catherine Bush<br />'
        '<span style="display:none">(1958-07-30)</span>30 July 1958<br />'
        '<a href="/wiki/Bexleyheath">Bexleyheath</a>, England'
        '<sup class="reference">[1]</sup></td></tr>'
    )
    assert snippet.text == "Kate Bush, Born, Catherine Bush, 30 July 1958, Bexleyheath, England"
    assert [(snippet.text[link.start : link.end], link.target) for link in snippet.links] == [
        ("Bexleyheath", "Bexleyheath")
    ]
    assert snippet.source == "info"


def test_lists_are_joined_by_commas_and_every_link_lies_on_its_anchor():
    (snippet,) = read(
        '<tr><th>Genres:</th><td><div class="hlist"><ul><li><a href="/wiki/Art_pop">Art pop</a></li>'
        '<li><a href="/wiki/Art_rock">art rock</a></li><li>pop</li></ul></div></td></tr>'
    )
    assert snippet.text == "Kate Bush, Genres, Art pop, art rock, pop"
    assert [(snippet.text[link.start : link.end], link.target) for link in snippet.links] == [
        ("Art pop", "Art pop"),
        ("art rock", "Art rock"),
    ]


def test_sub_headers_stand_before_the_attributes_below_them():
    rows = """<tr><th colspan="2" class="infobox-above fn">Kate Bush</th></tr><tr><th>Born</th><td>1958</td></tr>
      <tr><th colspan="2" class="infobox-header">Musical career</th></tr><tr><th>Labels</th><td>EMI</td></tr>
      <tr><th colspan="2">Personal</th></tr><tr><th>Height</th>
      <td>5 ft</td></tr>"""
    assert texts(rows) == [
        "Kate Bush, Born, 1958",
        "Kate Bush, Musical career, Labels, EMI",
        "Kate Bush, Personal, Height, 5 ft",
    ]


def test_titles_images_captions_and_empty_values_are_left_out():
    rows = """<tr><th colspan="2">KATE BUSH</th></tr>
      <tr><td colspan="2" class="infobox-image"><a href="/wiki/File:K.jpg"
      class="mw-file-description"><img src="k.jpg"></a>
      <div class="infobox-caption">Bush in 1978</div></td></tr>
      <tr><td colspan="2">A note over both columns</td></tr><tr><th>Born</th><td> </td></tr><tr><th></th><td>x</td></tr>
      <tr><th>Origin</th><td>Kent</td></tr>"""
    assert texts(rows) == ["Kate Bush, Origin, Kent"]


def test_old_infoboxes_with_plain_cells_are_read_too():
    rows = "<tr><td><b>Directed by</b></td><td>John</td></tr><tr><td>Gross</td><td>$3 million</td></tr>"
    assert texts(rows, "Film") == ["Film, Directed by, John", "Film, Gross, $3 million"]


def test_several_values_of_a_row_are_several_snippets():
    assert texts("<tr><th>1978–1979</th><td>Arsenal</td><td>12</td></tr>") == [
        "Kate Bush, 1978–1979, Arsenal",
        "Kate Bush, 1978–1979, 12",
    ]
