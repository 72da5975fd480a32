"""Says hello, all connections on one event loop."""

import asyncio
import os

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(HELLO if head.startswith(b"GET / ") else NOT_FOUND)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    host, port = os.environ["HOST"], int(os.environ["PORT"])
    server = await asyncio.start_server(serve, host, port, backlog=1024)
    await server.serve_forever()


asyncio.run(main())
