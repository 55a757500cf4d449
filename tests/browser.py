"""The web page as tests use it: a tab, with what it requested and complained of."""

from recipes.page_pictures import ANSWERED

PATIENCE = 60_000  # milliseconds, on a busy machine


class Page:
    """A page of the service, with what it requested and complained of."""

    def __init__(self, context, port):
        self.address = f"http://127.0.0.1:{port}"
        self.context, self.tab = context, context.new_page()
        self.tab.set_default_timeout(PATIENCE)
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

    def ask(self, question, count=None):
        """Ask, and wait until so many turns are answered."""
        before = self.tab.locator(".turn").count()
        self.tab.fill("#question", question)
        self.tab.press("#question", "Enter")
        return self.answered(before + 1 if count is None else count)

    def answered(self, count):
        """Wait until so many turns are answered and nothing is under way."""
        self.tab.wait_for_function(ANSWERED, arg=count)
        return self

    def __getattr__(self, name):
        return getattr(self.tab, name)
