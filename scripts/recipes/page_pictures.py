"""The pictures of the web page in docs/images/, taken in headless Chromium (`python -m recipes.page_pictures`, extra `clients`)."""

import base64
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

IMAGES = Path(__file__).parents[2] / "docs" / "images"
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync"
ANSWERED = "count => document.querySelectorAll('.turn .body').length === count && !document.querySelector('.pending')"
PICTURES = {  # width, height, theme, questions
    "page-start": (1200, 820, "light", ()),
    "page-light": (1200, 1500, "light", ("which actress plays Kay in The Godfather?", "when was she born?")),
    "page-dark": (1200, 1500, "dark", ("How many children did Leo Tolstoy have?", "What was the cause of his death?")),
    "page-phone": (390, 844, "light", ("which actress plays Kay in The Godfather?",)),
}


def executable():
    return os.environ.get("CONVINSE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS.split())
        try:
            yield browser
        finally:
            browser.close()


def take_picture(browser, address, name):
    width, height, theme, questions = PICTURES[name]
    size = {"width": width, "height": height}
    page = browser.new_page(viewport=size, color_scheme=theme, device_scale_factor=1.5, reduced_motion="reduce")
    page.goto(address)
    page.wait_for_selector("[data-ready]")
    for count, question in enumerate(questions, 1):
        page.fill("#question", question)
        page.press("#question", "Enter")
        page.wait_for_function(ANSWERED, arg=count)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)  # what is drawn anew when the size changes
    shot = page.context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": 82})
    (IMAGES / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))


def main():
    command = [sys.executable, "-m", "convinse", "serve", "api", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, chromium() as browser:
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        for name in PICTURES:
            take_picture(browser, address, name)
        server.terminate()


if __name__ == "__main__":
    main()
