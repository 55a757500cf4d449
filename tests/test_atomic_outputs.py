"""Every writer, killed at six instants (with --all at twenty), on a full disk and without the right to write: the output is the older or the newer one, never half."""

import json
import signal
import subprocess
import sys

import pytest

import atomic_writers
from case_tables import slow_but
from patience import PATIENCE

WRITERS = [*atomic_writers.WRITERS]
# what is changed by the means of those who write it anew, and a folder that is written as that of a knowledge base
LIKE_OTHERS = ("changed knowledge base", "pages of a Wikipedia dump", "passages")
GOES_ON = ["cache"]  # which is done without


@pytest.mark.parametrize("kills", slow_but([6], [6, 20]))
@pytest.mark.parametrize("writer", slow_but({*WRITERS}.difference(LIKE_OTHERS), WRITERS))
def test_after_any_interruption_an_output_is_the_older_or_the_newer_one(workdir, writer, kills):
    command = [sys.executable, atomic_writers.__file__, writer, str(kills)]
    driver = subprocess.run(command, capture_output=True, text=True, cwd=workdir, timeout=PATIENCE, check=False)
    assert driver.returncode == 0, driver.stderr
    attacks = [json.loads(line) for line in driver.stdout.splitlines()]
    kinds = [kind for kind, *_ in attacks]
    assert (kinds.count("kill"), kinds.count("full"), kinds.count("read-only")) == (kills, 2, 1)
    killed = [
        status for kind, _, status, *_ in attacks if kind == "kill" and status in (-signal.SIGKILL, -signal.SIGXFSZ)
    ]
    assert len(killed) >= kills * 3 // 4  # the others ended before
    for attack in attacks:
        kind, _, status, lines, state, again, left, newer = attack
        assert state != "neither" and again == 0 and left == [] and newer, attack
        if kind in ("full", "read-only"):
            expected = (0, "going on without it") if writer in GOES_ON else (1, "cannot be ")
            assert status == expected[0] and len(lines) == 1 and expected[1] in lines[0], attack
            assert state in ("older", "older or newer"), attack
