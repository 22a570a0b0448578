"""quem's server and Potato's, each with a client of its own.

Both serve the same task: 20 problems, each with a statement and 8 solutions to rank.
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from uv import find_uv_bin

from benchmarks.measuring import PYTHON, QUEM, environment

if TYPE_CHECKING:
    from collections.abc import Mapping

POTATO = "2.12.1"
PROBLEMS, SOLVERS = 20, 8
LABELS = "ABCDEFGH"
# About 150 words.
SOLUTION = """Plan {solver} for problem {problem}, in {steps} steps.

{list}

Measure *before and after* each step, at the same places and at the same hour, and write it down.
If a step makes things worse, undo it before the next one. Stop when all readings stay in range
for a week, and say so to those who asked. Keep a tenth of the money for what comes up later.
"""
STEP = "- Step {step}: change one thing, wait for an hour, and look at what came of it.\n"


class Client:
    """A judge's browser as far as a server sees it: one connection that is kept, and cookies."""

    def __init__(self, port: int, timeout: float = 60) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._cookies: dict[str, str] = {}

    def send(self, method: str, path: str, body: str | None = None, kind: str = "") -> bytes:
        """Send a request, and follow where it leads: the body; an error is raised."""
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self._cookies.items())}
        if body is not None:
            headers["Content-Type"] = kind
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self._cookies[key] = rest.partition(";")[0]
        target = answer.getheader("Location")
        if answer.status in (302, 303) and target:
            return self.send("GET", target)
        if not 200 <= answer.status < 300:  # noqa: PLR2004  success
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return content

    def send_json(self, method: str, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401
        """Send JSON, and read JSON."""
        return json.loads(self.send(method, path, json.dumps(body), "application/json"))

    def send_form(self, path: str, **fields: str) -> bytes:
        """Send a form."""
        return self.send("POST", path, urlencode(fields), "application/x-www-form-urlencoded")


class Judge(Protocol):
    """One judge at work."""

    def page(self, count: int) -> bytes:
        """Open a ranking page; `count` goes up."""

    def save(self, count: int) -> None:
        """Save an order of one of the problems."""


class Server(Protocol):
    """What is measured."""

    health: str

    def command(self, folder: Path, port: int) -> list[str]:
        """Write the task into an empty folder, and say how it is served."""

    def judges(self, output: str, port: int, count: int) -> list[Judge]:
        """Log judges in; `output` is what the server has printed."""


def order(count: int) -> list[str]:
    """The labels, in another order each time."""
    turn = count % SOLVERS
    return list(LABELS[turn:] + LABELS[:turn])


def solution(problem: int, solver: int) -> str:
    """Write a solution in Markdown."""
    steps = 5 + (problem + solver) % 3
    listed = "".join(STEP.format(step=step + 1) for step in range(steps))
    return SOLUTION.format(solver=solver, problem=problem, steps=steps, list=listed)


class Quem:
    """`quem serve` on a study made for the purpose."""

    health = "/healthz"

    def command(self, folder: Path, port: int) -> list[str]:
        """Write a study with 8 judges."""
        lines = ["id: bench", "title: Benchmark", "problems:"]
        lines += [
            f"  - {{id: P{p}, title: Problem {p}, statement: p{p}.md}}" for p in range(PROBLEMS)
        ]
        lines += ["judges:", *(f"  - {{id: J{j}, name: Judge {j}}}" for j in range(8))]
        lines += ["subjects:", *(f"  - {{id: S{s}, experience: {s}}}" for s in range(SOLVERS - 1))]
        lines += ["systems:", f"  - {{id: S{SOLVERS - 1}}}"]
        for problem in range(PROBLEMS):
            (folder / f"p{problem}.md").write_text(f"What is to be done about *{problem}*?\n")
            group = folder / "solutions" / f"P{problem}"
            group.mkdir(parents=True)
            for solver in range(SOLVERS):
                (group / f"S{solver}.md").write_text(solution(problem, solver))
        study = folder / "study.yaml"
        study.write_text("\n".join(lines) + "\n")
        return [*QUEM, "serve", str(study), "--port", str(port)]

    def judges(self, output: str, port: int, count: int) -> list[Judge]:
        """Open the links that were made."""
        return [_QuemJudge(port, link) for link in self.links(output)[:count]]

    def links(self, output: str) -> list[str]:
        """The paths of judges' links: from the file that is named, or what was printed."""
        file = re.search(r"^Links: (.*) \(only", output, re.MULTILINE)
        return re.findall(r"(/j/[\w-]+)", Path(file[1]).read_text() if file else output)


class _QuemJudge:
    def __init__(self, port: int, link: str) -> None:
        self._client = Client(port)
        home = self._client.send("GET", link).decode()
        self._groups = list(dict.fromkeys(re.findall(r"/judge/g/[\w-]+", home)))
        if len(self._groups) != PROBLEMS:
            raise RuntimeError(f"{len(self._groups)} groups in place of {PROBLEMS}")
        self._revisions: dict[str, str] = dict.fromkeys(self._groups, "0")
        self._layouts = {group: self._layout(group) for group in self._groups}
        self._tab = f"tab-{id(self):012x}"

    def _layout(self, group: str) -> str:
        match = re.search(r'"layout": "(\w+)"', self._client.send("GET", group).decode())
        return match[1] if match else ""

    def page(self, count: int) -> bytes:
        return self._client.send("GET", self._groups[count % PROBLEMS])

    def save(self, count: int) -> None:
        group = self._groups[count % PROBLEMS]
        state = {
            "ranked": [[label] for label in order(count)],
            "tray": [],
            "cannot": {},
            "recognized": [],
            "comments": {},
            "comment": "",
        }
        body = {
            "base": self._revisions[group],
            "client": self._tab,
            "change": count + 1,
            "layout": self._layouts[group],
            "state": state,
            "seconds": 1.5,
            "submit": False,
        }
        answer = self._client.send_json("PUT", f"{group}/state", body)
        self._revisions[group] = answer["revision"]


class OldQuem(Quem):
    """The same app with waitress's own limits and four threads, as it was served once."""

    def command(self, folder: Path, port: int) -> list[str]:
        study = folder / "study.yaml"
        super().command(folder, port)
        work = str(Path(__file__).with_name("work.py"))
        return [*PYTHON, work, "serve_as_before", str(study), str(port)]


class Potato:
    """Potato, in an environment of its own, with its own kind of ranking."""

    health = "/health"

    def __init__(self, folder: Path) -> None:
        self._environment = folder
        uv = find_uv_bin()
        # The versions of our own libraries are not those of its users.
        unpinned = {k: v for k, v in environment().items() if not k.endswith("_CONSTRAINT")}
        for command in (
            ("venv", "--python", sys.executable, folder),
            ("pip", "install", "--python", folder, f"potato-annotation=={POTATO}"),
        ):
            subprocess.run([uv, "--quiet", *command], check=True, env=unpinned)

    def command(self, folder: Path, port: int) -> list[str]:
        """Write a task in which each item shows a statement and the same solutions."""
        import markdown_it

        markdown = markdown_it.MarkdownIt()
        with (folder / "items.jsonl").open("w") as file:
            for problem in range(PROBLEMS):
                text = markdown.render(f"What is to be done about *{problem}*?")
                for solver, label in enumerate(LABELS):
                    text += f"<h3>{label}</h3>{markdown.render(solution(problem, solver))}"
                file.write(json.dumps({"id": f"P{problem}", "text": text}) + "\n")
        ranking = {
            "annotation_type": "ranking",
            "name": "order",
            "description": "Best first",
            "labels": list(LABELS),
            "allow_ties": True,
        }
        task = {
            "annotation_task_name": "Benchmark",
            "task_dir": ".",
            "output_annotation_dir": "out/",
            "data_files": ["items.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "require_password": False,
            "user_config": {"allow_all_users": True, "users": []},
            "assignment_strategy": "fixed_order",
            "max_annotations_per_user": PROBLEMS,
            "max_annotations_per_item": -1,
            "annotation_schemes": [ranking],
        }
        # JSON is YAML.
        (folder / "config.yaml").write_text(json.dumps(task))
        program = str(self._environment / "bin" / "potato")
        return [program, "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]

    def judges(self, output: str, port: int, count: int) -> list[Judge]:  # noqa: ARG002
        """Log users in by name."""
        return [_PotatoJudge(port, number) for number in range(count)]


class _PotatoJudge:
    def __init__(self, port: int, number: int) -> None:
        self._client = Client(port)
        self._client.send_form("/auth", **{"email": f"judge{number}", "pass": ""})

    def page(self, count: int) -> bytes:
        # Its own way from item to item; the answer is the page.
        return self._client.send_form("/go_to", go_to=str(count % PROBLEMS))

    def save(self, count: int) -> None:
        body = {
            "instance_id": f"P{count % PROBLEMS}",
            "annotations": {"order:rank_order": ",".join(order(count))},
            "cleared_schemas": [],
            "span_annotations": [],
            "client_timestamp": "2026-01-01T10:00:00.000Z",
            "response_time_seconds": 1.5,
        }
        answer = self._client.send_json("POST", "/updateinstance", body)
        if answer.get("status") not in ("ok", "success"):
            raise RuntimeError(str(answer))
