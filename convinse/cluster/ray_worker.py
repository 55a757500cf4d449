"""What a process of a Ray cluster does: it makes something of pieces, one after another."""

from __future__ import annotations

import os
import pickle
import socket
import sys
from pathlib import Path
from typing import Any

from .piece_work import PieceWork


class RayWorker:
    """An actor of Ray. It works in the folder of whoever started the work where the node has that folder, else in its own.

    Args:
        folder: the working directory of the command.
        cores: threads that models may compute with.
        gpu: whether Ray has given it a GPU; else it sees none.
    """

    def __init__(self, folder: str, cores: int, gpu: bool) -> None:
        os.environ["OMP_NUM_THREADS"] = str(cores)
        if not gpu:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        if Path(folder).is_dir():
            os.chdir(folder)
            if folder not in sys.path:
                sys.path.append(folder)  # modules of the user's own, as at the command
        self._task = ""
        self._work: PieceWork | None = None

    def place(self) -> tuple[str, str]:
        """The name of the node, and its id in the cluster: several may have one name."""
        import ray

        return socket.gethostname(), ray.get_runtime_context().get_node_id()

    def answer(self, task: str, made: list[Any], piece: bytes) -> bytes:
        """The answer to a piece, see `cluster.piece_work.PieceWork`.

        Args:
            task: an id of `made`; the function is made anew when it changes.
            made: where in the cluster a pickle is of how the function is made, and from what.
            piece: a pickle.
        """
        if self._work is None or task != self._task:
            if self._work is not None:
                self._work.close()
            import ray

            self._work, self._task = PieceWork(*pickle.loads(ray.get(made[0]))), task
        return self._work.answer(pickle.loads(piece))
