"""The web page in a browser, as people use it: by mouse, by keyboard, on a phone, in the dark, and with texts that mean harm."""

import json
import re
from pathlib import Path

import pytest

from browser import Page
from convinse.serving.api import ServiceOptions, create_app
from drawn_pdf import pdf_of
from loopback import served
from page_pictures import chromium, executable
from patience import PATIENCE
from services import ask, begun, exchange, turn_of
from written import write

pytest.importorskip("playwright", reason="Playwright is not installed (extra clients)")
pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium is installed")
DIRECTED, RELEASED = "who directed Titanic?", "when was it released?"
TOKEN = "a-token-of-the-tests"
SHIPS = "The museum shows 312 model ships."
HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser, server, pipeline):
    """Opens the page in a context of its own; at the end nothing was complained of, and nobody else was asked."""
    contexts, pages = [], []

    def make(fragment="", port=server, is_ready=True, **options):
        contexts.append(
            browser.new_context(**{"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce", **options})
        )
        pages.append(Page(contexts[-1], port))
        return pages[-1].open(fragment, is_ready)

    yield make
    pipeline.go.set()
    for page in pages:
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith((page.address, "blob:", "about:"))] == []
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def exported(server):
    """A conversation of two turns, as the service stores it."""
    path = begun(server)
    for question in (DIRECTED, RELEASED):
        turn_of(server, path, question)
    return exchange(server, "GET", path)["conversation"]


def state_of(server, page):
    """What the service knows of the conversation of a page."""
    return exchange(server, "GET", f"/v1/conversations/{page.conversation}")


def stored(server, *turns):
    """The fragment of a conversation that has these turns."""
    return "#" + begun(server, conversation={"conv_id": "x", "questions": list(turns)}).rpartition("/")[2]


def answered(question, label, text, name=None, **more):
    """A turn with one answer that one sentence says."""
    start = text.find(label)
    answer = {"answer": {"id": name or label, "label": label}, "score": 0.9, "rank": 1, "evidences": [0]}
    if start >= 0:
        answer["spans"] = [{"evidence": 0, "start": start, "end": start + len(label)}]
    about = {"id": "Q1", "label": label[:100]}
    sentence = {"evidence_text": text, "source": "text", "wikidata_entities": [about], "disambiguations": []}
    sentence |= {"retrieved_for_entity": about, "score": 0.5}
    understood = {"question": question, "structured_representation": text[:100]}
    return {**understood, "pred_answers": [answer], "top_evidences": [sentence], **more}


# -- a conversation


def test_two_turns_their_evidence_and_where_the_second_came_from(opened):
    page = opened().ask(DIRECTED).ask(RELEASED)
    first, second = page.locator(".turn").nth(0), page.locator(".turn").nth(1)
    assert first.locator(".answer-label").inner_text() == "James Cameron"
    assert "1997" in second.locator(".answer-label").inner_text()
    assert page.locator("#live").inner_text().startswith("Answer: ")
    card = first.locator(".support .card").first
    assert card.locator("mark").last.inner_text() == "James Cameron"
    assert card.locator("a", has_text="Wikipedia").get_attribute("rel") == "noopener noreferrer"
    card.locator("summary").click()
    assert not card.locator(".inside").is_visible()
    assert first.locator(".full").count() == 0  # it was in full
    assert second.locator(".full").inner_text().startswith("Read as when was Titanic released")
    chip = second.locator(".chip.taken")
    assert "Titanic" in chip.inner_text() and first.locator(".source-word").inner_text() == "Titanic"
    assert page.locator("#threads .thread path").count() == page.locator(".origin").count() > 0
    chip.locator(".origin").first.click()
    assert page.evaluate("document.activeElement.id") == "asked-0"
    choice = second.locator(".choice").nth(1)
    choice.click()
    assert choice.get_attribute("aria-pressed") == "true"
    assert choice.locator(".label").inner_text() in second.locator(".support h3").inner_text()
    first.locator(".all > summary").click()
    first.locator("[data-source=kb]").click()
    badges = first.locator(".everything .badge").all_inner_texts()
    assert set(badges) == {"Fact"} and len(badges) <= 20


