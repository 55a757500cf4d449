"""What workers of a cluster do in the tests; they import it."""

import os
import resource
import signal
import time
from pathlib import Path

from convinse.batch_runner import open_like
from convinse.heterogeneous_answering.entity_voting import EntityVoting
from convinse.support.errors import DataError

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}  # of a cluster


class Harm:
    """The process of each piece; what is done to it instead for piece 5, where `once` only if no file says that it was done.

    `kill there`: for every piece, on the node whose user's cache folder it is.
    """

    def __init__(self, harm="", folder="", pause=0.0):
        self._harm, self._folder, self._pause = harm, folder, pause

    def __call__(self, piece):
        time.sleep(self._pause * (3 - piece % 3))
        if self._harm == "kill there":
            if os.environ["XDG_CACHE_HOME"] == self._folder:
                Path(self._folder, f"killed {piece} {os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return piece, os.getpid()
        if self._folder:
            Path(self._folder, f"{piece}-{os.getpid()}").touch()
        if piece != 5:
            return piece, os.getpid()
        if self._harm == "data":
            raise DataError("page 5: is no page")
        if self._harm == "memory":
            raise MemoryError
        if self._harm == "answer":
            return lambda: "no pickle has it"
        if self._harm == "kill" or (self._harm == "kill once" and len(list(Path(self._folder).glob("5-*"))) == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        return piece, os.getpid()


class Cramped:
    """A pipeline of `open_like`. On the node whose user's cache folder is `where` it is short of something: with `disk` no file may
    have more than 100 kB, with `memory` the process no more than it has."""

    def __init__(self, harm, where, *given):
        self._harm = harm if where == os.environ.get("XDG_CACHE_HOME") else ""
        if self._harm == "disk":
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        self._runner = open_like(*given)

    def __call__(self, batch):
        if self._harm == "memory":
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
            bytearray(1 << 31)
        return self._runner(batch)

    def close(self):
        self._runner.close()


class SlowVotes(EntityVoting):
    """Voting that takes a while, as a model does. Of questions, `fail` is an error and `end` ends the process."""

    def inference_on_turns(self, turns, sources):
        time.sleep(0.2)
        for turn in turns:
            if turn["question"] == "fail":
                raise DataError("the question cannot\nbe answered")
            if turn["question"] == "end":
                os.kill(os.getpid(), signal.SIGKILL)
        return super().inference_on_turns(turns, sources)
