from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.infobox import attributes


def read(rows, title="Kate Bush"):
    root = parse_html(f'<table class="infobox vcard"><tbody>{rows}</tbody></table>')
    (block,) = blocks(root)
    return list(attributes(block, title))


def texts(rows, title="Kate Bush"):
    return [snippet.text for snippet in read(rows, title)]


def anchors(snippet):
    return [(snippet.text[link.start : link.end], link.target) for link in snippet.links]


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


def test_lists_are_joined_by_commas_and_every_link_lies_on_its_anchor():
    (snippet,) = read(
        '<tr><th>Genres:</th><td><div class="hlist"><ul><li><a href="/wiki/Art_pop">Art pop</a></li>'
        '<li><a href="/wiki/Art_rock">art rock</a></li><li>pop</li></ul></div></td></tr>'
    )
    assert snippet.text == "Kate Bush, Genres, Art pop, art rock, pop"
    assert anchors(snippet) == [("Art pop", "Art pop"), ("art rock", "Art rock")]


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


def test_several_cells_of_a_row_stay_together():
    assert texts("<tr><th>1978–1979</th><td>Arsenal</td><td>12</td></tr>") == ["Kate Bush, 1978–1979, Arsenal, 12"]


def test_a_row_of_header_cells_names_the_columns_below_it():
    rows = """<tr><th colspan="3">Kate Bush</th></tr><tr><th colspan="3">Career</th></tr>
      <tr><th>Years</th><th>Team</th><th>Caps</th></tr>
      <tr><td>1978</td><td><a href="/wiki/Arsenal">Arsenal</a></td><td></td></tr>
      <tr><th colspan="3">Other</th></tr><tr><th>a</th><td>b</td><td>c</td></tr>"""
    first, second = read(rows)
    assert first.text == "Kate Bush, Career, Years is 1978, Team is Arsenal"
    assert anchors(first) == [("Arsenal", "Arsenal")]
    assert second.text == "Kate Bush, Other, a, b, c"


def test_a_value_below_a_sub_header_belongs_to_it():
    rows = """<tr><th colspan="2">Homo sapiens</th></tr><tr><th colspan="2">Scientific classification</th></tr>
      <tr><td>Kingdom:</td><td>Animalia</td></tr><tr><th colspan="2">Binomial name</th></tr>
      <tr><td colspan="2"><b>Homo sapiens</b> <br>Linnaeus</td></tr><tr><td colspan="2">A note</td></tr>"""
    assert texts(rows, "Human") == [
        "Human, Scientific classification, Kingdom, Animalia",
        "Human, Binomial name, Homo sapiens, Linnaeus",
    ]


def test_bulleted_attributes_belong_to_the_one_above_and_plain_ones_do_not():
    rows = """<tr><th colspan="2">Bari</th></tr><tr><th colspan="2">Area</th></tr>
      <tr><th> • Total</th><td>9 km2</td></tr><tr><th>- Land</th><td>8 km2</td></tr>
      <tr><th>Time zone</th><td>CET</td></tr><tr><td>•</td><th>Summer</th><td>CEST</td></tr>
      <tr class="mergedtoprow"><th>Code</th><td>70121</td></tr>"""
    assert texts(rows, "Bari") == [
        "Bari, Area, Total, 9 km2",
        "Bari, Area, Land, 8 km2",
        "Bari, Time zone, CET",
        "Bari, Time zone, Summer, CEST",
        "Bari, Code, 70121",
    ]


def test_footnotes_and_navigation_of_the_box_are_left_out():
    rows = """<tr><th colspan="2">Aerial</th></tr><tr><th>a.</th><td>A footnote</td></tr>
      <tr><th colspan="2">Chronology</th></tr><tr><td colspan="2">← Red Shoes | Aerial →</td></tr>
      <tr><th>Label</th><td>EMI</td></tr>"""
    assert texts(rows, "Aerial") == ["Aerial, Chronology, Label, EMI"]


def test_a_picture_takes_its_caption_with_it_and_a_flag_does_not():
    image = '<a class="image" href="/wiki/File:K.jpg"><img src="k.jpg" width="{}"></a>'
    rows = f"""<tr><th colspan="2">x</th></tr><tr><th colspan="2">Look</th></tr>
      <tr><td colspan="2">{image.format(220)}<div>Caption</div></td></tr>
      <tr><th colspan="2">Home</th></tr><tr><td colspan="2">{image.format(23)} England</td></tr>"""
    assert texts(rows, "x") == ["x, Home, England"]


def made_of(rows, title="Kate Bush"):
    """Path and (header, value) pairs of the attributes of a box."""
    snippets = read(rows, title)
    for snippet in snippets:
        assert snippet.row is None
    return [
        (list(snippet.path), [(part.header, snippet.text[part.start : part.end]) for part in snippet.parts])
        for snippet in snippets
    ]


def test_an_attribute_knows_its_path_and_its_values():
    rows = """<tr><th colspan="2">Kate Bush</th></tr><tr><th>Born:</th><td>Catherine Bush[1]<br>30 July 1958
      <br>Bexleyheath, England</td></tr>
      <tr><th colspan="2">Career:</th></tr><tr><th>Labels</th><td><ul><li>EMI</li><li>Fish People</li></ul></td></tr>
      <tr><th>Years</th><td>1975</td><td>now</td></tr>"""
    assert made_of(rows) == [
        (["Born"], [("", "Catherine Bush"), ("", "30 July 1958"), ("", "Bexleyheath, England")]),
        (["Career", "Labels"], [("", "EMI"), ("", "Fish People")]),
        (["Career", "Years"], [("", "1975"), ("", "now")]),
    ]


def test_the_path_of_bulleted_attributes_and_of_values_over_the_whole_width():
    rows = """<tr><th colspan="2">Bari</th></tr><tr><th>Area</th><td>10 km2</td></tr>
      <tr><th> • Total</th><td>9 km2</td></tr><tr><th>Time zone</th><td>CET</td></tr>
      <tr><th colspan="2">Twin towns</th></tr><tr><td colspan="2">Guangzhou<br>Batumi</td></tr>"""
    assert made_of(rows, "Bari") == [
        (["Area"], [("", "10 km2")]),
        (["Area", "Total"], [("", "9 km2")]),
        (["Time zone"], [("", "CET")]),
        (["Twin towns"], [("", "Guangzhou"), ("", "Batumi")]),
    ]


def test_values_below_columns_have_their_headers_and_no_attribute_of_their_own():
    rows = """<tr><th>Years</th><th>Team</th><th>Caps</th></tr><tr><td>1978</td><td></td><td>3<br>(1)</td></tr>
      <tr><th colspan="3">Career</th></tr><tr><th>Years</th><th></th><th>Caps</th></tr>
      <tr><td>1979</td><td>Luton</td><td>4</td></tr>"""
    assert made_of(rows) == [
        ([], [("Years", "1978"), ("Caps", "3"), ("Caps", "(1)")]),
        (["Career"], [("Years", "1979"), ("", "Luton"), ("Caps", "4")]),
    ]
