"""Steps of a scripted server that serve files: whole, in parts, broken off."""

import re


def serve(content, tag=None, ranges=True, stop=None, length=True):
    """A step: a file as a static server has it.

    Args:
        content: its bytes.
        tag: the ETag header.
        ranges: whether a Range is honoured (with If-Range, only if the tag is this one).
        stop: so many bytes of the answer are sent, then the connection breaks.
        length: whether the length is told.
    """

    def step(handler):
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range") or "")
        condition = handler.headers.get("If-Range")
        body, extra = content, b""
        status = b"200 OK"
        if ranges and asked and condition in (None, tag):
            begin = int(asked[1])
            if begin >= len(content):
                body, status = b"", b"416 Range Not Satisfiable"
                extra = b"Content-Range: bytes */%d\r\n" % len(content)
            else:
                body, status = content[begin:], b"206 Partial Content"
                extra = b"Content-Range: bytes %d-%d/%d\r\n" % (begin, len(content) - 1, len(content))
        if tag is not None:
            extra += b"ETag: %s\r\n" % tag.encode()
        if length:
            extra += b"Content-Length: %d\r\n" % len(body)
        handler.wfile.write(b"HTTP/1.1 %s\r\n%sConnection: close\r\n\r\n%s" % (status, extra, body[:stop]))
        handler.close_connection = True

    return step
