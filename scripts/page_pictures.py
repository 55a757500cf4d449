"""The pictures of the web page in docs/images/, taken in headless Chromium, and how large and how fast the page is.

Needs the extras `clients` and `plots`, and a Chromium of the system: `.venv/bin/python scripts/page_pictures.py`.
"""

import base64
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
DOCS = Path(__file__).parents[1] / "docs"
IMAGES = DOCS / "images"
LARGEST = 150_000  # bytes of a picture
ANSWERED = "count => document.querySelectorAll('.turn .body').length === count && !document.querySelector('.pending')"
LOAD = """() => {
    const [page, ...files] = ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind));
    const own = [page, ...files.filter((file) => !file.name.includes("/v1/"))];
    const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    return [own.length, own.reduce((sum, file) => sum + file.decodedBodySize, 0), painted, page.loadEventEnd];
}"""
PICTURES = {  # width, height, theme, questions
    "page-light": (1200, 1500, "light", ("which actress plays Kay in The Godfather?", "when was she born?")),
    "page-dark": (1200, 1500, "dark", ("How many children did Leo Tolstoy have?", "What was the cause of his death?")),
    "page-phone": (390, 844, "light", ("which actress plays Kay in The Godfather?",)),
}
OF_FILES = {
    "page-files": (1200, 1200, "light", ("Who was the first director of the harbour museum?", "When was it opened?"))
}
MOVING = ("What is the notice period of Acker?", "Which contracts end before March 2025?")
_FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def executable():
    """The browser, or None."""
    return os.environ.get("CONVINSE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def chromium():
    """A browser while a `with` block runs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def service(*arguments):
    """The address of `serve api` on a free port."""
    command = [sys.executable, "-m", "convinse", "serve", "api", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield re.search(r"http://\S+", server.stdout.readline())[0]
        finally:
            server.terminate()


def opened(browser, address, width, height, theme, scale=1.5):
    """A page of the service, loaded for the first time."""
    size = {"width": width, "height": height}
    page = browser.new_page(viewport=size, color_scheme=theme, device_scale_factor=scale, reduced_motion="reduce")
    page.goto(address)
    page.wait_for_selector("[data-ready]")
    return page


def taken(page, path):
    shot = page.context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": 82})
    path.write_bytes(base64.b64decode(shot["data"]))
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path}: larger than {LARGEST} bytes; take less of the page, or a lower quality")


def take_pictures(browser, address, pictures):
    for name, (width, height, theme, questions) in pictures.items():
        page = opened(browser, address, width, height, theme)
        for count, question in enumerate(questions, 1):
            page.fill("#question", question)
            page.press("#question", "Enter")
            page.wait_for_function(ANSWERED, arg=count)
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(300)  # what is drawn anew when the size changes
        taken(page, IMAGES / f"{name}.webp")
        page.context.close()


def moving(browser, address, folder, questions):
    """A folder is chosen, questions are asked, a document is opened: pictures of these moments as one that moves, 20 s."""
    from PIL import Image

    page = opened(browser, address, 880, 660, "light", scale=1)
    moments = []

    def moment(seconds):
        page.wait_for_timeout(400)
        moments.append((Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int(seconds * 1000)))

    moment(1.5)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(folder)
    page.wait_for_function(
        "() => document.getElementById('files-name').textContent && !document.querySelector('.coming')"
    )
    moment(2.5)
    for count, question in enumerate(questions, 1):
        for end in range(0, len(question), 12):
            page.fill("#question", question[: end + 12])
            page.wait_for_timeout(50)
            moments.append((Image.open(io.BytesIO(page.screenshot())).convert("RGB"), 250))
        page.press("#question", "Enter")
        page.wait_for_function(ANSWERED, arg=count)
        moment(3.5)
    page.locator(".turn").last.locator(".cited").first.click()
    page.get_by_role("button", name="Open the whole file").last.click()
    moment(3.5)
    page.context.close()
    (first, _), *rest = moments
    path = IMAGES / "page-moving.webp"
    durations = [duration for _, duration in moments]
    first.save(
        path,
        save_all=True,
        append_images=[picture for picture, _ in rest],
        duration=durations,
        loop=0,
        quality=60,
        method=6,
    )
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {sum(durations) / 1000:.0f} s, {len(moments)} pictures")


def main():
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name, content in _FILE.findall((DOCS / "your-own-files.md").read_text(encoding="utf-8")):
            path = Path(folder, "town", name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        with service("--over", f"{folder}/town") as address:
            take_pictures(browser, address, OF_FILES)
    with service() as address, chromium() as browser:
        moving(browser, address, DOCS.parent / "examples/contracts", MOVING)
        take_pictures(browser, address, PICTURES)
        loads = []
        for _ in range(5):
            page = opened(browser, address, 1200, 820, "light")
            loads.append(page.evaluate(LOAD))
            page.context.close()
    files, size, painted, loaded = sorted(loads, key=lambda load: load[-1])[2]
    print(f"{files} files, {size / 1000:.1f} kB; painted after {painted:.0f} ms, loaded after {loaded:.0f} ms (median)")


if __name__ == "__main__":
    main()