def test_an_answer_says_what_it_rests_on_and_what_may_be_asked_next(opened):
    page = opened().ask(DIRECTED)
    first = page.locator(".turn").nth(0)
    assert first.locator(".said").inner_text().startswith("James Cameron directed Titanic [1]")
    assert first.locator(".reasons li").first.inner_text().startswith("It rests on [")
    question = first.locator(".follow-up").first.inner_text()
    first.locator(".follow-up").first.click()
    page.answered(2)
    assert page.locator(".turn h2 bdi").nth(1).inner_text() == question
    assert not first.locator(".follow-up").first.is_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_new_answer_stands_at_the_top_and_above_the_line(opened, width):
    page = opened(viewport={"width": width, "height": 844})
    for count, question in enumerate((DIRECTED, RELEASED, "which actress plays Kay in The Godfather?"), 1):
        page.ask(question, count)
        page.wait_for_timeout(300)
        places = page.evaluate("""() => {
            const place = (name) => [...document.querySelectorAll(name)].at(-1).getBoundingClientRect();
            return [place(".top").bottom, place(".turn h2").top, place(".turn .told").bottom, place(".composer").top];
        }""")
        assert places == sorted(places) and places[1] - places[0] < 60
        assert page.locator("#suggestion, .next").last.evaluate("node => !node.closest('.composer')")
    rests, answers = (page.locator(f".turn:last-child {name}").bounding_box() for name in (".rests", ".alternatives"))
    assert (answers["y"] > rests["y"] + rests["height"] - 1) == (width == 390)


def test_what_is_known_is_told_and_an_answer_says_how_sure_it_is(opened, server):
    page = opened()
    assert re.match(
        r"Known here: 5,536 items, 21,405 facts, 104 pages\. The facts are from Wikidata",
        page.locator("#start .known").inner_text(),
    )
    page.ask(DIRECTED)
    assert page.locator(".turn .sure").inner_text().split() == ["●●●", "likely", ">", "99", "%", "probable"]
    page.ask("who wrote its music?")
    page.get_by_role("button", name="Settings").click()
    page.locator("#threshold").fill("95")
    second = page.locator(".turn").nth(1)
    assert second.locator(".abstained").inner_text().startswith("No sure answer. It is less probable than 95 %")
    assert second.locator(".sure").inner_text().startswith("●○○ not known")


def test_a_question_is_changed_and_those_after_it_are_taken_back(opened, server):
    page = opened().ask(DIRECTED).ask(RELEASED).ask("who wrote its music?")
    page.locator(".turn").nth(1).get_by_role("button", name="Edit").click()
    assert page.input_value("#question") == RELEASED
    assert page.locator("#editing-text").inner_text() == "This changes question 2 and removes the question after it."
    page.ask("how long is it?", 2)
    assert page.locator(".turn h2 bdi").all_inner_texts() == [DIRECTED, "how long is it?"]
    turns = state_of(server, page)["conversation"]["questions"]
    assert [turn["question"] for turn in turns] == [DIRECTED, "how long is it?"]


def test_an_answer_is_copied_and_its_link_leads_to_it(opened):
    page = opened().ask(DIRECTED).ask(RELEASED)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied = "navigator.clipboard.readText()"
    first = page.locator(".turn").first
    first.get_by_role("button", name="Copy", exact=True).click()
    first.get_by_role("button", name="Copied").wait_for()
    question, answer, evidence, *_ = page.evaluate(copied).splitlines()
    assert (question, "James Cameron" in answer) == (DIRECTED, True) and evidence.startswith("[1] Titanic, ")
    page.locator(".turn").last.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Link copied").wait_for()
    address = page.evaluate(copied)
    assert address.endswith(f"#{page.conversation}") and address.endswith("/2")
    other = opened(address.partition("/")[2].partition("/")[2].partition("/")[2]).answered(2)
    other.wait_for_function("document.activeElement.id === 'asked-1'")
    assert 0 < other.locator("#asked-1").bounding_box()["y"] < 120


