"""``quem panel``: what is frozen, what is refused, and what a placed study says."""

from __future__ import annotations

import hashlib
import json
import random
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem import QuemError, analyze, load_study
from quem.panels.package import read_panel
from quem.panels.placing import draw_anchors, drawn_anchors, score_of
from tests.panels.made import made_panel, placed_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from quem.panels.package import ReferencePanel
    from tests.commands.conftest import Command

PROBLEMS = ("P1", "P2", "P3")
YEARS = {f"S{n}": float(n) for n in range(1, 10)}
OF_PANEL = {f"p{n}": float(n) for n in range(1, 9)}
LONG = "judge,problem,solver,rank\n" + "".join(
    f"{judge},{problem},{one},{years:g}\n"
    for problem in PROBLEMS
    for one, years in YEARS.items()
    for judge in ("J1", "J2")
)
AVERAGES = "solver,average_rank\n" + "".join(f"{one},{y:g}\n" for one, y in YEARS.items())
DECISIONS = "judge,problem,winner,loser\n" + "".join(
    f"J1,{p},S{n + 1},S{n}\n" for p in PROBLEMS for n in range(1, 9)
)


def people_study(
    folder: Path, *, ranks: str = LONG, form: str = "long", left_out: Sequence[str] = ()
) -> Path:
    """Write a study of nine people, ranked by two judges as their years are."""
    for problem in PROBLEMS:
        (folder / "solutions" / problem).mkdir(parents=True)
        for one in YEARS:
            (folder / "solutions" / problem / f"{one}.md").write_text(f"A plan by {one}.\n")
    lines = ["id: people", "title: People", "judges: [{id: J1}, {id: J2}]", "subjects:"]
    lines += [
        f"  - {{id: {one}, experience: {years:g}, reuse: {str(one not in left_out).lower()}}}"
        for one, years in YEARS.items()
    ]
    lines += ["problems:", *(f"  - {{id: {one}}}" for one in PROBLEMS)]
    lines += [f"rankings: {{from: {form}, file: ranks.csv}}", ""]
    (folder / "ranks.csv").write_text(ranks)
    (folder / "study.yaml").write_text("\n".join(lines))
    return folder / "study.yaml"


def system_folder(folder: Path, *problems: str) -> Path:
    folder.mkdir()
    for problem in problems or PROBLEMS:
        (folder / f"{problem}.md").write_text("A plan.\n")
    return folder


@pytest.fixture
def panel(tmp_path: Path) -> ReferencePanel:
    return panel_in(tmp_path)


def panel_in(folder: Path) -> ReferencePanel:
    tasks = [(judge, problem) for judge in ("J1", "J2") for problem in PROBLEMS]
    return made_panel(folder / "panel.zip", OF_PANEL, dict.fromkeys(tasks, OF_PANEL))


def rows_of(
    anchors: Mapping[str, Sequence[str]], qualities: Mapping[str, float], *, turned: bool = False
) -> list[tuple[str, str, str, float]]:
    """Let two judges rank anchors as their years are, or backwards, and systems by quality."""
    years = OF_PANEL | dict(qualities)
    return [
        (judge, problem, one, rank)
        for judge in ("N1", "N2")
        for problem, of in anchors.items()
        for rank, one in enumerate(
            sorted([*of, *qualities], key=years.__getitem__, reverse=turned), 1
        )
    ]


def drawn(panel: ReferencePanel, *systems: str, count: int = 4) -> dict[str, tuple[str, ...]]:
    return drawn_anchors(panel, dict.fromkeys(systems), count)


