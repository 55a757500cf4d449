"""Parameters that may be given by a second name, too: that of the code that a caller was written for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def also_named(**names: str) -> Callable[[F], F]:
    """A decorator: a function takes arguments by further names (`further="own"`), one of the two at a time."""

    def decorated(function: F) -> F:
        @functools.wraps(function)
        def called(*arguments: Any, **arguments_by_name: Any) -> Any:
            for further, name in names.items():
                if further in arguments_by_name:
                    if name in arguments_by_name:
                        raise TypeError(f"{function.__name__}() got '{further}' and '{name}', which are one argument")
                    arguments_by_name[name] = arguments_by_name.pop(further)
            return function(*arguments, **arguments_by_name)

        return called  # type: ignore[return-value]

    return decorated