def test_conversations_are_kept_renamed_opened_and_deleted(opened, server):
    page = opened().ask(DIRECTED).ask(RELEASED)
    lost = page.conversation
    page.get_by_role("button", name="New").click()
    page.ask("who wrote The Lord of the Rings?", 1)
    assert ask(server, "DELETE", f"/v1/conversations/{lost}")[0] == 204
    page.get_by_role("button", name="Conversations").click()
    titles = page.locator("#history .title")
    assert titles.all_inner_texts() == ["who wrote The Lord of the Rings?", DIRECTED]
    page.get_by_role("button", name=f"Rename {DIRECTED}").click()
    page.get_by_label("New name").fill("Ships")
    page.keyboard.press("Enter")
    titles.get_by_text("Ships").click()
    page.answered(2).locator("#notice", has_text="no longer has this conversation").wait_for()
    assert page.locator(".answer-label").first.inner_text() == "James Cameron"
    page.ask("who wrote its music?", 3)  # it goes on
    assert page.conversation != lost and state_of(server, page)["turns"] == 3
    page.open(f"#{lost}/2").answered(3)  # the old address leads there, too
    page.get_by_role("button", name="Conversations").click()
    assert titles.all_inner_texts() == ["Ships", "who wrote The Lord of the Rings?"]
    page.get_by_role("button", name="Delete Ships").click()
    page.get_by_role("button", name="Delete for good? Ships").click()
    assert titles.count() == 1 and page.locator(".turn").count() == 0


def test_each_source_is_shown_as_what_it_is(opened):
    page = opened().ask("which actress plays Kay in The Godfather?")
    page.locator(".all > summary").click()
    for source, inside in (
        ("kb", ".fact a"),
        ("text", ".sentence"),
        ("info", ".entry-of-box dd li"),
        ("table", "th[scope=col]"),
    ):
        page.locator(f"[data-source={source}]").click()
        page.locator(f".everything .card.{source} > summary").first.click()
        page.locator(f".everything .card.{source} .inside {inside}").first.wait_for()
    card = page.locator(".everything .card.table").first
    card.get_by_role("button", name="Show the whole table").click()
    card.locator("tr[aria-current]").wait_for()
    page.ask("who directed it?", 2)  # what was opened stays open
    assert card.locator("tbody tr").count() > 1 and card.locator("tr[aria-current]").count() == 1
    assert page.locator(".actions .back:visible").count() == 1


def test_sources_are_switched_and_the_turn_is_asked_again(opened, server):
    page = opened().ask(DIRECTED)
    page.get_by_role("button", name="Settings").click()
    for source in ("kb", "text", "table"):
        page.locator(f"#sources [value={source}]").click()
    page.keyboard.press("Escape")
    assert page.locator("#from").inner_text() == "Answers from infoboxes"
    page.get_by_role("button", name="Ask again").click()
    page.wait_for_function("() => /^\\d+ infobox entries$/.test(document.querySelector('.counts')?.textContent)")
    state = state_of(server, page)
    assert (state["sources"], state["turns"]) == ("info", 1)
    page.locator("#from").click()
    page.locator("#sources [value=info]").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Ask again").click()
    page.get_by_role("alert").get_by_text("No source is switched on").wait_for()
    assert page.locator(".answer-label").count() == 1  # what was there stays


def test_a_turn_is_taken_back(opened, server):
    page = opened().ask(DIRECTED).ask(RELEASED)
    page.get_by_role("button", name="Take back").click()
    page.answered(1)
    page.wait_for_function("() => document.activeElement.id === 'question'")
    assert page.input_value("#question") == RELEASED
    assert state_of(server, page)["turns"] == 1


def test_a_reload_keeps_the_conversation_and_an_address_leads_to_it(opened):
    page = opened().ask(DIRECTED)
    page.locator("#from").click()
    page.locator("#sources [value=kb]").click()
    page.ask(RELEASED)
    page.reload()
    page.answered(2)
    assert "#conv_" in page.url and not page.locator("#sources input[value=kb]").is_checked()
    assert page.locator("#threads .thread").count() > 0
    other = opened("#" + page.conversation).answered(2)
    other.ask("who wrote its music?", 3)
    page.ask("how long is it?", 4)  # another tab went on: what it asked is shown, too
    page.get_by_role("button", name="New").click()
    assert "#" not in page.url and page.locator(".turn").count() == 0 and page.locator("#start").is_visible()


