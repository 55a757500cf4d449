"""Reads mails and mailboxes into blocks."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator, Sequence
from email.message import EmailMessage
from itertools import groupby

from ...support.errors import DataError
from ..model import Block, Heading, PairsBlock, ReadDocument, TextBlock
from .html import html_document
from .office import OLE
from .texts import read_text

_SHOWN_FIELDS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes) -> ReadDocument:
    """Return the fields and the text of a mail; files in it are named."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not message.keys():
        raise DataError("is not a mail")
    return ReadDocument(str(message["Subject"] or ""), list(_mail(message)))


def _mail(message: EmailMessage) -> Iterator[Block]:
    yield PairsBlock([(name, str(message[name])) for name in _SHOWN_FIELDS if message[name]])
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = body.get_content()
        is_html = body.get_content_subtype() == "html"
        yield from html_document(text).blocks if is_html else _said(text.splitlines())
    names = [str(part.get_filename()) for part in message.iter_attachments() if part.get_filename()]
    if names:
        yield PairsBlock([("files", ", ".join(names))])


def _said(lines: Sequence[str], before: int = 0) -> Iterator[Block]:
    """Yield the blocks of lines behind others, and what they quote of earlier mails: each below the line that says who wrote it."""
    place = 0
    for is_quoted, group in groupby(lines, key=lambda line: line.startswith(">")):
        part = [*group]
        if is_quoted:
            yield from _said([re.sub("^> ?", "", line) for line in part], before + place)
        else:
            text = "\n" * (before + place) + "\n".join(part)
            blocks = [*read_text(text.encode("utf-8", "replace")).blocks]
            match blocks[-1:] if place + len(part) < len(lines) else ():
                case [TextBlock() as last] if last.text.endswith(":"):
                    blocks[-1] = Heading(last.text.rstrip(":"), 2, last.line)
            yield from blocks
        place += len(part)


def read_outlook_mail(data: bytes) -> ReadDocument:
    """Return the fields and the text of a mail of Outlook; files in it are named."""
    from oxmsg import Message

    if not data.startswith(OLE):
        raise DataError("is not a mail of Outlook")
    message = Message.load(data)
    headers = message.message_headers
    people = ", ".join(f"{person.name} <{person.email_address}>" for person in message.recipients)
    fields = {"From": message.sender, "To": people, "Date": message.sent_date, "Subject": message.subject}
    pairs = [(name, str(headers.get(name) or fields.get(name) or "")) for name in _SHOWN_FIELDS]
    files = ", ".join(filter(None, (attachment.file_name for attachment in message.attachments)))
    if message.body:
        text = list(_said(message.body.splitlines()))
    else:
        text = list(html_document(message.html_body or "").blocks)
    return ReadDocument(message.subject or "", [_pairs(pairs), *text, *([_pairs([("files", files)])] if files else ())])


def _pairs(pairs: list[tuple[str, str]]) -> PairsBlock:
    return PairsBlock([(name, " ".join(value.split())) for name, value in pairs if value])


def read_mailbox(data: bytes) -> ReadDocument:
    """Return the mails of a mailbox, each below its subject."""
    parts = re.split(rb"(?m)^From .*\r?\n", data)[1:]
    blocks: list[Block] = []
    for part in parts:
        message = read_mail(part)
        blocks += [Heading(message.title or "mail", 2), *message.blocks]
    return ReadDocument("", blocks)
