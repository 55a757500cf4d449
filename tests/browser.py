"""The web page as tests use it: a tab, with what it requested and complained of."""

from pathlib import Path

import pytest

from page_pictures import ANSWERED
from patience import PATIENCE


class Page:
    """A page of the service, with what it requested and complained of."""

    def __init__(self, context, port):
        self.address = f"http://127.0.0.1:{port}"
        self.context, self.tab = context, context.new_page()
        self.tab.set_default_timeout(PATIENCE * 1000)  # milliseconds
        self.requests, self.complaints = [], []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("console", self._heard)

    def _heard(self, message):
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.complaints.append(message.text)

    def open(self, fragment="", is_ready=True):
        """Load the page; `fragment` names a conversation."""
        self.tab.goto("about:blank")
        self.tab.goto(f"{self.address}/{fragment}")
        if is_ready:
            self.tab.wait_for_selector("[data-ready]")
        return self

    @property
    def conversation(self):
        """The id of the conversation in the page's address; empty if there is none."""
        return self.tab.url.partition("#")[2]

    def send(self, question):
        """Ask, and do not wait."""
        self.tab.fill("#question", question)
        self.tab.press("#question", "Enter")

    def ask(self, question, count=None):
        """Ask, and wait until so many turns are answered."""
        before = self.tab.locator(".turn").count()
        self.send(question)
        return self.answered(before + 1 if count is None else count)

    def answered(self, count):
        """Wait until so many turns are answered and nothing is under way."""
        self.tab.wait_for_function(ANSWERED, arg=count)
        return self

    def open_all(self):
        """Unfold everything that can be unfolded, and wait until it is filled."""
        self.tab.wait_for_function(
            """() => {
                const closed = [...document.querySelectorAll("details:not([open])")];
                closed.forEach((node) => { node.open = true; });
                const cards = [...document.querySelectorAll(".card .inside, .everything")];
                return !closed.length && cards.every((node) => node.childNodes.length);
            }"""
        )

    def overflow(self):
        """How many pixels the page is wider than its window."""
        return self.tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def faults(self):
        """What axe calls serious or critical."""
        script = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js")
        if not self.tab.evaluate("'axe' in window"):
            self.tab.evaluate(script.read_text(encoding="utf-8"))
        found = self.tab.evaluate("axe.run({resultTypes: ['violations']}).then(result => result.violations)")
        return [
            (fault["id"], node["html"][:150], node["failureSummary"][:200])
            for fault in found
            for node in fault["nodes"]
            if fault["impact"] in ("serious", "critical")
        ]

    def __getattr__(self, name):
        return getattr(self.tab, name)
