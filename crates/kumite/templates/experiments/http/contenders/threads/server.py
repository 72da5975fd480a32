"""Says hello, with a thread for each connection."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer leaves in one piece, at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        body = b"hello" if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


Server((os.environ["HOST"], int(os.environ["PORT"])), Hello).serve_forever()
