"""Which small faults in the code its tests notice: mutation testing by mutmut, room by room.

    python benchmarks/mutants.py [ROOM...] [--count 150] [--seed 1]

A mutant is the code with one change: another operator, number, or name, or an argument less. Those
of a room are tried in an order that the seed decides, each by the tests that reach its function,
in one process. What is killed stays so until its function changes: a stopped run goes on, and a
run after new tests tries the survivors again. Mutants of sentences are left out, as no test
asserts more of a message than its first words; so are figures and pages, which are looked at.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
FROM_CHECKOUT = (
    *("quem", "webjudge", "templates", "studies", "tests", "docs"),
    *("benchmarks", "README.md", "CHANGELOG.md", "pyproject.toml"),
)
# The exit codes of pytest in mutmut's words; any other is a mutant that was stopped.
KILLED, SURVIVED, NO_TEST = {1, 3}, 0, 33


class Room(NamedTuple):
    """Files whose mutants are tried, and the tests that try them."""

    patterns: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        """All but those that draw."""
        found = (path for pattern in self.patterns for path in sorted(ROOT.glob(pattern)))
        return [path.relative_to(ROOT).as_posix() for path in found if path.name not in _DRAWN]


class Mutant(NamedTuple):
    """A changed line."""

    place: str
    before: str
    after: str


def golden(*names: str) -> list[str]:
    """The tests of golden results."""
    return [f"tests/golden/test_golden.py::test_nothing_departs[{name}]" for name in names]


_DRAWN = {"figures.py", "page.py", "scale.py"}
ROOMS = {
    "method": Room(
        ("quem/method/*.py",),
        (
            *("tests/method", "tests/comparison/test_pairs.py", "tests/rankings/test_decisions.py"),
            *("tests/planning/test_batch.py", "tests/report/test_experience_page.py"),
            *(f"tests/parts/test_{one}.py" for one in ("tables", "worths", "paper")),
            *golden("p3-1997-study", "p3-1997-averages", "assembly-planners-study"),
            *golden("cooling-panel-placed-study", "compare-versions", "compare-years"),
        ),
    ),
    "scores": Room(
        ("quem/scores/*.py",),
        ("tests/scores", "tests/commands/test_score.py", *golden("compare-scores", "ccbr-bikes")),
    ),
    "ranking": Room(
        ("quem/store/work.py", "quem/store/state.py"),
        (
            *("tests/webjudge/test_judging.py", "tests/webjudge/test_solving.py"),
            *(f"tests/store/test_{one}.py" for one in ("state", "saving", "standing", "solving")),
            "tests/store/test_dealing.py",
        ),
    ),
    "names": Room(
        tuple(f"quem/solutions/{one}.py" for one in ("names", "identity", "patterns", "telltales")),
        ("tests/solutions", "tests/blinding/test_redacting.py"),
    ),
}


def prepare(room: Room, folder: Path) -> None:
    """Lay out the folder that mutmut works in: links to the checkout, and its settings."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FROM_CHECKOUT:
        if name != "pyproject.toml" and not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    lists = {
        "source_paths": ("quem", "webjudge"),
        "only_mutate": room.files,
        "also_copy": FROM_CHECKOUT[2:],
        "pytest_add_cli_args_test_selection": room.tests,
        "pytest_add_cli_args": ("-p", "no:cacheprovider", "-k", "not postgres"),
    }
    lines = ["[mutmut]", "use_git_change_detection = false", "timeout_constant = 20"]
    lines += (f"{key} =\n    " + "\n    ".join(values) for key, values in lists.items())
    (folder / "setup.cfg").write_text("\n".join(lines) + "\n", encoding="utf-8")