def test_a_panel_names_nobody_and_leaves_out_who_did_not_agree(
    run: Command, tmp_path: Path
) -> None:
    """Random ids, rounded years, license, consent; it is never written over."""
    study = people_study(tmp_path, left_out=["S4"])
    consent = tmp_path / "agreed.md"
    consent.write_text("We agree.\n")
    make = ("panel", "make", study)
    code, out, err = run(*make, "--license", "CC0", "--consent", consent, "--round", 2)
    assert code == 0, err
    assert "left out: S4: reuse: true is not set" in err
    panel = read_panel(tmp_path / "study-panel.zip")
    assert out == f"panel: {panel.digest}\n"
    assert sorted(one.experience for one in panel.spec.people) == [2, 2, 4, 6, 6, 8, 8, 10]
    assert panel.spec.license == "CC0"
    assert panel.files[panel.spec.consent] == b"We agree.\n"
    assert not [name for name in panel.files for one in YEARS if f"/{one}." in name]
    assert all(sorted(of) == [*range(1, 9)] for of in panel.ranks.to_numpy())
    assert run(*make, "--out", tmp_path / "again.zip").code == 0
    assert not set(panel.people) & set(read_panel(tmp_path / "again.zip").people)
    for there in (panel.path, study):
        before = there.read_bytes()
        assert run(*make, "--out", there).refuses(f"{there}: is there already")
        assert there.read_bytes() == before


REFUSED: dict[str, dict[str, Any]] = {
    "a panel needs 8 people at least, and 7 can": {"left_out": ("S1", "S2")},
    "a panel needs 2 judges at least, and 1 can be used (left out: J2": {
        "ranks": LONG.replace("J2,P2,S5,5\n", "")
    },
    "a panel needs 3 problems at least, and 2 can": {
        "ranks": "".join(row for row in LONG.splitlines(keepends=True) if "P3" not in row)
    },
    "the order on each problem needs the rankings": {"ranks": AVERAGES, "form": "averages"},
    "a panel needs rankings of whole groups": {"ranks": DECISIONS, "form": "decisions"},
    "there is no solution of S3": {},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_frozen_is_refused(run: Command, tmp_path: Path, said: str) -> None:
    study = people_study(tmp_path, **REFUSED[said])
    if not REFUSED[said]:
        (tmp_path / "solutions/P2/S3.md").unlink()
    assert run("panel", "make", study).refuses(said)
    assert not (tmp_path / "study-panel.zip").exists()


def test_every_changed_bit_of_a_panel_is_named(
    run: Command, panel: ReferencePanel, tmp_path: Path
) -> None:
    raw = panel.path.read_bytes()
    draw = random.Random(3)
    changed = tmp_path / "changed.zip"
    for _ in range(40):
        at = draw.randrange(len(raw))
        one = bytearray(raw)
        one[at] ^= 1 << draw.randrange(8)
        changed.write_bytes(bytes(one))
        outcome = run("panel", "verify", changed, "--digest", panel.digest)
        # Some bits of a ZIP archive mean nothing: then all files are as they were.
        same = outcome.code == 0 and read_panel(changed).files == panel.files
        assert same or outcome.refuses("changed.zip"), at
    changed.write_bytes(raw[:1000])
    assert run("panel", "verify", changed).refuses("is not a panel, or a damaged one")
    fewer = {name: panel.files[name] for name in panel.files if name != "solutions/P1/p1.md"}
    more = {**panel.files, "solutions/P1/p9.md": b"more"}
    for files, said in ((more, "was added"), (fewer, "is missing")):
        with ZipFile(changed, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        assert run("panel", "verify", changed).refuses(said)


HOSTILE: dict[str, list[tuple[str, bytes]]] = {
    "has solutions/P1/p1.md twice": [("solutions/P1/p1.md", b"Another plan.\n")],
    "has problems/P1 twice": [("problems/P1", b"A text.\n"), ("problems/P1/p1.md", b"A text.\n")],
    "unpacks to more than 50 MB": [("solutions/P1/p9.md", bytes(60_000_000))],
    "has a name that leads out": [("problems/../../evil.md", b"A text.\n")],
    "rankings.csv: ": [("rankings.csv", b'"' + b"x" * 200_000)],
}


@pytest.mark.parametrize("said", HOSTILE)
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_a_panel_that_somebody_made_up_is_refused(
    run: Command, panel: ReferencePanel, tmp_path: Path, said: str
) -> None:
    """Its digests may be right, and still nothing is unpacked of it, and no study written."""
    files = [(name, panel.files[name]) for name in panel.files if name != "SHA256SUMS"]
    files = [one for one in files if one[0] != "rankings.csv" or said != "rankings.csv: "]
    files += HOSTILE[said]
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files}
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
    made = tmp_path / "made-up.zip"
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, content in [*files, ("SHA256SUMS", lines.encode())]:
            archive.writestr(name, content)
    bot = f"bot={system_folder(tmp_path / 'bot')}"
    assert run("panel", "verify", made).refuses(said)
    out = tmp_path / "out"
    assert run("panel", "place", made, "--system", bot, "--out", out).refuses(said)
    assert not out.exists()
    assert not (tmp_path / "evil.md").exists()


def test_a_placed_study_has_the_drawn_people_and_is_complete(
    run: Command, panel: ReferencePanel, tmp_path: Path
) -> None:
    """Two systems share the anchors; `quem check` finds nothing wrong."""
    one, two = system_folder(tmp_path / "one"), system_folder(tmp_path / "two", "P1", "P2")
    out = tmp_path / "placed"
    systems = ("--system", f"one={one}", "--system", f"two={two}")
    words = ("panel", "place", panel.path, *systems, "--out", out)
    assert run(*words).refuses("has no solution of P3; add them, or give --failed if two")
    assert not out.exists()
    assert run(*words, "--failed", "--anchors", 3, "--judges", 3).code == 0
    for problem, anchors in drawn(panel, "two", "one", count=3).items():
        there = {path.stem for path in (out / "solutions" / problem).iterdir()}
        assert there == {*anchors, "one", *(["two"] if problem != "P3" else [])}
    code, said, _ = run("check", out)
    assert (code, "no errors, no warnings" in said) == (0, True)
    assert run(*words, "--failed").refuses("placed")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("p1={folder}", "p1 is the id of one of the panel's people"),
        ("a/b={folder}", "solutions are files named by the id"),
        ("bot={folder}/none", "No such file"),
        ("bot={folder} --anchors 8", "there can be 7 anchors at most"),
        ("bot={tmp}", "has no solution of any problem of the panel"),
    ],
)
def test_what_cannot_be_placed_is_refused(
    run: Command, panel: ReferencePanel, tmp_path: Path, words: str, said: str
) -> None:
    given_words = words.format(folder=system_folder(tmp_path / "bot"), tmp=tmp_path).split()
    place = ("panel", "place", panel.path, "--out", tmp_path / "out", "--system")
    assert run(*place, *given_words).refuses(said)
    assert not (tmp_path / "out").exists()