def test_an_unknown_conversation_is_said_to_be_unknown(opened):
    page = opened("#conv_unknown")
    assert "no such conversation" in page.locator("#notice").inner_text()
    page.get_by_role("button", name="Begin a new one").click()
    assert page.ask(DIRECTED).locator(".answer-label").inner_text() == "James Cameron"


def test_examples_are_asked_question_by_question(opened):
    page = opened()
    page.locator(".example").nth(1).click()
    page.answered(1)
    page.locator(".suggested").click()
    page.answered(2)
    assert len(set(page.locator(".turn h2 bdi").all_inner_texts())) == 2


def test_a_conversation_is_exported_and_imported(opened, exported):
    page = opened().ask(DIRECTED)
    page.get_by_role("button", name="Conversations").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    download.value.save_as("given.json")
    assert json.loads(Path("given.json").read_text())["questions"][0]["question"] == DIRECTED
    Path("conversation.json").write_text(json.dumps([exported]))
    page.set_input_files("#file", "conversation.json")
    page.answered(2)
    Path("wrong.json").write_text('{"conv_id": 1, "questions": [{}]}')
    Path("none.json").write_text("{")
    for name, words in (("wrong.json", "question"), ("none.json", "not JSON")):
        page.set_input_files("#file", name)
        page.locator("#notice", has_text=words).wait_for()
    assert page.locator(".turn").count() == 2


# -- files


def write_files():
    """A file, a table and a file that cannot be read."""
    Path("museum.md").write_text(f"# Harbour museum\n\nThe museum was opened in 1987.\n\n## Ships\n\n{SHIPS}\n")
    Path("tickets.csv").write_text("Ticket,Price\nAdult,9 euros\nFamily,20 euros\n")
    Path("broken.json").write_text("{")
    return ["museum.md", "broken.json", "tickets.csv"]


def chips(page, *names):
    """Wait until the page shows these files."""
    page.wait_for_function("names => [...document.querySelectorAll('#files li bdi')].map((node) => node.textContent).join() === names"
    " && !document.querySelector('#files .coming')", arg=",".join(names))  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_files_are_added_asked_about_cited_and_removed(opened, pipeline, width, scheme):
    with served(create_app(pipeline, ServiceOptions(uploads=True))) as port:
        page = opened(port=port, viewport={"width": width, "height": 900}, color_scheme=scheme)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Ask about your own files").click()
        chooser.value.set_files(write_files())
        chips(page, "museum.md", "tickets.csv")
        page.locator("#notice", has_text="broken.json: is not JSON").wait_for()
        assert page.locator(".example .first").all_inner_texts() == ["What is the price of the Adult ticket?"]
        assert page.locator("#files").get_attribute("open") == (None if width == 360 else "")
        page.evaluate("document.getElementById('files').open = true")
        assert "until you remove them" in page.locator("#files").inner_text()
        page.ask("How many model ships does the museum show?")
        page.locator(".all > summary").click()
        page.locator(".everything .card > summary", has_text="model ships").first.click()
        page.locator(".everything .cited").first.click()
        assert page.locator(".around [aria-current]").inner_text().endswith(SHIPS)
        assert page.locator(".around li").count() == 2
        assert page.locator(".around mark").all_inner_texts() == ["312"]
        page.open_all()
        assert page.faults() == [] and page.overflow() <= 0
        page.evaluate("""() => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File(["It lends 40,000 books."], "library.txt"));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
        }""")
        page.ask("How many books?", 2)  # it waits for the file
        assert "40,000" in page.locator(".turn").nth(1).inner_text()
        page.reload()
        chips(page, "library.txt", "museum.md", "tickets.csv")
        page.evaluate("document.getElementById('files').open = true")
        page.get_by_role("button", name="Remove library.txt").click()
        chips(page, "museum.md", "tickets.csv")
        page.get_by_role("button", name="New").click()
        chips(page, "museum.md", "tickets.csv")  # a new conversation goes on with them
        page.ask("How many model ships does the museum show?", 1)
        assert page.locator(".answer-label").inner_text() == "312"
        page.evaluate("document.getElementById('files').open = true")
        page.get_by_role("button", name="Remove all").click()
        page.locator("#files").wait_for(state="hidden")
        page.get_by_role("button", name="New").click()
        assert page.locator("#files").is_hidden() and page.locator(".example").count() > 3


