"""The container's files: what they ask for is run here, in a clean folder, without an engine."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import yaml
from uv import find_uv_bin

from tests.patience import SECONDS, until

ROOT = Path(__file__).resolve().parent.parent
STEPS = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")


def step(name: str) -> str:
    """What an instruction of the Containerfile says."""
    [text] = re.findall(rf"^\s*{name} (.+)$", STEPS, re.MULTILINE)
    return str(text)


def is_healthy(check: list[str], settings: dict[str, str]) -> bool:
    ended = subprocess.run(check, check=False, env=settings, capture_output=True, timeout=SECONDS)
    return ended.returncode == 0


def test_the_image_serves_a_study(tmp_path: Path) -> None:
    """What is installed serves a study by the image's command, as its health check finds."""
    data, environment = tmp_path / "data", tmp_path / "environment"
    study = shutil.copytree(ROOT / "studies" / "cooling-plans", data / "study")
    python = environment / "bin" / "python"
    [wanted] = re.findall(r'"/source(\[[\w,]+\])"', STEPS)
    uv = [find_uv_bin(), "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(environment)], check=True)
    pinned = ("--constraint", str(ROOT / "constraints.txt"))
    install = [*uv, "pip", "install", "--python", str(python), *pinned, f"{ROOT}{wanted}"]
    subprocess.run(install, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    named = dict(pair.split("=", 1) for pair in shlex.split(step("ENV")))
    variables = {name: value.replace("/data", str(data)) for name, value in named.items()}
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    settings = {"PATH": path, "HOME": str(tmp_path), **variables}
    command, check = (
        [word.replace("8080", port) for word in json.loads(text)]
        for text in (re.findall(r"^CMD (.+)$", STEPS, re.MULTILINE)[0], step("HEALTHCHECK.*? CMD"))
    )
    with subprocess.Popen(command, cwd=tmp_path, env=settings, stderr=subprocess.PIPE) as server:
        try:
            until(lambda: server.poll() is not None or is_healthy(check, settings), "health")
            assert server.poll() is None, server.stderr and server.stderr.read()
        finally:
            server.terminate()
    assert (study / "study.sqlite3").is_file()


def test_the_image_and_its_companions() -> None:
    """It runs as an ordinary user on a read-only root, with the packages that the docs name."""
    assert int(step("USER")) > 0
    assert step("VOLUME") == "/data"
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert services["quem"]["read_only"] is True
    assert {"quem", "database"} == services.keys()
    pages = (path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    docs = "".join(pages)
    packages = re.findall(r"\b(?:libreoffice|fonts)-[\w-]+", STEPS)
    assert len(packages) > 5
    assert [name for name in packages if name not in docs] == []
