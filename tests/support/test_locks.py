"""A system without file locks (Windows) is told of in one line, by the command line and by every import."""

import json

from patience import PATIENCE

REFUSED = "convinse runs on Linux and macOS; this system has no file locks of their kind. On Windows install it in the "
CODE = """
import json, sys
sys.modules["fcntl"] = None  # as on Windows, where there is no such module
def outcome(import_it):
    try:
        import_it()
    except ImportError as error:
        return str(error)
def public():
    from convinse import Pipeline
def inner():
    import convinse.dialogue.session, convinse.resources
def command():
    from convinse.cli import main
    raise ImportError(main(["ask", "Who directed Titanic?"]))
print(json.dumps([outcome(public), outcome(inner), outcome(command)]))
"""


def test_a_system_without_locks_is_refused_in_one_line(start):
    process = start(CODE)
    output, errors = process.communicate(timeout=PATIENCE)
    public, inner, status = json.loads(output)
    assert public == inner and public.startswith(REFUSED) and "\n" not in public
    assert status == "1" and errors == f"convinse: {public}\n"
