"""As much of GitHub's API as the action asks, on a port of this machine: pull requests, artifacts, comments, releases."""

import http.server
import json
import re
import threading
import urllib.parse

TOKEN = "the-token-of-the-job"
REPOSITORY = "them/project"
BOT = "github-actions[bot]"


class Api:
    """What there is on the server, and what was asked of it."""

    def __init__(self):
        self.pulls = []
        # By run: (name, bytes of a zip).
        self.artifacts = {}
        # By pull request: comments as the API has them.
        self.comments = {}
        # By path below /releases/download/.
        self.releases = {}
        # Requests that changed something: (method, path).
        self.changes = []
        # Requests whose answer is 500, as patterns of "METHOD path".
        self.broken = []
        # Where the token went that is for the API alone.
        self.leaked = []
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (Handler,), {"api": self})
        )
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()

    def say(self, pull, login, body):
        """Somebody comments; a person's comments have the same form as the bot's."""
        comment = {
            "id": 1000 + sum(map(len, self.comments.values())),
            "user": {"login": login},
            "body": body,
            "html_url": f"https://example.invalid/pull/{pull}#{login}",
        }
        self.comments.setdefault(pull, []).append(comment)
        return comment

    def bodies(self, pull):
        return [comment["body"] for comment in self.comments.get(pull, [])]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, document=None, headers=(), raw=b""):
        body = raw if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The action had read as much as it takes.

    def asked(self, method):
        api, url = self.api, urllib.parse.urlsplit(self.path)
        query = {name: all[0] for name, all in urllib.parse.parse_qs(url.query).items()}
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or "null")
        token = self.headers.get("Authorization")
        if any(re.search(one, f"{method} {url.path}") for one in api.broken):
            return self.answer(500, {"message": "broken"})
        if found := re.fullmatch(r"/(blob/(\d+)/(\d+)|[^/]+/[^/]+/releases/download/(.*))", url.path):
            if token:
                api.leaked.append(self.path)
            if found[4]:
                release = api.releases.get(found[4])
                return self.answer(404 if release is None else 200, raw=release or b"")
            return self.answer(200, raw=api.artifacts[int(found[2])][int(found[3])][1])
        if token != f"Bearer {TOKEN}":
            return self.answer(401, {"message": "Bad credentials"})
        if not url.path.startswith(f"/repos/{REPOSITORY}/"):
            return self.answer(404, {"message": "Not Found"})
        path = url.path.removeprefix(f"/repos/{REPOSITORY}/")
        if method != "GET":
            api.changes.append((method, path))
        if (method, path) == ("GET", "pulls"):
            fits = [
                pull
                for pull in api.pulls
                if pull["state"] == query["state"] and pull["head"]["label"] == query["head"]
            ]
            return self.answer(200, fits)
        if found := re.fullmatch(r"actions/runs/(\d+)/artifacts", path):
            run = int(found[1])
            fits = [
                {
                    "id": run * 100 + nth,
                    "name": name,
                    "expired": False,
                    "created_at": f"2026-11-26T00:00:{nth:02}Z",
                    "size_in_bytes": len(bytes),
                }
                for nth, (name, bytes) in enumerate(api.artifacts.get(run, []))
                if name == query.get("name", name)
            ]
            return self.answer(200, {"total_count": len(fits), "artifacts": fits})
        if found := re.fullmatch(r"actions/artifacts/(\d+)/zip", path):
            run, nth = divmod(int(found[1]), 100)
            # Another host, as that of the storage is.
            place = f"http://localhost:{api.port}/blob/{run}/{nth}"
            return self.answer(302, headers=[("Location", place)])
        if found := re.fullmatch(r"issues/(\d+)/comments", path):
            pull = int(found[1])
            if method == "POST":
                return self.answer(201, api.say(pull, BOT, body["body"]))
            size, page = int(query["per_page"]), int(query["page"])
            all = api.comments.get(pull, [])
            return self.answer(200, all[(page - 1) * size : page * size])
        if found := re.fullmatch(r"issues/comments/(\d+)", path):
            for comment in sum(api.comments.values(), []):
                if comment["id"] == int(found[1]) and method == "PATCH":
                    comment["body"] = body["body"]
                    return self.answer(200, comment)
        return self.answer(404, {"message": "Not Found"})

    def do_GET(self):
        self.asked("GET")

    def do_POST(self):
        self.asked("POST")

    def do_PATCH(self):
        self.asked("PATCH")