def analyzed(study: Path) -> tuple[dict[str, Any], set[str], str]:
    """A study's panel section, its warning codes, and the summary."""
    result = analyze(load_study(study, kind="experience"))
    made = result.to_dict()
    codes = {one["code"] for one in made["warnings"] if one["code"].startswith("panel")}
    return made["panel"], codes, " ".join(result.summary().split())


def test_what_is_said_of_the_judges_of_a_panel(panel: ReferencePanel) -> None:
    """Drift widens the interval; problems that nobody ranked are left out for everybody."""
    anchors = drawn(panel, "bot")
    calm, codes, _ = analyzed(placed_study(panel, rows_of(anchors, {"bot": 4.5})))
    assert (codes, calm["tau2"]) == (set(), 0)
    assert calm["systems"] == [{"system": "bot", "w": 0, "times_as_wide": 1}]
    turned = rows_of(anchors, {"bot": 4.5}, turned=True)
    made, codes, summary = analyzed(placed_study(panel, turned))
    assert (codes, made["tau_b_new"]) == ({"panel-judges-differ"}, -1)
    assert made["tau2"] > 1
    assert "have them rank all people" in summary
    del anchors["P2"]
    made, codes, _ = analyzed(placed_study(panel, rows_of(anchors, {"bot": 2.5})))
    assert (made["problems"], codes) == (["P1", "P3"], {"panel-problems-left-out"})
    # Where nobody is an anchor twice, drift is unknown.
    once = {"P1": ["p1", "p5"], "P2": ["p2", "p6"], "P3": ["p4", "p8"]}
    study = placed_study(panel, rows_of(once, {"bot": 4.5}), anchors=2)
    made, codes, summary = analyzed(study)
    assert (made["tau2"], codes) == (None, {"panel-not-drawn"})
    assert "Nobody was an anchor twice" in summary
    with pytest.raises(QuemError, match="no judge has ranked a system with its anchors yet"):
        analyzed(placed_study(panel, rows_of({"P1": ["p1", "p4"]}, {})))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("experience: 3.0", "experience: 4.0", "these are not the people of the panel"),
        ("digest: ", "digest: 0", "expected 64 hexadecimal digits"),
        ("anchors: 4", "anchors: 1", "must be 2 or more"),
        ("panel.zip", "other.zip", "there is no file 'other.zip'"),
        ("rankings:", "machines: [{id: M1, command: [x]}]\nmachine: {}\nrankings:", "track"),
        ("rankings:", "design: {block_size: 3}\nrankings:", "has whole groups"),
        ("{id: P3}", "{id: P4}", "no problem P4"),
    ],
)
def test_a_placed_study_that_contradicts_its_panel_is_refused(
    run: Command, panel: ReferencePanel, before: str, after: str, said: str
) -> None:
    study = placed_study(panel, rows_of(drawn(panel, "bot"), {"bot": 4}))
    text = study.read_text()
    assert before in text
    study.write_text(text.replace(before, after))
    if after == "{id: P4}":
        ranks = study.with_name("rankings.csv")
        ranks.write_text(ranks.read_text().replace("P3", "P4"))
    assert run("analyze", study).refuses("study.yaml", said)


