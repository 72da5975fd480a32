"""As much of GitHub's runner as a composite action needs: inputs, conditions, environment files, and the two actions of others
that ours uses, each made of a folder of this machine."""

import io
import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import yaml

NAME = re.compile(r"\b(inputs|steps|runner|github)((?:\.[A-Za-z0-9_-]+)+)")


class Ended:
    """What an action came to."""

    def __init__(self):
        self.status = 0
        self.said = ""
        self.outputs = {}
        self.artifacts = []
        self.summary = ""


class Runner:
    """A runner with an empty home and temporary folder. `caches` outlives it, as GitHub's cache does."""

    def __init__(self, place, caches, variables, token):
        self.place, self.caches = pathlib.Path(place), pathlib.Path(caches)
        self.temp = self.place / "temp"
        self.variables = variables
        self.token = token
        for folder in [self.temp, self.place / "home", self.caches]:
            folder.mkdir(parents=True, exist_ok=True)

    def run(self, action, inputs, workspace, event):
        """Runs the action in this folder as a step of a workflow does."""
        action = pathlib.Path(action).resolve()
        document = yaml.safe_load((action / "action.yml").read_text())
        unknown = set(inputs) - set(document["inputs"])
        assert not unknown, f"{action} has no input {unknown}"
        known = {
            "inputs": {
                name: str(inputs.get(name, about.get("default", "")))
                for name, about in document["inputs"].items()
            },
            "steps": {},
            "runner": {"temp": str(self.temp), "os": "Linux", "arch": "X64"},
            "github": {"token": self.token},
        }
        known["inputs"] = {
            name: filled(text, known) for name, text in known["inputs"].items()
        }
        for name, about in document["inputs"].items():
            assert not about.get("required") or inputs.get(name), f"{name} is required"
        ended, path = Ended(), []
        for step in document["runs"]["steps"]:
            if not is_due(step.get("if"), known, ended.status == 0):
                continue
            outputs = known["steps"].setdefault(step.get("id", ""), {})
            outputs["outputs"] = {}
            given = {
                name: filled(text, known)
                for name, text in {**step.get("env", {}), **step.get("with", {})}.items()
            }
            if "run" in step:
                assert step["shell"] == "bash", step
                command = filled(step["run"], known)
                made = self.shell(command, given, action, workspace, event, path, ended)
            else:
                made = self.used(step["uses"], given, ended)
            outputs["outputs"] = made
        ended.outputs = {
            name: filled(about["value"], known)
            for name, about in document.get("outputs", {}).items()
        }
        return ended

    def shell(self, command, given, action, workspace, event, path, ended):
        files = {name: self.temp / f"{name}-file" for name in ["GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"]}
        for file in files.values():
            file.write_text("")
        environment = {
            "HOME": str(self.place / "home"),
            "PATH": os.pathsep.join(path + [os.environ["PATH"]]),
            "LC_ALL": "C.UTF-8",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(action),
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(event),
            "CI": "true",
            **{name: str(file) for name, file in files.items()},
            **self.variables,
            **given,
        }
        told = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
            cwd=workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
        ended.said += told.stdout.decode(errors="replace")
        ended.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        ended.status = ended.status or told.returncode
        path[:0] = reversed(files["GITHUB_PATH"].read_text().splitlines())
        return dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())

    def used(self, action, given, ended):
        name, version = action.split("@")
        assert re.fullmatch("[0-9a-f]{40}", version), f"{action} is not pinned"
        if name == "actions/upload-artifact":
            file = pathlib.Path(given["path"])
            zipped = io.BytesIO()
            with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(file, file.name)
            ended.artifacts.append((given["name"], zipped.getvalue()))
            return {}
        kept, folder = self.caches / given["key"], pathlib.Path(given["path"])
        assert given["path"] and not given["key"].endswith("-"), given
        if name == "actions/cache/restore":
            if kept.exists():
                shutil.copytree(kept, folder, symlinks=True, dirs_exist_ok=True)
            hit = "true" if kept.exists() else "false"
            return {"cache-hit": hit, "cache-primary-key": given["key"]}
        assert name == "actions/cache/save", f"nobody has thought of {action}"
        if folder.exists() and not kept.exists():
            shutil.copytree(folder, kept, symlinks=True)
        return {}


def value(name, known):
    for part in name.split("."):
        known = known.get(part, "") if isinstance(known, dict) else ""
    return known


def filled(text, known):
    """A text with its expressions worked out, each of which is a name."""
    return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda found: str(value(found[1], known)), str(text))


def is_due(condition, known, succeeded):
    """Conditions are made of names, texts, `==`, `!=`, `&&` and `!cancelled()`."""
    if condition is None:
        return succeeded
    condition = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", condition.strip())
    anyway = "!cancelled()" in condition
    condition = condition.replace("!cancelled()", "True").replace("&&", " and ")
    condition = NAME.sub(lambda found: repr(value(found[0], known)), condition)
    return (anyway or succeeded) and eval(condition.strip(), {"__builtins__": {}})
