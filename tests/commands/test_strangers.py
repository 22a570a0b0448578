"""Studies from strangers: which Python they can run, and when."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import quem
import quem.kinds
from quem.errors import QuemError
from quem.parallel import Workers
from tests.examples import study_with, write_study
from tests.patience import SECONDS

if TYPE_CHECKING:
    from tests.commands.conftest import Command

CASES = "id,color,size,fault\na,red,1,x\nb,red,2,x\nc,blue,3,y\nd,blue,4,y\n"
RETRIEVAL: dict[str, Any] = {
    "kind": "retrieval",
    "cases": "cases.csv",
    "queries": "leave-one-out",
    "retrievers": [{"id": "all", "linear": {}}, {"id": "own", "python": "ENTRY"}],
    "ground_truth": "all",
    "analysis": {"samples": 0},
}
DIALOGUE: dict[str, Any] = {
    "kind": "dialogue",
    "cases": {"file": "cases.csv", "class": "fault", "id": "id"},
    "strategies": ["DD", {"name": "own", "function": "ENTRY"}],
    "users": ["DL"],
    "analysis": {"samples": 0, "orders": 1},
}
# Every place of a study file that names code.
PLACES = {"retrievers[2].python": RETRIEVAL, "strategies[2].function": DIALOGUE}
OWN_NAMES = dict(zip(PLACES, ("own:retrieve", "own:distances"), strict=True))
# Marks that it ran, then offers every function that a study can name.
OWN = """
import os, subprocess
from pathlib import Path
from os import system
Path(__file__).with_name("ran").touch()
def retrieve(query, k, cases):
    return []
def distances(cases, answers):
    import numpy as np
    return np.zeros((len(answers), len(cases)))
"""


def stranger(folder: Path, place: str, entry: str = "", *, own: str = OWN) -> Path:
    """Write a study that names a function at a place, and `own.py` beside it."""
    content = yaml.safe_dump(PLACES[place], sort_keys=False)
    (folder / "cases.csv").write_text(CASES)
    (folder / "own.py").write_text(own)
    (folder / "study.yaml").write_text(content.replace("ENTRY", entry or OWN_NAMES[place]))
    return folder / "study.yaml"


FOREIGN = {
    "subprocess:Popen": "there is no file subprocess.py in the study's folder",
    "numpy:load": "there is no file numpy.py in the study's folder",
    "quem.io.text:shown": "there is no file quem/io/text.py in the study's folder",
    "..outside:run": "'..outside:run' does not name a Python function",
    "../outside:run": "'../outside:run' does not name a Python function",
    "linked:run": "linked.py is a link to a file outside",
    "pack.outside:run": "pack/outside.py is a link to a file outside",
    "own:subprocess.Popen": "comes from subprocess, outside",
    "own:system": "outside the study's folder; name a function",
    "own:Path": "comes from pathlib, outside",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("entry", FOREIGN)
def test_code_from_elsewhere_is_refused(
    tmp_path: Path, place: str, entry: str, run: Command
) -> None:
    folder = tmp_path / "study"
    (folder / "pack").mkdir(parents=True)
    outside = tmp_path / "outside.py"
    outside.write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()\n")
    (folder / "linked.py").symlink_to(outside)
    (folder / "pack" / "outside.py").symlink_to(outside)
    assert run("check", stranger(folder, place, entry)).refuses(f": {place}: ", FOREIGN[entry])
    assert not (tmp_path / "ran").exists()
    # The file beside the study is run only where it was named, and everything else was right.
    assert (folder / "ran").exists() <= entry.startswith("own:")


@pytest.mark.parametrize("place", PLACES)
def test_no_code(tmp_path: Path, place: str, run: Command) -> None:
    """``--no-code`` and ``code=False`` refuse code that would be loaded otherwise."""
    study = stranger(tmp_path, place)
    for words in (("check",), ("analyze", "--json")):
        assert run(*words, study, "--no-code").refuses(f": {place}: '{OWN_NAMES[place]}' is Python")
    with pytest.raises(QuemError, match="refuses to run"):
        quem.load_study(study, code=False)
    assert not (tmp_path / "ran").exists()
    assert run("check", study).code == 0
    assert (tmp_path / "ran").exists()


RETRIEVER, STRATEGY = PLACES
MISTAKES = {
    "retrievers[1].linear.attributes[1].name": (
        *(RETRIEVER, "linear: {}", "linear: {attributes: [{name: colr}]}"),
    ),
    "column 'falt' not found": (STRATEGY, "class: fault", "class: falt"),
    "queries": (STRATEGY, "kind: dialogue", "kind: dialogue\nqueries: no.csv"),
    "analysis.samples": (STRATEGY, "samples: 0", "samples: -1"),
    "analysis.measures[1]": (RETRIEVER, "samples: 0", "measures: [nDGC]"),
    "there is no file nowhere.py": (RETRIEVER, "own:retrieve", "nowhere:retrieve"),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_nothing_runs_before_all_is_right(tmp_path: Path, message: str) -> None:
    place, before, after = MISTAKES[message]
    study = stranger(tmp_path, place)
    text = study.read_text()
    assert before in text
    study.write_text(text.replace(before, after))
    with pytest.raises(QuemError) as caught:
        quem.analyze(quem.load_study(study))
    assert message in str(caught.value)
    assert not (tmp_path / "ran").exists()


SIBLINGS = """
import helper, pack.inner, statistics
from helper import best
from plain import part
from . import helper as relative
assert statistics.OWN and helper.best == best == relative.best
assert pack.inner.value == part.value + 1
def retrieve(query, k, cases):
    from late import late
    import fractions
    assert fractions.Fraction(1, 2) == late()
    return [(best, 1)]