def test_a_folder_is_chosen_folded_into_a_line_and_its_document_opened(opened, pipeline):
    for number in range(1, 6):
        write(f"notes/visits/{number}.md", f"# Visit {number}\n\nVisit {number} was on {number} March 2024.\n")
    write("notes/long.md", "# Harbour\n\n" + "".join(f"Ship {n} has {n + 500} sails.\n\n" for n in range(40)))
    write("notes/photo.png", "x")
    write("notes/.hidden.md", "x")
    with served(create_app(pipeline, ServiceOptions(uploads=True))) as port:
        page = opened(port=port)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Choose a folder").click()
        chooser.value.set_files("notes")
        page.locator("#files-name", has_text="notes: 6 files, 1 not read").wait_for()
        assert page.locator("#files").get_attribute("open") is None
        assert page.locator("#files .unread li").text_content() == "photo.png: of a kind that is not read"
        assert page.locator("#from").inner_text() == "Answers from your files"
        page.ask("How many sails has ship 20?")
        page.open_all()
        page.locator(".cited", has_text="long.md, ").first.click()
        page.get_by_role("button", name="Open the whole file").first.click()
        text = page.locator("#document-text")
        text.locator("[aria-current]").wait_for()
        assert text.locator("li").count() > 11 and text.locator("[aria-current] mark").first.is_visible()
        assert page.faults() == []
        page.keyboard.press("Escape")
        assert not page.locator("#document").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_a_pdf_opens_on_its_page_with_the_words_marked(opened, pipeline, width, scheme):
    hall = "\n\n".join(f"Hall {number} has {number + 20} lamps." for number in range(1, 25))
    Path("tour.pdf").write_bytes(
        pdf_of(["The way to the museum.", f"{hall}\n\nIts hall shows 312 model ships.", "End."])
    )
    with served(create_app(pipeline, ServiceOptions(uploads=True))) as port:
        page = opened(port=port, viewport={"width": width, "height": 800}, color_scheme=scheme)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Ask about your own files").click()
        chooser.value.set_files("tour.pdf")
        page.locator("#files-name", has_text="tour.pdf").wait_for()
        page.ask("How many model ships does the hall show?")
        page.open_all()
        page.locator(".cited", has_text="tour.pdf, page 2").first.click()
        page.get_by_role("button", name="Open the whole file").first.click()
        picture = page.get_by_role("img", name="Page 2 of tour.pdf; the quoted words are marked")
        picture.wait_for()
        place, mark = page.locator("#document-page").bounding_box(), page.locator(".sheet rect").bounding_box()
        assert place["y"] < mark["y"] < place["y"] + place["height"] and mark["width"] > 100
        assert place["x"] <= mark["x"] < place["x"] + place["width"]
        ink = page.evaluate("""() => {
            const canvas = document.querySelector(".sheet canvas"), rect = document.querySelector(".sheet rect");
            const part = (name, size) => Math.round(rect[name].baseVal.value * size);
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(part("x", width), part("y", height), part("width", width), part("height", height));
            return data.filter((value, place) => place % 4 === 0 && value < 128).length / (data.length / 4);
        }""")
        assert ink > 0.1  # the words are there
        assert page.faults() == [] and page.overflow() <= 0
        page.get_by_role("button", name="Next page").click()
        page.get_by_role("img", name="Page 3 of tour.pdf", exact=True).wait_for()
        assert page.evaluate("document.activeElement.id") == "document-page"  # there is no next one
        assert page.get_by_role("button", name="Next page").is_disabled() and page.locator(".sheet rect").count() == 0
        page.get_by_role("button", name="Text", exact=True).click()
        cited = page.locator("#document-text [aria-current]")
        assert cited.is_visible() and cited.locator(".where").inner_text() == "page 2"
        assert cited.locator("mark").inner_text() == "312" and page.faults() == []
        page.keyboard.press("Escape")
        assert not page.locator("#document").is_visible()


