"""What the workers of `bench cluster` do; they import it."""

from __future__ import annotations

import time

import msgspec

from convinse.formats.run_folder import FinishedConversation


class Sleeper:
    """A stage of known length: a conversation that is finished already, after a while."""

    def __init__(self, seconds: float, conversation: bytes) -> None:
        self._seconds, self._conversation = seconds, msgspec.json.decode(conversation)

    def __call__(self, number: int) -> FinishedConversation:
        time.sleep(self._seconds)
        return FinishedConversation.of({**self._conversation, "conv_id": str(number)})