class Made:
    def __init__(self, cases):
        import json
        self.cases = json.loads(json.dumps(cases))
    def retrieve(self, query, k):
        return [(best, 1)]
"""


def test_files_beside_are_found_and_shadow_nothing(tmp_path: Path) -> None:
    """A study's code imports what is beside it, also later; nobody else gets these files."""
    study = stranger(tmp_path, RETRIEVER, own=SIBLINGS)
    study.write_text(study.read_text().replace("leave-one-out", "cases.csv"))
    files = {
        "helper.py": "best = 'a'\n",
        "pack/__init__.py": "",
        "pack/inner.py": "import plain.part\nvalue = plain.part.value + 1\n",
        "plain/part.py": "value = 1\n",
        "late.py": "def late():\n    return .5\n",
        "statistics.py": "OWN = True\n",
        # A cached program beside another source is not run.
        "__pycache__/helper.cpython-311.pyc": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = list(sys.path)
    for entry in ("own:retrieve", "own:Made"):
        study.write_text(study.read_text().replace("own:retrieve", entry))
        result = quem.analyze(quem.load_study(study, kind="retrieval"))
        assert set(result.means["system"]) == {"own"}
        assert not [doubt for doubt in result.warnings if "retriever" in doubt.code]
        assert {path.name for path in result.inputs} >= {"own.py", "helper.py", "inner.py"}
    assert sys.path == before
    assert not {"own", "helper", "pack", "plain", "late"} & sys.modules.keys()
    import statistics

    assert not hasattr(statistics, "OWN")
    # Another study with files of the same names gets its own.
    other = tmp_path / "other"
    other.mkdir()
    study = stranger(other, RETRIEVER, own="from helper import *\n")
    (other / "helper.py").write_text("from own import x\n")
    with pytest.raises(QuemError, match="cannot import name 'x'"):
        quem.load_study(study)
    assert sorted(path.name for path in (tmp_path / "__pycache__").iterdir()) == [
        "helper.cpython-311.pyc"
    ]


def test_functions_go_to_other_processes(tmp_path: Path) -> None:
    """Workers load a study's functions by the same rule, and notice that a file has changed."""
    from quem.dialogue.loading import find_own

    (tmp_path / "own.py").write_text("def twice(x):\n    return 2 * x\n")
    function = find_own("the test", "own:twice", tmp_path)
    function.load()
    assert list(Workers(2).each(function, [(1,), (2,)])) == [2, 4]
    with pytest.raises(QuemError, match="has changed meanwhile"):
        list(Workers(2).each(replace(function, fingerprint="of other files"), [(1,)]))


def test_libraries_and_settings_are_never_taken_from_a_study(tmp_path: Path, run: Command) -> None:
    """Quem that is started in a stranger's folder loads no file that is named as a library.

    Its `matplotlibrc` neither runs LaTeX nor changes a byte of the figures.
    """
    study = write_study(tmp_path, study_with())
    words = ("analyze", study, "--tables", "none", "--out")
    assert run(*words, tmp_path / "plain").code == 0
    for name in ("yaml", "click", "numpy", "pandas", "json", "pydantic", "statistics"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name}.py was run')\n")
    settings = "text.usetex: True\nlines.linewidth: 9\nfigure.figsize: 1, 1\n"
    (tmp_path / "matplotlibrc").write_text(settings)
    unwanted = ("PYTHONPATH", "PYTHONSAFEPATH", "MATPLOTLIBRC")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    script = Path(sys.executable).with_name("quem")
    started = ([script, "check", study], [sys.executable, "-m", "quem", *words, "strange"])
    for command in (list(map(str, one)) for one in started):
        subprocess.run(command, cwd=tmp_path, env=env, check=True, timeout=SECONDS)
    plain, strange = (
        {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.svg")}
        for name in ("plain", "strange")
    )
    assert "line.svg" in plain
    assert strange == plain