def test_conversations_are_searched(opened):
    page = opened().ask(DIRECTED)
    page.get_by_role("button", name="New").click()
    page.ask("who wrote The Lord of the Rings?", 1)
    page.get_by_role("button", name="Conversations").click()
    for words, titles in (("cameron", [DIRECTED]), ("RINGS", ["who wrote The Lord of the Rings?"]), ("nothing", [])):
        page.get_by_label("Search the conversations").fill(words)
        assert page.locator("#history .title").all_inner_texts() == titles
    assert page.locator("#none-kept").inner_text() == "No conversation has these words."


def test_one_types_on_after_an_example_that_was_chosen_by_keyboard(opened):
    page = opened()
    page.wait_for_function("document.activeElement.id === 'question'")
    page.locator(".example").first.focus()
    page.keyboard.press("Enter")
    page.answered(1)
    page.keyboard.type("and then?")
    assert page.input_value("#question") == "and then?"


def test_a_server_that_takes_no_files_shows_no_button(opened):
    page = opened()
    assert page.locator("#add").is_hidden() and page.locator("#invitation").is_hidden()


# -- what is under way, and what goes wrong


def test_the_stages_are_shown_and_an_answer_is_cancelled(opened, pipeline, server):
    page = opened().ask(DIRECTED)
    pipeline.hold()
    page.send(RELEASED)
    page.locator(".stages [aria-current=step]").get_by_text("Understanding").wait_for()
    assert pipeline.entered.wait(PATIENCE)
    page.get_by_role("button", name="Cancel").click()
    page.answered(1)
    assert page.input_value("#question") == RELEASED and page.evaluate("document.activeElement.id") == "question"
    pipeline.go.set()
    page.ask(RELEASED, 2)
    assert state_of(server, page)["turns"] == 2


@pytest.mark.parametrize(("status", "shown"), [(429, "in 7 s"), (409, "Too much to do")])
def test_a_refusal_is_shown_in_a_line_and_can_be_retried(opened, status, shown):
    page = opened()

    def refuse(route):
        route.fulfill(
            status=status, json={"error": "too much to do"}, headers={"Retry-After": "7"} if status == 429 else {}
        )

    page.route("**/turns", refuse)
    page.send(DIRECTED)
    page.locator(".turn .failure", has_text=shown).wait_for()
    page.unroute("**/turns")
    page.get_by_role("button", name="Retry").click()
    assert page.answered(1).locator(".failure:visible").count() == 0


def test_a_server_that_is_away_and_a_conversation_that_it_lost(opened, server):
    page = opened().ask(DIRECTED)
    page.context.set_offline(True)
    page.send(RELEASED)
    page.locator(".turn .failure", has_text="cannot be reached").wait_for()
    page.context.set_offline(False)
    name = page.conversation
    assert ask(server, "DELETE", f"/v1/conversations/{name}")[0] == 204
    page.get_by_role("button", name="Retry").click()
    page.get_by_role("button", name="Go on in a new conversation").click()
    page.answered(2)
    assert page.conversation not in ("", name)


def test_a_token_is_asked_for_and_stays_in_the_tab(opened, pipeline):
    with served(create_app(pipeline, ServiceOptions(token=TOKEN))) as port:
        page = opened(port=port, is_ready=False)
        for token, words in (("wrong", "Whoever runs"), (TOKEN, "not its token")):
            page.locator("#access-text", has_text=words).wait_for()
            page.fill("#token", token)
            page.press("#token", "Enter")
        page.wait_for_selector("[data-ready]")
        page.ask(DIRECTED)
        assert page.evaluate("[sessionStorage.length, document.cookie]") == [1, ""]
        assert TOKEN not in page.evaluate("JSON.stringify(localStorage)")
        assert TOKEN not in page.url and page.input_value("#token") == ""
        page.reload()
        page.answered(1)


