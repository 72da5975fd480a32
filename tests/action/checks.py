"""What the GitHub action promises (its README.md), by its own steps: pull requests in repositories of git, GitHub's API made
by api.py, the runner by runner.py. Each check is a function; those that are named are made, or all."""

import io
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import traceback
import zipfile
from hashlib import sha256

from api import BOT, REPOSITORY, TOKEN, Api
from runner import Runner

ACTION, KUMITE, WANTED = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
COMMENT = ACTION / "comment"
PULL, RUN, FORK = 17, 4711, 99
# The work of work.sh in rounds, so that no noise hides which is slower.
FAST, SLOW = 10_000, 60_000


class Place:
    """An empty folder with GitHub beside it."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kumite-action."))
        self.api = Api()
        self.here = self.folder / "runner"

    def end(self):
        self.api.end()
        shutil.rmtree(self.folder)

    def runner(self, token=TOKEN):
        """A new machine, which has the folders of the one before."""
        shutil.rmtree(self.here, ignore_errors=True)
        variables = {
            "GITHUB_API_URL": self.api.url,
            "GITHUB_SERVER_URL": self.api.url,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_ACTION_REPOSITORY": "owner/kumite",
            "KUMITE_LOCK": str(self.folder / "lock"),
        }
        return Runner(self.here, self.folder / "caches", variables, token)

    def event(self, document):
        file = self.folder / "event.json"
        file.write_text(json.dumps(document))
        return file


# Measuring.


class Project(Place):
    """A repository whose main branch and pull request have grown apart by some commits, at GitHub."""

    def __init__(self, rounds):
        super().__init__()
        self.origin = self.folder / "origin"
        git(self.folder, "init", "-q", "-b", "main", "origin")
        self.commit(FAST, "begin")
        self.parting = self.commit(FAST, "where they part")
        git(self.origin, "checkout", "-q", "-b", "change")
        for nth in range(3):
            self.commit(FAST, f"change {nth}")
        self.head = self.commit(rounds, "the change")
        git(self.origin, "checkout", "-q", "main")
        for nth in range(60):
            self.base = self.commit(2, f"main {nth}: far quicker, and none of the change's business")
        git(self.origin, "merge", "-q", "-s", "ours", "-m", "as GitHub tries it", "change")
        git(self.origin, "update-ref", f"refs/pull/{PULL}/merge", "HEAD")
        git(self.origin, "update-ref", f"refs/pull/{PULL}/head", self.head)
        git(self.origin, "reset", "-q", "--hard", self.base)
        self.event({"pull_request": {"number": PULL, "base": {"sha": self.base}, "head": {"sha": self.head}}})

    def commit(self, rounds, message):
        script = f"i=0\nwhile [ $i -lt {rounds} ]; do i=$((i + 1)); done\n"
        (self.origin / "work.sh").write_text(script + f"# {message}\n")
        git(self.origin, "add", "work.sh")
        git(self.origin, "commit", "-q", "-m", message)
        return git(self.origin, "rev-parse", "HEAD")

    def checkout(self, ref=f"refs/pull/{PULL}/merge", depth=("--depth=1",)):
        """As actions/checkout does it."""
        self.workspace = self.folder / "workspace"
        shutil.rmtree(self.workspace, ignore_errors=True)
        git(self.folder, "init", "-q", "workspace")
        git(self.workspace, "remote", "add", "origin", self.origin.as_uri())
        git(self.workspace, "fetch", "-q", "--no-tags", *depth, "origin", ref)
        git(self.workspace, "checkout", "-q", "--detach", "FETCH_HEAD")

    def measure(self, **inputs):
        given = {
            "source": f"file:{KUMITE}",
            "build": "echo built >> built",
            "command": "sh work.sh",
            "arguments": "--margin\n5%\n--budget\n60s",
        }
        if inputs.get("gate") == "":
            # Nobody asks how fast it is.
            given["arguments"] = "--runs\n3"
        event = self.folder / "event.json"
        return self.runner().run(ACTION, given | inputs, self.workspace, event)


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "advice.detachedHead=false"]
    told = subprocess.run(
        ["git", *who, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    )
    return told.stdout.strip()


def status_of(folder):
    return git(folder, "status", "--porcelain") + git(folder, "worktree", "list")


def check_a_slowdown_shuts_the_gate_and_is_uploaded():
    project = Project(SLOW)
    project.checkout()
    before = status_of(project.workspace)
    ended = project.measure()
    assert ended.status == 1, ended.said
    assert (ended.outputs["base"], ended.outputs["head"]) == (project.parting, project.head), ended.outputs
    assert ended.outputs["status"] == "1", ended.outputs
    comparison = json.loads(pathlib.Path(ended.outputs["json"]).read_text())
    assert comparison["gate"]["state"] == "shut", comparison["gate"]
    assert "<testsuite" in pathlib.Path(ended.outputs["junit"]).read_text()
    assert re.search("^::error", ended.said, re.M), ended.said
    assert ended.summary.strip(), "nothing is in the job's summary"
    [(name, zipped)] = ended.artifacts
    assert (name, zipfile.ZipFile(io.BytesIO(zipped)).namelist()) == ("kumite", ["comparison.json"])
    assert status_of(project.workspace) == before
    project.end()


def check_what_is_as_fast_passes_and_the_base_is_built_once():
    project = Project(FAST)
    project.checkout()
    ended = project.measure()
    assert (ended.status, ended.outputs["status"]) == (0, "0"), ended.said
    assert not re.search("^::error", ended.said, re.M), ended.said
    assert cached(ended) == [False, False], "both were built"
    [kept] = (project.folder / "caches").iterdir()
    assert project.parting in kept.name, kept
    # The next push, on another machine.
    project.checkout()
    again = project.measure()
    assert again.status == 0, again.said
    assert cached(again) == [True, False], "the base was built before"
    project.end()


def check_a_base_that_was_written_to_is_not_kept():
    project = Project(FAST)
    project.checkout()
    ended = project.measure(command="sh work.sh; echo x >> left", gate="")
    assert ended.status == 0, ended.said
    assert list((project.folder / "caches").iterdir()) == []
    project.end()


def cached(ended):
    comparison = json.loads(pathlib.Path(ended.outputs["json"]).read_text())
    revisions = [command["revision"] for command in comparison["commands"]]
    return [revision["was_cached"] for revision in revisions]


def check_a_whole_checkout_stays_whole():
    project = Project(FAST)
    project.checkout(depth=())
    ended = project.measure(gate="")
    assert ended.status == 0, ended.said
    assert ended.outputs["base"] == project.parting
    assert git(project.workspace, "rev-parse", "--is-shallow-repository") == "false"
    project.end()


def check_a_push_is_compared_with_what_was_there_before():
    project = Project(FAST)
    project.checkout("main")
    before = git(project.origin, "rev-parse", "main~2")
    event = {"before": before, "after": project.base}
    project.event(event)
    ended = project.measure(gate="")
    assert ended.status == 0, ended.said
    assert (ended.outputs["base"], ended.outputs["head"]) == (before, project.base), ended.outputs
    project.event({"before": "0" * 40, "after": project.base})
    ended = project.measure(gate="")
    assert ended.status == 1 and "::error::" in ended.said, ended.said
    named = project.measure(gate="", base="change")
    assert named.outputs["base"] == project.parting, named.said
    project.end()


def check_a_failing_build_is_no_verdict():
    project = Project(FAST)
    project.checkout()
    ended = project.measure(build="exit 7")
    assert (ended.status, ended.outputs["status"]) == (3, "3"), ended.said
    assert ended.artifacts == [], "there is no figure"
    project.end()


def check_the_token_is_not_where_measured_code_can_read_it():
    project = Project(FAST)
    project.checkout()
    seen = project.folder / "seen"
    spy = f"env > {seen}; cat /proc/*/cmdline >> {seen} 2>/dev/null; git config --list >> {seen}; true"
    ended = project.measure(build=spy, gate="")
    assert ended.status == 0, ended.said
    text = seen.read_bytes()
    assert text and TOKEN.encode() not in text
    project.end()


# Where kumite comes from.


def got(place, **inputs):
    """The status of the step that gets kumite: the action of the comment has little else to do without a pull request."""
    event = place.event({"workflow_run": {"event": "push"}})
    ended = place.runner().run(COMMENT, inputs, place.folder, event)
    program = place.here / "temp/kumite/bin/kumite"
    return ended, program


def check_a_release_is_unpacked_only_if_its_digest_is_right():
    place = Place()
    name = f"kumite-0.1.0-{os.uname().machine}-unknown-linux-gnu"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(KUMITE, f"{name}/bin/kumite")
    place.api.releases[f"v0.1.0/{name}.tar.gz"] = packed.getvalue()
    right = sha256(packed.getvalue()).hexdigest()
    ended, program = got(place, source="release:0.1.0", sha256=right)
    assert ended.status == 0 and program.exists(), ended.said
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
    for source, digest in [
        ("release:0.1.0", wrong),
        ("release:0.1.0", ""),
        ("release:0.2.0", right),
        ("release:0.1.0/../../x", right),
        ("file:/nowhere", ""),
        ("latest", ""),
    ]:
        ended, program = got(place, source=source, sha256=digest)
        assert ended.status == 1 and "::error::" in ended.said, (source, ended.said)
        assert not program.exists(), source
    assert place.api.leaked == []
    place.end()


def check_a_built_kumite_is_kept_for_the_same_sources():
    place = Place()
    tools, asked = place.folder / "tools", place.folder / "asked"
    tools.mkdir()
    # It compiles nothing, and puts kumite where cargo would.
    (tools / "cargo").write_text(
        f'#!/bin/sh\necho "$@" >> {asked}\n'
        f'while [ "$1" != --target-dir ]; do shift; done\nmkdir -p "$2/release"; cp {KUMITE} "$2/release/kumite"\n'
    )
    (tools / "rustc").write_text("#!/bin/sh\necho rustc 1.0\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    os.environ["PATH"] = f"{tools}{os.pathsep}{os.environ['PATH']}"
    for _ in range(2):
        ended, program = got(place, source="build")
        assert ended.status == 0 and program.exists(), ended.said
    [line] = asked.read_text().splitlines()
    manifest = pathlib.Path(line.split("--manifest-path ")[1].split()[0])
    assert manifest.resolve() == (ACTION / "../../../Cargo.toml").resolve(), line
    place.end()


# Commenting.


class Commented(Place):
    """A pull request from a fork, and artifacts of runs on its newest commit."""

    def __init__(self):
        super().__init__()
        self.sha = "1" * 40
        self.api.pulls = [pull(PULL, self.sha)]

    def push(self, sha):
        self.sha = sha
        self.api.pulls[0]["head"]["sha"] = sha

    def upload(self, document):
        """A comparison, or the bytes of comparison.json."""
        text = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.upload_zip(zipped([("comparison.json", text)]))

    def upload_zip(self, bytes):
        self.api.artifacts = {RUN: [("other", b"no zip"), ("kumite", bytes)]}

    def comment(self, token=TOKEN, **run):
        document = {
            "id": RUN,
            "event": "pull_request",
            "conclusion": "failure",
            "head_sha": self.sha,
            "head_branch": "change",
            "head_repository": {"id": FORK, "owner": {"login": "forker"}},
            "html_url": "https://example.invalid/run/4711",
            # As GitHub has it for a fork.
            "pull_requests": [],
        }
        event = self.event({"workflow_run": document | run})
        inputs = {"source": f"file:{KUMITE}"}
        return self.runner(token).run(COMMENT, inputs, self.folder, event)


def pull(number, sha, branch="change", repository=FORK):
    head = {"sha": sha, "label": f"forker:{branch}", "repo": {"id": repository}}
    return {"number": number, "state": "open", "head": head}


def zipped(members):
    bytes = io.BytesIO()
    with zipfile.ZipFile(bytes, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return bytes.getvalue()


def measured():
    """A comparison that kumite has made, with the gate shut."""
    file = pathlib.Path(tempfile.mkdtemp(prefix="kumite-action.")) / "comparison.json"
    commands = ["sh -c 'i=0; while [ $i -lt %s ]; do i=$((i + 1)); done'" % n for n in [FAST, SLOW]]
    subprocess.run(
        [KUMITE, "compare", *commands, "-n", "before", "-n", "after", "--gate", "--json", file],
        stdout=subprocess.DEVNULL,
        env=os.environ | {"KUMITE_LOCK": f"{file}.lock"},
        timeout=120,
    )
    document = json.loads(file.read_text())
    shutil.rmtree(file.parent)
    assert document["gate"]["state"] == "shut", document["gate"]
    return document


MEASURED = None


def comparison():
    global MEASURED
    MEASURED = MEASURED or measured()
    return json.loads(json.dumps(MEASURED))


def renamed(name):
    document = comparison()
    document["commands"][1]["name"] = name
    document["commands"][1]["command"] = name
    document["pairs"][0]["a"] = name
    return document


def check_the_first_push_is_commented_and_the_second_edits_the_comment():
    place = Commented()
    place.api.say(PULL, "a-person", "<!-- kumite: kumite -->\nI know what your comments begin with")
    for nth in range(150):
        place.api.say(PULL, "a-person", f"comment {nth}")
    place.upload(renamed("one"))
    ended = place.comment()
    assert ended.status == 0, ended.said
    bot = [comment for comment in place.api.comments[PULL] if comment["user"]["login"] == BOT]
    [comment] = bot
    assert ended.outputs["comment"] == comment["html_url"], ended.outputs
    first = comment["body"]
    assert "one" in first and "1" * 40 in first and len(first.splitlines()) <= 30, first
    place.push("2" * 40)
    place.upload(renamed("two"))
    ended = place.comment()
    assert ended.status == 0, ended.said
    assert "two" in comment["body"] and "2" * 40 in comment["body"], comment["body"]
    assert "1" * 40 not in comment["body"]
    assert [method for method, _ in place.api.changes] == ["POST", "PATCH"], place.api.changes
    assert place.api.bodies(PULL)[0].endswith("begin with"), "a person's comment is not edited"
    assert place.api.leaked == [], "the storage of artifacts needs no token"
    place.end()


def check_a_branch_of_any_name_is_only_a_name():
    place = Commented()
    branch = "$(touch ${IFS}ran)`touch ran`&head=x\"';#ü/%41"
    place.api.pulls = [pull(PULL, place.sha, branch)]
    place.upload(comparison())
    ended = place.comment(head_branch=branch)
    assert ended.status == 0 and len(place.api.bodies(PULL)) == 1, ended.said
    assert list(place.folder.rglob("ran")) == []
    place.end()


def check_the_pull_request_is_that_of_the_event():
    place = Commented()
    place.api.pulls.append(pull(5, "5" * 40, "another"))
    document = comparison() | {"pull_request": 5, "number": 5, "head_sha": "5" * 40}
    place.upload(document)
    ended = place.comment()
    assert ended.status == 0, ended.said
    assert (len(place.api.bodies(PULL)), place.api.bodies(5)) == (1, []), place.api.comments
    place.end()


def check_there_is_nothing_to_say():
    for why, change, run in [
        ("another event", lambda place: None, {"event": "push"}),
        ("an older commit", lambda place: place.api.pulls[0]["head"].update(sha="9" * 40), {}),
        ("it is closed", lambda place: place.api.pulls[0].update(state="closed"), {}),
        ("another repository", lambda place: place.api.pulls[0]["head"].update(repo={"id": 1}), {}),
        ("two of one branch", lambda place: place.api.pulls.append(pull(18, place.sha)), {}),
        ("no artifact", lambda place: place.api.artifacts.clear(), {}),
    ]:
        place = Commented()
        place.upload(comparison())
        change(place)
        ended = place.comment(**run)
        assert (ended.status, ended.outputs["comment"]) == (0, ""), (why, ended.said)
        assert "::notice::" in ended.said and place.api.changes == [], (why, ended.said)
        place.end()


def refused(place, why):
    """Nothing is published, and nothing is left or made anywhere."""
    before = {file for file in pathlib.Path("/tmp").glob("*")}
    ended = place.comment()
    assert ended.status == 1 and "::error::" in ended.said, (why, ended.said)
    assert place.api.changes == [], (why, place.api.changes)
    made = [file for file in place.folder.rglob("*") if "escaped" in file.name]
    assert made == [], (why, made)
    left = list((place.here / "temp").glob("kumite-comment.*"))
    assert left == [], (why, left)
    lines = [line for line in ended.said.splitlines() if line.startswith("::")]
    assert len(lines) == 1, (why, lines)
    new = {file for file in pathlib.Path("/tmp").glob("*escaped*")} - before
    assert new == set(), (why, new)


def check_an_artifact_that_is_no_zip_of_that_file_is_refused():
    good = json.dumps(comparison()).encode()
    link = zipfile.ZipInfo("comparison.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    for why, bytes in [
        ("no zip", b"PK, but no zip"),
        ("empty", b""),
        ("another name", zipped([("other.json", good)])),
        ("out of the folder", zipped([("../escaped.json", good)])),
        ("out of the folder, beside it", zipped([("comparison.json", good), ("../escaped", b"x")])),
        ("an absolute name", zipped([("/tmp/escaped.json", good)])),
        ("a pattern", zipped([("comparison.jso?", good)])),
        ("two lines", zipped([("comparison.json\ncomparison.json", good)])),
        ("a link", zipped([(link, b"/etc/passwd")])),
        ("cut off", zipped([("comparison.json", good)])[:-60]),
    ]:
        place = Commented()
        place.upload_zip(bytes)
        refused(place, why)
        place.end()


def check_an_artifact_that_is_too_big_is_refused():
    place = Commented()
    place.upload_zip(os.urandom(9 << 20))
    refused(place, "a big artifact")
    place.upload(b"{" + b" " * (200 << 20))
    refused(place, "a small one that unpacks to 200 MiB")
    place.end()


def check_a_document_that_is_no_comparison_is_refused():
    other = comparison() | {"schema": 4}
    typed = comparison() | {"pairs": "none"}
    unknown = comparison()
    unknown["gate"]["state"] = "::error::ajar\r\n::stop-commands::x"
    run = {"schema": 5, "run": {}, "machine": {}, "contenders": []}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz"):
        pass
    for why, document in [
        ("another form", other),
        ("a text for a list", typed),
        ("an unknown word", unknown),
        ("a run", run),
        ("nothing", {}),
        ("a list", b"[]"),
        ("deep", b'{"a":' * 100_000),
        ("no JSON", b"{ this is none"),
        ("gzip", packed.getvalue()),
        ("SQLite", b"SQLite format 3\0" + b"\0" * 100),
        ("no UTF-8", b'{"schema": "\xff"}'),
    ]:
        place = Commented()
        place.upload(document)
        refused(place, why)
        place.end()


def check_figures_that_make_no_sense_end_no_worse_than_refused():
    for change in [
        {"commands": []},
        {"pairs": []},
        {"margin": -1e308},
        {"alpha": 0, "alpha_per_pair": 0},
        {"seed": 0, "started": "0001-01-01T00:00:00Z"},
    ]:
        place = Commented()
        place.upload(comparison() | change)
        ended = place.comment()
        assert ended.status in (0, 1) and "panicked" not in ended.said, (change, ended.said)
        place.end()


def check_a_name_is_no_markup():
    names = [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "![x](https://evil.example/x.png) [y](https://evil.example) https://evil.example www.evil.example",
        "@everyone @org/team #1 them/project#1 " + "a" * 40,
        "a | b | c\n\n# A heading\n\n```\nno fence",
        "`` ` ``` @everyone ` <b>",
        "\u202egnp.exe\u2066 \u200b \x1b[31m",
        "-->\n<!-- kumite: kumite -->",
        "x" * 100_000,
    ]
    for name in names:
        place = Commented()
        place.upload(renamed(name))
        ended = place.comment()
        assert ended.status == 0, (name[:60], ended.said)
        [body] = place.api.bodies(PULL)
        marker, said = body.split("\n", 1)
        assert marker == "<!-- kumite: kumite -->"
        # kumite's own marker is markup, too.
        text = said[: said.rindex("\nMeasured at ")].removeprefix("<!-- kumite compare -->\n")
        assert len(body) < 65_536 and len(said.splitlines()) <= 30, (name[:60], len(body))
        # No mention, no reference, no address outside of code spans, where they mean nothing.
        plain = re.sub(r"(`+).*?(?<!`)\1(?!`)", "", text)
        for wrong in ["<script", "<img", "<b>", "<!--", "://", "www.", "\x1b", "\u202e", "\u2066"]:
            assert wrong not in plain, (name[:60], wrong, text)
        assert not re.search(r"@\w", plain), text
        assert not re.search(r"#\d", plain), text
        assert not re.search(r"(?<!\\)!\[|\]\(", plain), text
        place.end()


def check_a_broken_api_is_an_error_and_not_a_second_comment():
    for pattern in ["GET .*/pulls", "GET .*/artifacts$", "GET .*/zip", "GET .*/comments", "POST"]:
        place = Commented()
        place.upload(comparison())
        place.api.broken = [pattern]
        ended = place.comment()
        assert ended.status != 0, (pattern, ended.said)
        assert place.api.comments == {}, pattern
        place.end()
    place = Commented()
    place.upload(comparison())
    ended = place.comment(token="wrong")
    assert ended.status != 0 and place.api.changes == [], ended.said
    place.end()


def main():
    checks = {name: check for name, check in globals().items() if name.startswith("check_")}
    unknown = set(WANTED) - set(checks)
    assert not unknown, f"no check is called {', '.join(unknown)}"
    passed, wrong = 0, 0
    for name, check in checks.items():
        if WANTED and name not in WANTED:
            continue
        try:
            check()
            passed += 1
            print(f"right  {name}", flush=True)
        except Exception:
            wrong += 1
            print(f"wrong  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {wrong} failed")
    sys.exit(1 if wrong or not passed else 0)


main()
