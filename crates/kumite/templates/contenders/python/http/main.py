"""Answers every GET with a thread for each connection. Parameters of the workload are what the load asks with."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer leaves in one piece, at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        body = b"not written yet"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


Server((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