# -- texts, people and devices


def test_texts_that_mean_harm_are_texts(opened, server):
    turn = answered(HOSTILE, HOSTILE, f"Before {HOSTILE} behind", abstained={"reason": HOSTILE})
    other = {**answered("what of rows?", "x", "x"), "top_evidences": [
        {"evidence_text": HOSTILE, "source": "table", "wikidata_entities": [], "disambiguations": [], "row": {"caption": HOSTILE, "section": HOSTILE, "cells": [{"header": HOSTILE, "text": HOSTILE, "entities": [], "start": 0, "column": 0}]}},
        {"evidence_text": HOSTILE, "source": "info", "wikidata_entities": [], "disambiguations": [], "attribute": {"path": [HOSTILE], "values": [{"text": HOSTILE, "entities": [], "start": 0}]}},
        {"evidence_text": HOSTILE, "source": "kb", "wikidata_entities": [], "disambiguations": [], "fact": [{"id": "javascript:alert(1)", "label": HOSTILE}] * 5},
    ]}  # fmt: skip
    page = opened(stored(server, turn, other))
    page.open_all()
    assert page.locator(".answer-label bdi").first.inner_text() == HOSTILE
    assert (
        page.locator("img").count()
        == page.locator("main script").count()
        == page.locator("a[href^=javascript]").count()
        == 0
    )
    assert page.title() != "taken" and page.locator("caption").first.inner_text().count(HOSTILE) == 1


def test_long_texts_and_texts_from_right_to_left(opened, server):
    long = answered("tell me all", "word " * 1999 + "ended", "w" * 10_000)
    hebrew = answered("מי ביים את טיטניק?", "ג'יימס קמרון", "הסרט בוים בידי ג'יימס קמרון \U0001f600.")
    page = opened(stored(server, long, hebrew), viewport={"width": 360, "height": 740})
    page.open_all()
    assert page.overflow() <= 0
    label = page.locator(".answer-label").first
    assert len(label.inner_text()) < 600
    label.get_by_role("button", name="Show all 10,000 characters").click()
    assert label.locator("bdi").inner_text().endswith("ended")
    sentence = page.locator(".sentence").last
    assert sentence.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert sentence.locator("mark").inner_text() == "ג'יימס קמרון"


def test_an_abstention_says_why(opened, server):
    unsure = answered("who?", "Jack", "Jack or Jill", abstained={"reason": "the evidences disagree: Jack or Jill"})
    page = opened(stored(server, unsure, {**answered("who?", "x", "x"), "pred_answers": []}))
    assert page.locator(".abstained").inner_text() == "No sure answer. The evidences disagree: Jack or Jill."
    assert page.locator(".guess").is_visible()
    assert "Nothing in these sources" in page.locator(".nothing").inner_text()


def test_talk_questions_back_and_further_parts(opened, server):
    said = {"question": "hi", "structured_representation": "", "pred_answers": [], "top_evidences": []}
    names = [
        {"id": "Q1", "label": "Rome", "description": "city"},
        {"id": "Q2", "label": "Rome", "description": "series"},
    ]
    back = {"clarification": {"question": "Which “Rome” do you mean?", "choices": names}}
    part = answered("and when?", "1975", "It was 1975.")
    turns = [
        {**said, "act": "greeting", "sentence": "Hello."},
        answered("who?", "Ann", "Ann did.", parts=[part], **back),
    ]
    page = opened(stored(server, *turns))
    assert page.locator(".reply").all_inner_texts() == ["Hello."]
    assert page.locator(".answer-label").all_inner_texts() == ["Ann", "1975"]
    page.locator(".meaning").nth(1).click()
    page.locator(".turn").nth(2).wait_for()
    assert page.locator(".turn").nth(2).locator("h2").inner_text().endswith("Q2")


