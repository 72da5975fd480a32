"""Runs the lines of docs/ci.md, as they stand there: a gate in a repository with a change that is slower by far, and in one
with a change that is as fast; and the bisection of a history. A recipe whose tools are not here is counted as not made."""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = (HERE / "../../docs/ci.md").read_text()
KUMITE, WANTED = sys.argv[1], sys.argv[2:]
# Rounds of each program's loop: a tenth of a second and more, and four times as much, so that no noise hides it.
FAST, SLOW = 60_000_000, 240_000_000
NOT_MADE = 77


class NotMade(Exception):
    pass


class Place:
    """A git repository in an empty folder, with `kumite` on PATH and nothing of the user's."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kumite-ci."))
        self.repository = self.folder / "repository"
        (self.folder / "bin").mkdir()
        (self.folder / "bin/kumite").symlink_to(KUMITE)
        self.environment = os.environ | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "KUMITE_LOCK": str(self.folder / "lock"),
        }
        self.git("init", "-q", "-b", "main", ".")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def git(self, *arguments):
        self.repository.mkdir(exist_ok=True)
        who = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
        return self.ran(["git", *who, *arguments], check=True).stdout.strip()

    def ran(self, command, check=False, limit=300):
        told = subprocess.run(
            command,
            cwd=self.repository,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit,
        )
        assert not check or told.returncode == 0, (command, told.stdout)
        return told

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")


def block(heading):
    """The lines of the block with this name, or the only one below this heading."""
    found = re.findall(rf"^```sh {re.escape(heading)}\n(.*?)^```$", DOCUMENT, re.M | re.S)
    found = found or re.findall(rf"^### {re.escape(heading)}\n+```sh\n(.*?)^```$", DOCUMENT, re.M | re.S)
    assert len(found) == 1, f"docs/ci.md has {len(found)} blocks of {heading}"
    return found[0]


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise NotMade(f"no {program} here")


def gate(heading, project, source, tools):
    """Both changes, by the document's line: status 1, and 0."""
    needs(*tools)
    with Place() as place:
        shutil.copytree(HERE / project, place.repository, dirs_exist_ok=True)
        program = (HERE / project / source).read_text()
        write = lambda rounds: (place.repository / source).write_text(program.replace("ROUNDS", str(rounds)))
        write(FAST)
        place.commit("the program")
        before = place.git("status", "--porcelain") + place.git("worktree", "list")
        for branch, rounds, status in [("slower", SLOW, 1), ("as-fast", FAST, 0)]:
            place.git("checkout", "-q", "-b", branch, "main")
            write(rounds)
            (place.repository / "NOTES").write_text(branch)
            place.commit(branch)
            told = place.ran(["sh", "-ec", block(heading)])
            assert told.returncode == status, f"{branch}: status {told.returncode}\n{told.stdout}"
            place.git("checkout", "-q", "main")
            after = place.git("status", "--porcelain") + place.git("worktree", "list")
            assert after == before, after


def recipe_cargo():
    gate("Cargo", "cargo", "src/main.rs", ["cargo"])


def recipe_go():
    gate("Go", "go", "main.go", ["go"])


def recipe_npm():
    gate("npm", "npm", "index.js", ["npm", "node"])


def recipe_maven():
    gate("Maven", "maven", "src/main/java/Program.java", ["mvn", "java"])


def recipe_cmake():
    gate("CMake", "cmake", "main.c", ["cmake", "cc"])


def script(place):
    file = place.folder / "slower.sh"
    file.write_text(block("slower.sh"))
    file.chmod(0o755)


def recipe_bisect():
    """A history of twelve commits after v1.0, in which the seventh makes the program slower; one before it cannot be built, and one
    does nothing but change a file."""
    needs("make", "jq")
    with Place() as place:
        script(place)
        rounds = FAST // 1000
        makefile = "all:\n\tcp program.sh program\n\tchmod +x program\n"
        broken = "all:\n\tfalse\n"
        for nth in range(13):
            if nth == 7:
                rounds *= 4
            text = f"#!/bin/sh\ni=0\nwhile [ $i -lt {rounds} ]; do i=$((i + 1)); done\n"
            (place.repository / "program.sh").write_text(text)
            (place.repository / "Makefile").write_text(broken if nth == 5 else makefile)
            (place.repository / "NOTES").write_text(f"{nth}\n")
            (place.repository / ".gitignore").write_text("program\n")
            made = place.commit(f"commit {nth}")
            if nth == 0:
                place.git("tag", "v1.0")
            if nth == 7:
                slower = made
        told = place.ran(["sh", "-ec", block("bisect")], limit=600)
        assert told.returncode == 0, told.stdout
        assert place.git("rev-parse", "refs/bisect/bad") == slower, told.stdout
        assert f"{slower} is the first bad commit" in told.stdout, told.stdout


def recipe_bisect_statuses():
    """What `git bisect run` is told, for each end that kumite can come to."""
    needs("jq")
    with Place() as place:
        script(place)
        stub = place.folder / "bin/kumite"
        stub.unlink()
        stub.write_text(
            '#!/bin/sh\nwhile [ "$1" != --json ]; do shift; done\n[ -z "$STATE" ] || printf \'%s\' "{\\"gate\\": {\\"state\\": \\"$STATE\\"}}" > "$2"\nexit "$STATUS"\n'
        )
        stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
        for status, state, expected in [
            (0, "open", 0),
            (1, "shut", 1),
            (0, "undecided", 125),
            (3, "", 125),
            (3, "undecided", 125),
            (2, "", 128),
            (127, "", 128),
        ]:
            place.environment |= {"STATUS": str(status), "STATE": state}
            told = place.ran(["../slower.sh", "v1.0"])
            assert told.returncode == expected, (status, state, told.returncode, told.stdout)


def main():
    recipes = {name: recipe for name, recipe in globals().items() if name.startswith("recipe_")}
    unknown = set(WANTED) - set(recipes)
    assert not unknown, f"no recipe is called {', '.join(unknown)}"
    passed, wrong, not_made = 0, 0, 0
    for name, recipe in recipes.items():
        if WANTED and name not in WANTED:
            continue
        try:
            recipe()
            passed += 1
            print(f"right  {name}", flush=True)
        except NotMade as why:
            not_made += 1
            print(f"not tested: {name}: {why}", flush=True)
        except Exception:
            wrong += 1
            print(f"wrong  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {wrong} failed, {not_made} skipped")
    sys.exit(1 if wrong else 0 if passed else NOT_MADE)


main()
