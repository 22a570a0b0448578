"""The wheel works where there is nothing but the wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built by way of the source distribution as an index would get it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [find_uv_bin(), "build", "--quiet", "--python", sys.executable]
    subprocess.run([*command, "--out-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


def test_wheel_carries_templates_studies_and_types(wheel: Path) -> None:
    """Templates, studies, the schema and the typing marker are inside; tests are not."""
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "quem/py.typed",
        "quem/report/analysis.schema.json",
        "quem/studies/p3-1997/study.yaml",
        "quem/studies/p3-1997/rankings.csv",
        "quem/templates/report/experience.html",
        "quem/templates/init/study.yaml",
    } <= names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"quem", "webjudge"}


def test_installed_wheel_analyses_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    """In an empty environment, from another folder, ``quem`` starts a study and reports on it."""
    environment, home = tmp_path / "environment", tmp_path / "home"
    home.mkdir()
    uv = find_uv_bin()
    subprocess.run(
        [uv, "venv", "--quiet", "--python", sys.executable, str(environment)], check=True
    )
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    install = [uv, "pip", "install", "--quiet", "--python", str(scripts / "python"), str(wheel)]
    subprocess.run(install, check=True)

    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}

    def run(*command: str) -> str:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            cwd=home,
            env={**kept, "HOME": str(home)},
        )
        return done.stdout

    quem = str(scripts / "quem")
    run(quem, "init", "mine")
    assert "years" in run(quem, "analyze", "mine/study.yaml")
    assert (home / "mine" / "study-report" / "report.html").stat().st_size > 50_000
    where = "from quem.resources import resource; print(resource('studies') / 'p3-1997')"
    study = Path(run(str(scripts / "python"), "-c", where).strip())
    assert study.is_relative_to(environment)
    result = json.loads(run(quem, "analyze", str(study / "study.yaml"), "--json"))
    assert result["estimates"][0]["experience"] == pytest.approx(7.228, abs=5e-4)