def test_a_fetched_evidence_says_as_of_when_it_is_and_leads_to_its_revision(opened, server):
    turn = answered(DIRECTED, "James Cameron", "Titanic, director, James Cameron")
    turn["live"] = {"requests": ["named Titanic"], "failures": ["www.wikidata.org: no answer within 10 s"]}
    address = "https://www.wikidata.org/w/index.php?title=Q44578&oldid=7"
    origin = {"url": "https://www.wikidata.org/wiki/Q44578#P57", "revision_url": address, "date": "2026-11-20"}
    turn["top_evidences"][0]["origin"] = origin
    harmful = answered("who?", "x", "x")
    harmful["top_evidences"][0]["origin"] = {**origin, "url": "javascript:alert(1)"}
    page = opened(stored(server, turn, harmful))
    page.open_all()
    assert page.locator(".foot a").first.inner_text().startswith("as of 2026-11-20")
    assert (
        page.locator(f".foot a[href='{origin['url']}']").count() and page.locator(f".foot a[href='{address}']").count()
    )
    assert page.locator("a[href^=javascript]").count() == 0
    assert page.locator(".guess").first.inner_text() == "Not looked up: www.wikidata.org: no answer within 10 s."


def test_the_keyboard_does_it_all(opened):
    page = opened()
    assert page.evaluate("document.activeElement.id") == "question"
    page.focus("#skip")
    assert page.locator("#skip").is_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type(DIRECTED)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.answered(1)
    page.ask(RELEASED)
    seen, expected = set(), {"origin", "choice", "summary", "again", "back", "entity", "more"}
    page.evaluate("document.querySelector('h2#asked-0').focus()")
    for _ in range(80):
        page.keyboard.press("Tab")
        node = page.evaluate(
            "() => { const node = document.activeElement, style = getComputedStyle(node);"
            " return [node.tagName.toLowerCase(), ...node.classList, style.outlineStyle === 'none' && node.id !== 'question' ? 'unseen' : 'seen'] }"
        )
        assert "unseen" not in node or "switch" in node or node[0] == "input", node
        seen |= set(node)
        if "summary" in node and "opened" not in seen:
            seen.add("opened")
            count = page.locator("details[open]").count()
            page.keyboard.press("Enter")
            page.wait_for_function("count => document.querySelectorAll('details[open]').length !== count", arg=count)
        if node[0] == "textarea":
            break
    assert expected <= seen
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert not page.locator("#sources input").first.is_checked()
    page.keyboard.press("Escape")
    page.focus("#question")
    page.keyboard.press("ArrowUp")
    assert page.input_value("#question") == RELEASED and page.locator("#editing").is_visible()
    page.keyboard.press("Escape")
    assert page.input_value("#question") == "" and page.locator("#editing").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_accessibility_checker_finds_no_fault(opened, scheme):
    page = opened(color_scheme=scheme)
    if scheme == "light":
        assert page.faults() == []
    page.ask(DIRECTED).ask(RELEASED)
    page.open_all()
    page.evaluate(
        "document.querySelector('#notice').hidden = false; document.querySelector('#notice').textContent = 'words'"
    )
    assert page.faults() == []
    for name in ("Conversations", "Settings", "Help"):
        page.get_by_role("button", name=name, exact=True).click()
        assert page.faults() == []
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('#access').showModal()")
    assert page.faults() == []


def test_the_theme_is_that_of_the_system_until_one_is_chosen(opened):
    page = opened(color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Settings").click()
    page.locator("#theme").click()
    light = page.evaluate(background)
    page.reload()
    page.wait_for_selector("[data-ready]")
    assert page.evaluate(background) == light != dark
    assert page.locator("#theme").get_attribute("aria-pressed") == "false"


def test_a_phone_has_it_all_in_its_width(opened):
    page = opened(viewport={"width": 360, "height": 740}, has_touch=True)
    assert page.overflow() <= 0
    page.ask("which actress plays Kay in The Godfather?").ask("who directed it?")
    page.open_all()
    assert page.overflow() <= 0
    for node in page.locator(".top button, .composer #add:visible, .composer #send").all():
        box = node.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360 and box["height"] >= 28
