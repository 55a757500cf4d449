"""What live questions fetched, as an embedded knowledge base."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from ..support.cache import Cache
from ..support.errors import DataError
from .build import build
from .index import KnowledgeBase
from .live import LANGUAGES, kept_entities
from .update import update


def grow(folder: Path, cache: Cache, wikidata: str, at_hand: KnowledgeBase, quiet: bool = True) -> None:
    """Keep the entity documents of a cache in a knowledge base: in the one that is there, or in a new one.

    Args:
        folder: of the knowledge base.
        cache: of live questions.
        wikidata: the address of the API that they asked.
        at_hand: knows the labels and classes that were not asked for.
        quiet: show no progress.

    Raises:
        DataError: the cache keeps no document.
        IndexFileError: `folder` is no knowledge base.
        OutputError: it cannot be written.
    """
    documents = {own["id"]: own for own in map(msgspec.json.decode, kept_entities(cache, wikidata))}
    if not documents:
        raise DataError("the cache keeps nothing of live questions; ask some with --live first")
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "live.json"
        if not folder.exists():
            _write(file, _whole(documents, at_hand, set()))
            build(file, folder, languages=LANGUAGES, quiet=quiet)
            return
        with closing(KnowledgeBase(folder)) as kb:
            stored = {entity for entity in _beside(documents) if kb.label(entity) != entity}
            _write(file, _whole(documents, at_hand, stored))
        update(folder, file, quiet=quiet)


def _write(file: Path, documents: Iterator[dict[str, Any]]) -> None:
    file.write_bytes(b"".join(msgspec.json.encode(document) + b"\n" for document in documents))


def _whole(
    documents: Mapping[str, dict[str, Any]], at_hand: KnowledgeBase, stored: set[str]
) -> Iterator[dict[str, Any]]:
    """The documents without statements of what has no label; then what they speak of and the knowledge base at hand knows.

    Nothing is written of what is `stored` already.
    """
    beside = {name for name in _beside(documents) if at_hand.label(name) != name} - stored
    named = {name for name, own in documents.items() if own.get("labels")} | beside | stored
    for document in documents.values():
        claims = document.get("claims") or {}
        kept = {prop: [_labelled(claim, named) for claim in own if _ids(claim["mainsnak"]) <= named]
                for prop, own in claims.items() if prop in named}  # fmt: skip
        yield {**document, "claims": {prop: own for prop, own in kept.items() if own}}
    for name in sorted(beside - documents.keys()):
        yield _stub(name, at_hand, named)


def _labelled(claim: dict[str, Any], named: set[str]) -> dict[str, Any]:
    qualifiers = claim.get("qualifiers") or {}
    kept = {prop: [snak for snak in own if _ids(snak) <= named] for prop, own in qualifiers.items() if prop in named}
    return {**claim, "qualifiers": kept, "qualifiers-order": list(kept)}


def _beside(documents: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """The ids that documents speak of."""
    for document in documents.values():
        for prop, claims in (document.get("claims") or {}).items():
            yield prop
            for claim in claims:
                yield from _ids(claim["mainsnak"])
                for qualifier, snaks in (claim.get("qualifiers") or {}).items():
                    yield qualifier
                    for snak in snaks:
                        yield from _ids(snak)


def _ids(snak: dict[str, Any]) -> set[str]:
    """The item of a value, and the unit of a number."""
    value = (snak.get("datavalue") or {}).get("value")
    if not isinstance(value, dict):
        return set()
    unit = str(value.get("unit", "1")).rsplit("/", 1)[-1]
    return {name for name in (value.get("id"), unit) if isinstance(name, str) and name[:1] == "Q"}


def _stub(name: str, at_hand: KnowledgeBase, named: set[str]) -> dict[str, Any]:
    def terms(*texts: str) -> list[dict[str, str]]:
        return [{"language": "en", "value": text} for text in texts]

    classes = {
        f"P{prop}": [
            {"mainsnak": {"snaktype": "value", "property": f"P{prop}", "datatype": "wikibase-item",
                          "datavalue": {"value": {"entity-type": "item", "id": item}, "type": "wikibase-entityid"}}, "rank": "normal"}
            for item in at_hand.objects(name, prop) if item in named
        ]
        for prop in (31, 279) if f"P{prop}" in named
    }  # fmt: skip
    return {
        "id": name,
        "type": "property" if name[0] == "P" else "item",
        "labels": {"en": terms(at_hand.label(name))[0]},
        "descriptions": {"en": terms(at_hand.description(name))[0]} if name[0] == "Q" else {},
        "aliases": {"en": terms(*at_hand.aliases(name))},
        "claims": {prop: own for prop, own in classes.items() if own},
    }