def test_pseudonyms_and_comparisons_of_placed_studies(
    run: Command, panel: ReferencePanel, tmp_path: Path
) -> None:
    def said(*words: object) -> dict[str, Any]:
        code, out, err = run(*words, "--json")
        assert code == 0, err
        made: dict[str, Any] = json.loads(out)
        return made

    studies = []
    for name, quality in (("one", 3.5), ("two", 6.5)):
        (tmp_path / name).mkdir()
        own = panel_in(tmp_path / name)
        studies.append(placed_study(own, rows_of(drawn(own, name), {name: quality})))
    anchors = said("analyze", studies[0], "--pseudonyms")["panel"]["anchors"]
    assert {one["person"] for one in anchors} <= OF_PANEL.keys()
    (pair,) = said("compare", *studies)["pairs"]
    assert pair["years"] > 0
    rows = rows_of(drawn(panel, "one", "two"), {"one": 3.5, "two": 6.5})
    (pair,) = said("compare", placed_study(panel, rows))["pairs"]
    assert pair["years"] is None


@given(
    st.lists(st.integers(0, 12), min_size=8, max_size=20),
    st.integers(2, 7),
    st.text("0123456789abcdef", min_size=4, max_size=4),
)
def test_each_stratum_gives_one_anchor(ranks: list[int], count: int, seed: str) -> None:
    """Anchors are different, in order, and one of each stratum; the larger strata are lower."""
    levels = {f"p{n:02d}": rank / 2 for n, rank in enumerate(ranks)}
    anchors = draw_anchors(levels, count, seed)
    ordered = sorted(levels, key=lambda one: (levels[one], one))
    at = [ordered.index(one) for one in anchors]
    size, larger = divmod(len(ranks), count)
    ends = [size * (k + 1) + min(k + 1, larger) for k in range(count)]
    strata = zip([0, *ends], at, ends, strict=False)
    assert all(start <= place < end for start, place, end in strata)


@given(st.sets(st.integers(1, 24), min_size=2, max_size=6), st.data())
def test_scores_rise_with_the_place_and_stay_among_the_people(
    levels: set[int], data: st.DataObject
) -> None:
    """More anchors below never give a lower score, and a tie is in the middle."""
    halves = [data.draw(st.integers(0, 2 * len(levels))) for _ in range(2)]
    low, high = sorted(half / 2 for half in halves)
    ranks = [level / 2 + 0.5 for level in levels]
    assert 0.5 <= score_of(low, ranks, 12) <= score_of(high, ranks, 12) <= 12.5
    if low % 1:
        below, above = score_of(low - 0.5, ranks, 12), score_of(low + 0.5, ranks, 12)
        assert score_of(low, ranks, 12) == pytest.approx((below + above) / 2)
