"""Words of talk around questions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .word_lists import Numbers, WordSet


@dataclass(frozen=True, eq=False)
class TalkWords:
    """What corrections, choices and questions of several parts are told by; `talk.txt` says what each list is for."""

    taking_back: re.Pattern[str]
    put_right: re.Pattern[str]
    leading: re.Pattern[str]
    joined: re.Pattern[str]
    behind_joined: re.Pattern[str]
    before_times: WordSet
    choosing: re.Pattern[str]
    places: Numbers
    other_one: re.Pattern[str]
    referring: WordSet
