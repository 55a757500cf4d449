"""A step of a scripted server that serves a file, whole or broken off."""


def serve(content, stop=None, length=True):
    """Serve the bytes of a file; `stop`: so many are sent, then the connection breaks; `length`: whether the length is told."""

    def step(handler):
        extra = b"Content-Length: %d\r\n" % len(content) if length else b""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n%sConnection: close\r\n\r\n%s" % (extra, content[:stop]))
        handler.close_connection = True

    return step
