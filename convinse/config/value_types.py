"""The types of configuration values (bounds, units, forms), and the base class of all settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from ..support.errors import UnknownKeyError, nearest

Positive = Annotated[int, msgspec.Meta(ge=1)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
Weight = Annotated[float, msgspec.Meta(ge=0)]
Rate = Annotated[float, msgspec.Meta(gt=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0, extra={"unit": "seconds"})]
Minutes = Annotated[float, msgspec.Meta(gt=0, extra={"unit": "minutes"})]
Gigabytes = Annotated[float, msgspec.Meta(gt=0, extra={"unit": "gigabytes"})]
Days = Annotated[float, msgspec.Meta(ge=0, extra={"unit": "days"})]
Characters = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "characters"})]
MostCharacters = Annotated[int, msgspec.Meta(ge=1, extra={"unit": "characters"})]
Tokens = Annotated[int, msgspec.Meta(ge=1, extra={"unit": "tokens"})]
Shared = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "tokens"})]
Window = Annotated[int, msgspec.Meta(ge=64, extra={"unit": "tokens"})]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Address = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s/]+", extra={"form": "an address, http or https"})]
BaseUrl = Annotated[  # no name, no password in it
    str, msgspec.Meta(pattern=r"^https?://[^\s/@?#]+(/[^\s?#]*)?$", extra={"form": "an address, http or https"})
]
InputPath = Annotated[
    str, msgspec.Meta(extra={"is_input": True})
]  # what lies beside the configuration that names it is meant
FolderPath = Annotated[str, msgspec.Meta(pattern=r"^[^\x00-\x1f]+$", extra={"form": "a folder"})]
FolderName = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(?!\s*\.{0,2}\s*$)[^/\\\x00-\x1f\x7f]{1,200}$", extra={"form": "a plain word, which names a folder"}
    ),
]
Device = Annotated[
    str,
    msgspec.Meta(pattern=r"^(auto|cpu|cuda(:\d+)?)$", extra={"form": "`auto`, `cpu`, `cuda`, or `cuda:1` and so on"}),
]
Precision = Literal["auto", "fp32", "fp16", "bf16", "int8"]
Backend = Literal["auto", "onnx", "torch"]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings that are read as attributes, or by key as in a mapping."""

    def __getitem__(self, key: str) -> Any:
        values = self._by_key()
        if key not in values:
            raise UnknownKeyError(f"{type(self).__name__}: unknown key '{key}'; {nearest(str(key), list(values))}")
        return values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._by_key()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or the default if the key is unknown."""
        return self._by_key().get(key, default)

    def _by_key(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__struct_fields__}