def mutants_of(path: Path) -> dict[str, Mutant]:
    """All mutants of a file by name, but those of sentences."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name, make_mutant_key

    source = path.read_text(encoding="utf-8")
    starts = {}
    for node in ast.parse(source).body:
        held = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in (one for one in held if isinstance(one, ast.FunctionDef)):
            of_class = node.name if isinstance(node, ast.ClassDef) else None
            starts[make_mutant_key(one.name, of_class)] = one.lineno
    mutated = mutate_file_contents(str(path), source)
    code = mutated.code.split("\n")

    def text_of(name: str) -> list[str]:
        span = mutated.line_span_by_function_name[name]
        lines = code[span.start - 1 : span.end]
        at = next(at for at, line in enumerate(lines) if f"def {name}(" in line)
        return [lines[at].replace(name, "", 1), *lines[at + 1 :], ""]

    found = {}
    for name in mutated.mutant_names:
        key = name.partition("__mutmut_")[0]
        before, after = text_of(f"{key}__mutmut_orig"), text_of(name)
        at = next(
            at for at, pair in enumerate(zip(before, after, strict=False)) if len(set(pair)) > 1
        )
        mutant = Mutant(f"{path}:{starts[key] + at}", before[at].strip(), after[at].strip())
        if not is_sentence(mutant):
            found[get_mutant_name(path, name)] = mutant
    return found


def is_sentence(mutant: Mutant) -> bool:
    """Whether only a text with a blank is changed: put between XX, or into another case."""
    before, after = mutant.before, mutant.after
    if after.replace("XX", "").lower() != before.lower():
        return False
    at = next(at for at, pair in enumerate(zip(before, after, strict=False)) if len(set(pair)) > 1)
    quote = before.rfind('"', 0, at)
    return " " in before[quote + 1 :].partition('"')[0]


def tried(folder: Path, mutants: dict[str, Mutant]) -> dict[str, int | None]:
    """The exit codes that mutmut has noted."""
    codes: dict[str, int | None] = {}
    for path in {mutant.place.rpartition(":")[0] for mutant in mutants.values()}:
        noted = folder / "mutants" / f"{path}.meta"
        if noted.exists():
            codes |= json.loads(noted.read_text(encoding="utf-8"))["exit_code_by_key"]
    return {name: codes.get(name) for name in mutants}


def try_room(name: str, *, count: int, seed: int) -> None:
    """Try the first mutants of a room, and print what came of them."""
    room, folder = ROOMS[name], WORK / name
    prepare(room, folder)
    with contextlib.chdir(folder):  # mutmut reads its settings from where it is
        everything = {
            key: one for name in room.files for key, one in mutants_of(Path(name)).items()
        }
    order = sorted(everything, key=lambda key: hashlib.sha256(f"{seed} {key}".encode()).digest())
    mutants = {key: everything[key] for key in order[:count]}
    for _ in range(2):  # what was noted of a function that has changed since is dropped by mutmut
        left = [key for key, code in tried(folder, mutants).items() if code not in KILLED]
        if left:
            with (folder / "log.txt").open("w", encoding="utf-8") as log:
                mutmut = Path(sys.executable).with_name("mutmut")
                command = (str(mutmut), "run", "--max-children=1", *left)
                subprocess.run(command, cwd=folder, stdout=log, stderr=log, check=True)
        codes = tried(folder, mutants)
        if None not in codes.values():
            break
    told = {key: code for key, code in codes.items() if code not in KILLED}
    noun = {SURVIVED: "survived", NO_TEST: "no test", None: "not tried"}
    stopped = sum(code not in noun for code in told.values())
    share = 100 * (len(mutants) - len(told) + stopped) / len(mutants)
    print(
        f"{name}: {len(mutants)} of {len(everything)} mutants, {len(mutants) - len(told)} killed, "
        f"{stopped} stopped, {len(told) - stopped} left: {share:.1f}%"
    )
    for key in sorted(told, key=lambda key: everything[key].place):
        place, before, after = everything[key]
        print(f"  {place}  {noun.get(told[key], 'stopped')}  {key}\n    - {before}\n    + {after}")


def main() -> None:
    """Try rooms one after another."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("--count", type=int, default=150, help="how many mutants of a room")
    parser.add_argument("--seed", type=int, default=1)
    taken = parser.parse_args()
    for name in taken.rooms or ROOMS:
        try_room(name, count=taken.count, seed=taken.seed)


if __name__ == "__main__":
    main()
