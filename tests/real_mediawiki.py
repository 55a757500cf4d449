"""A real MediaWiki of Debian's package, with SQLite and PHP's own server: the tests' pages in it, on a free port of this machine.

apt-get install mediawiki php-cli php-sqlite3
"""

import os
import shutil
import sqlite3
import subprocess
import time
import urllib.request
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from loopback import free_port

CODE = Path("/usr/share/mediawiki")
PAGES = {
    "Titanic (1997 film)": "{{Short description|A film}}'''Titanic''' is a 1997 film directed by [[James Cameron]]. "
    "Its stars are [[Leo DiCaprio|Leonardo DiCaprio]] and [[Kate Winslet]].\n\n"
    "{| class=wikitable\n! Role !! Actor\n|-\n| Jack || [[Leonardo DiCaprio]]\n|}\n",
    "James Cameron": "'''James Cameron''' is a film director from Canada. He directed [[Titanic (1997 film)]].",
    "Leonardo DiCaprio": "'''Leonardo DiCaprio''' is an American actor.",
    "Kate Winslet": "'''Kate Winslet''' is an English actress.",
    "Leo DiCaprio": "#REDIRECT [[Leonardo DiCaprio]]",
    "Template:Short description": "",
}
ITEMS = {
    "Titanic (1997 film)": "Q44578",
    "James Cameron": "Q42574",
    "Leonardo DiCaprio": "Q38111",
    "Kate Winslet": "Q202765",
}


def reason_to_skip():
    """Why there is no MediaWiki here; empty where there is one."""
    if shutil.which("php") is None or not (CODE / "maintenance" / "install.php").is_file():
        return "no MediaWiki: apt-get install mediawiki php-cli php-sqlite3"
    modules = subprocess.run(["php", "-m"], capture_output=True, text=True, check=False).stdout.split()
    missing = {"pdo_sqlite", "mbstring", "xml"} - set(modules)
    return f"PHP has no {', '.join(sorted(missing))}" if missing else ""


@contextmanager
def real_mediawiki(folder):
    """Install a wiki in a folder, put the pages into it, and serve it while a `with` block runs; yields the address of its API."""
    port = free_port()
    settings = folder / "LocalSettings.php"
    environment = {**os.environ, "MW_CONFIG_FILE": str(settings)}

    def maintain(script, *arguments, **options):
        subprocess.run(
            ["php", str(CODE / "maintenance" / script), *arguments], check=True, capture_output=True, env=options.get("env", environment)
        )  # fmt: skip

    maintain("install.php", "--dbtype", "sqlite", "--dbname", "wiki", "--dbpath", str(folder / "db"), "--confpath", str(folder), "--scriptpath", "",
             "--server", f"http://127.0.0.1:{port}", "--pass", "not a secret: the wiki lives for a test", "World", "Admin", env=dict(os.environ))  # fmt: skip
    with settings.open("a") as file:
        file.write('\n$wgArticlePath = "/wiki/$1";\n')  # as Wikipedia has it
    texts = folder / "texts"
    texts.mkdir()
    for title, text in PAGES.items():
        (texts / f"{title}.txt").write_text(text)
    maintain("importTextFiles.php", "--user", "Admin", *map(str, sorted(texts.iterdir())))
    maintain("runJobs.php")
    maintain("rebuildtextindex.php")
    with closing(sqlite3.connect(folder / "db" / "wiki.sqlite")) as database, database:
        for title, item in ITEMS.items():  # as Wikibase's client does
            (page,) = database.execute("SELECT page_id FROM page WHERE page_title = ? AND page_namespace = 0", [title.replace(" ", "_")]).fetchone()  # fmt: skip
            database.execute(
                "INSERT INTO page_props (pp_page, pp_propname, pp_value) VALUES (?, 'wikibase_item', ?)", [page, item]
            )
    server = subprocess.Popen(
        ["php", "-S", f"127.0.0.1:{port}", "-t", str(CODE)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )  # fmt: skip
    try:
        api = f"http://127.0.0.1:{port}/api.php"
        _wait(f"{api}?action=query&meta=siteinfo&format=json", server)
        yield api
    finally:
        server.terminate()
        server.wait()


def _wait(address, server):
    for _ in range(100):
        assert server.poll() is None
        with suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise AssertionError("the wiki does not answer")
