"""Builds or updates a knowledge base from the documents that live questions fetched."""

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
from .items import INSTANCE_OF, SUBCLASS_OF
from .live import cached_entities
from .update import update


def grow(folder: Path, cache: Cache, wikidata: str, at_hand: KnowledgeBase, quiet: bool = True) -> None:
    """Put the entity documents of a cache into a knowledge base, which is made if it does not exist.

    Args:
        wikidata: the address of the API of the cached documents.
        at_hand: a knowledge base with labels and classes of items that were not fetched.
    """
    documents = {document["id"]: document for document in map(msgspec.json.decode, cached_entities(cache, wikidata))}
    if not documents:
        raise DataError("the cache keeps nothing of live questions; ask some with --live first")
    stored: set[str] = set()
    if is_update := folder.exists():
        with closing(KnowledgeBase(folder)) as kb:
            stored = {name for name in _mentioned(documents) if kb.label(name) != name}
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "live.json"
        lines = (msgspec.json.encode(document) + b"\n" for document in _labelled(documents, at_hand, stored))
        file.write_bytes(b"".join(lines))
        if is_update:
            update(folder, file, quiet=quiet)
        else:
            build(file, folder, quiet=quiet)


def _labelled(
    documents: Mapping[str, dict[str, Any]], at_hand: KnowledgeBase, stored: set[str]
) -> Iterator[dict[str, Any]]:
    """The documents without unlabelled parts of statements; then the entities that they mention, as far as `at_hand` has them.

    Entities that are `stored` already are left out.
    """
    mentioned = {name for name in _mentioned(documents) if at_hand.label(name) != name} - stored
    named = {name for name, document in documents.items() if document.get("labels")} | mentioned | stored
    for document in documents.values():
        claims: dict[str, list[dict[str, Any]]] = {}
        for prop, statements in (document.get("claims") or {}).items():
            for claim in statements if prop in named else ():
                if _ids(claim["mainsnak"]) <= named:
                    qualifiers = {
                        name: [snak for snak in snaks if _ids(snak) <= named]
                        for name, snaks in (claim.get("qualifiers") or {}).items()
                        if name in named
                    }
                    labelled = {**claim, "qualifiers": qualifiers, "qualifiers-order": list(qualifiers)}
                    claims.setdefault(prop, []).append(labelled)
        yield {**document, "claims": claims}
    for name in sorted(mentioned - documents.keys()):
        yield _stub(name, at_hand, named)


def _mentioned(documents: Mapping[str, dict[str, Any]]) -> Iterator[str]:
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
    return {name for name in (str(value.get("id")), unit) if name[:1] == "Q"}


def _stub(name: str, at_hand: KnowledgeBase, named: set[str]) -> dict[str, Any]:
    def terms(*texts: str) -> list[dict[str, str]]:
        return [{"language": "en", "value": text} for text in texts]

    classes = {
        f"P{prop}": [
            {"mainsnak": {"snaktype": "value", "property": f"P{prop}", "datatype": "wikibase-item",
                          "datavalue": {"value": {"entity-type": "item", "id": item}, "type": "wikibase-entityid"}}, "rank": "normal"}
            for item in at_hand.objects(name, prop) if item in named
        ]
        for prop in (INSTANCE_OF, SUBCLASS_OF) if f"P{prop}" in named
    }  # fmt: skip
    return {
        "id": name,
        "type": "property" if name[0] == "P" else "item",
        "labels": {"en": terms(at_hand.label(name))[0]},
        "descriptions": {"en": terms(at_hand.description(name))[0]} if name[0] == "Q" else {},
        "aliases": {"en": terms(*at_hand.aliases(name))},
        "claims": {prop: claims for prop, claims in classes.items() if claims},
    }
