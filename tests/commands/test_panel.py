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
from quem.panels.placing import draw_anchors, score_of
from quem.report.files import json_text
from tests.panels.made import made_panel, placed_study

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from quem.panels.package import ReferencePanel
    from quem.parts.result import ExperienceResult

    Outcome = tuple[int, str, str]
    Command = Callable[..., Outcome]

PROBLEMS = ("P1", "P2", "P3")
YEARS = {f"S{n}": float(n) for n in range(1, 10)}


def people_study(folder: Path, *, more: str = "", reuse: Sequence[str] = tuple(YEARS)) -> Path:
    """Write a study of nine people, ranked by two judges as their years are."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["judge,problem,solver,rank"]
    for problem in PROBLEMS:
        for one, years in YEARS.items():
            rows += [f"{judge},{problem},{one},{years:g}" for judge in ("J1", "J2")]
            path = folder / "solutions" / problem / f"{one}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"A plan of quality {years:g}.\n", encoding="utf-8")
    lines = ["id: people", "title: People", "judges: [{id: J1}, {id: J2}]", "subjects:"]
    lines += [
        f"  - {{id: {one}, experience: {years:g}, reuse: {str(one in reuse).lower()}}}"
        for one, years in YEARS.items()
    ]
    lines += ["problems:", *(f"  - {{id: {one}}}" for one in PROBLEMS), "rankings: ranks.csv"]
    (folder / "ranks.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "study.yaml").write_text("\n".join([*lines, more]) + "\n", encoding="utf-8")
    return folder / "study.yaml"


def system_folder(folder: Path, *problems: str) -> Path:
    """Write a system's solutions."""
    folder.mkdir()
    for problem in problems or PROBLEMS:
        (folder / f"{problem}.md").write_text("A plan.\n", encoding="utf-8")
    return folder


def panel_of(folder: Path, years: Mapping[str, float] | None = None) -> ReferencePanel:
    """Write a panel of eight people whom two judges ranked as their years are."""
    years = years or {f"p{n}": float(n) for n in range(1, 9)}
    order = sorted(years, key=years.__getitem__)
    ranks = {
        (judge, problem): {one: order.index(one) + 1.0 for one in years}
        for judge in ("J1", "J2")
        for problem in PROBLEMS
    }
    return made_panel(folder / "panel.zip", years, ranks)


def rows_of(
    panel: ReferencePanel,
    anchors: Mapping[str, Sequence[str]],
    qualities: Mapping[str, float],
    judges: Sequence[str] = ("N1", "N2"),
) -> list[tuple[str, str, str, float]]:
    """Rank anchors as their years are, and systems by their quality."""
    years = {one.id: one.experience for one in panel.spec.people} | dict(qualities)
    return [
        (judge, problem, one, rank)
        for judge in judges
        for problem, of in anchors.items()
        for rank, one in enumerate(sorted([*of, *qualities], key=years.__getitem__), 1)
    ]


def drawn(panel: ReferencePanel, *systems: str, count: int = 4) -> dict[str, tuple[str, ...]]:
    """Draw anchors as `quem panel place` does."""
    from quem.panels.placing import drawn_anchors

    return drawn_anchors(panel, dict.fromkeys(systems), count)


# Making.


def test_a_panel_names_nobody_and_leaves_out_who_did_not_agree(
    quem_command: Command, tmp_path: Path
) -> None:
    """Random ids, rounded years, license, consent; who is left out is named."""
    study = people_study(tmp_path, reuse=[one for one in YEARS if one != "S4"])
    consent = tmp_path / "agreed.md"
    consent.write_text("We agree.\n", encoding="utf-8")
    options = ("--license", "CC0", "--consent", consent, "--round", 2)
    code, out, err = quem_command("panel", "make", study, *options)
    assert code == 0, err
    assert "left out: S4: reuse: true is not set for them" in err
    panel = read_panel(tmp_path / "study-panel.zip")
    assert out == f"panel: {panel.digest}\n"
    assert sorted(one.experience for one in panel.spec.people) == [2, 2, 4, 6, 6, 8, 8, 10]
    assert panel.spec.license == "CC0"
    assert panel.files[panel.spec.consent] == b"We agree.\n"
    assert not [name for name in panel.files for one in YEARS if f"/{one}." in name]
    assert all(sorted(of) == [*range(1, 9)] for of in panel.ranks.to_numpy())
    again = quem_command("panel", "make", study, "--out", tmp_path / "again.zip")
    assert again[0] == 0
    assert not set(panel.people) & set(read_panel(tmp_path / "again.zip").people)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("seven agreed", "a panel needs 8 people at least, and 7 can be used"),
        ("one judge", "a panel needs 2 judges at least, and 1 can be used (left out: J2: they did"),
        ("two problems", "a panel needs 3 problems at least, and 2 can be used"),
        ("averages", "the order on each problem needs the rankings"),
        ("decisions", "a panel needs rankings of whole groups"),
        ("no solution", "there is no solution of S3"),
    ],
)
def test_what_cannot_be_frozen_is_refused(
    quem_command: Command, tmp_path: Path, how: str, said: str
) -> None:
    """One message, exit code 1, and no file."""
    reuse = list(YEARS)[:7] if how == "seven agreed" else tuple(YEARS)
    study = people_study(tmp_path, reuse=reuse)
    ranks = tmp_path / "ranks.csv"
    text = ranks.read_text("utf-8")
    if how == "one judge":
        ranks.write_text(text.replace("J2,P2,S5,5\n", ""), encoding="utf-8")
    elif how == "two problems":
        kept = [line for line in text.splitlines() if ",P3," not in line]
        ranks.write_text("\n".join(kept), encoding="utf-8")
    elif how in ("averages", "decisions"):
        rows = {
            "averages": ["solver,average_rank", *(f"{one},{y:g}" for one, y in YEARS.items())],
            "decisions": [
                "judge,problem,winner,loser",
                *(f"J1,{p},S{n + 1},S{n}" for p in PROBLEMS for n in range(1, 9)),
            ],
        }[how]
        ranks.write_text("\n".join(rows), encoding="utf-8")
        new = study.read_text("utf-8").replace(
            "rankings: ranks.csv", f"rankings: {{from: {how}, file: ranks.csv}}"
        )
        study.write_text(new, encoding="utf-8")
    elif how == "no solution":
        (tmp_path / "solutions/P2/S3.md").unlink()
    code, _, err = quem_command("panel", "make", study)
    assert code == 1
    assert said in err
    assert not (tmp_path / "study-panel.zip").exists()


# The file.


def test_every_changed_bit_of_a_panel_is_named(quem_command: Command, tmp_path: Path) -> None:
    """Contents, names, and sums of the files; also a file that was added or removed."""
    panel = panel_of(tmp_path)
    raw = panel.path.read_bytes()
    draw = random.Random(3)
    changed = tmp_path / "changed.zip"
    for _ in range(40):
        at = draw.randrange(len(raw))
        one = bytearray(raw)
        one[at] ^= 1 << draw.randrange(8)
        changed.write_bytes(bytes(one))
        code, out, err = quem_command("panel", "verify", changed, "--digest", panel.digest)
        # Some bits of a ZIP archive mean nothing: then all files are as they were.
        same = code == 0 and read_panel(changed).files == panel.files
        assert same or (code == 1 and "changed.zip" in err), (at, out, err)
    for how, said in (("added", "was added"), ("removed", "is missing")):
        with ZipFile(changed, "w") as archive:
            for name, content in panel.files.items():
                if how == "added" or name != "solutions/P1/p1.md":
                    archive.writestr(name, content)
            if how == "added":
                archive.writestr("solutions/P1/p9.md", "more")
        code, _, err = quem_command("panel", "verify", changed)
        assert code == 1
        assert said in err


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("cut", "is not a panel, or a damaged one; take another copy of the panel"),
        ("twice", "has solutions/P1/p1.md twice"),
        ("file and folder", "has problems/P1 twice"),
        ("bomb", "unpacks to more than 50 MB"),
        ("leads out", "has a name that leads out of the archive"),
        ("long cell", "rankings.csv: "),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_a_panel_that_somebody_made_up_is_refused(
    quem_command: Command, tmp_path: Path, how: str, said: str
) -> None:
    """Its digests may be right, and still nothing is unpacked of it, and no study written."""
    panel, files = panel_of(tmp_path), {}
    if how == "file and folder":
        files = {"problems/P1": b"A text.\n", "problems/P1/p1.md": b"A text.\n"}
    elif how == "leads out":
        files = {"problems/../../evil.md": b"A text.\n"}
    elif how == "long cell":
        files = {"rankings.csv": b'"' + b"x" * 200_000}
    whole = {**panel.files, **files}
    del whole["SHA256SUMS"]
    digests = {name: hashlib.sha256(whole[name]).hexdigest() for name in sorted(whole)}
    whole["SHA256SUMS"] = "".join(f"{one}  {name}\n" for name, one in digests.items()).encode()
    made = tmp_path / "made-up.zip"
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, content in whole.items():
            archive.writestr(name, content)
        if how == "twice":
            archive.writestr("solutions/P1/p1.md", "Another plan.\n")
        if how == "bomb":
            archive.writestr("solutions/P1/p9.md", bytes(60_000_000))
    if how == "cut":
        made.write_bytes(made.read_bytes()[:1000])
    bot = f"bot={system_folder(tmp_path / 'bot')}"
    for words in (("verify", made), ("place", made, "--system", bot, "--out", tmp_path / "out")):
        code, _, err = quem_command("panel", *words)
        assert code == 1
        assert said in err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "evil.md").exists()


def test_a_panel_is_never_overwritten(quem_command: Command, tmp_path: Path) -> None:
    """Its ids are random, so that a lost one cannot be made again; nor is any other file."""
    study = people_study(tmp_path)
    assert quem_command("panel", "make", study)[0] == 0
    for there in (tmp_path / "study-panel.zip", study):
        before = there.read_bytes()
        code, _, err = quem_command("panel", "make", study, "--out", there)
        assert code == 1
        assert f"{there}: is there already" in err
        assert there.read_bytes() == before


# Placing.


def test_a_placed_study_has_the_drawn_people_and_is_complete(
    quem_command: Command, tmp_path: Path
) -> None:
    """Two systems share the anchors; `quem check` finds nothing wrong."""
    panel = panel_of(tmp_path)
    one, two = system_folder(tmp_path / "one"), system_folder(tmp_path / "two", "P1", "P2")
    out = tmp_path / "placed"
    words = ("panel", "place", panel.path, "--system", f"one={one}", "--system", f"two={two}")
    code, _, err = quem_command(*words, "--out", out)
    assert code == 1
    assert "has no solution of P3; add them, or give --failed if two" in err
    assert not out.exists()
    code, _, err = quem_command(*words, "--out", out, "--failed", "--anchors", 3, "--judges", 3)
    assert code == 0, err
    for problem, anchors in drawn(panel, "two", "one", count=3).items():
        there = {path.stem for path in (out / "solutions" / problem).iterdir()}
        systems = {"one"} if problem == "P3" else {"one", "two"}
        assert there == {*anchors, *systems}
    code, said, err = quem_command("check", out)
    assert code == 0
    assert "no errors, no warnings" in said + err
    assert quem_command(*words, "--out", out, "--failed")[0] == 1  # it is there already


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--system", "p1={folder}"), "p1 is the id of one of the panel's people"),
        (("--system", "a/b={folder}"), "solutions are files named by the id"),
        (("--system", "bot={folder}/none"), "No such file"),
        (("--system", "bot={folder}", "--anchors", "8"), "there can be 7 anchors at most, not 8"),
        (("--system", "bot={tmp}"), "has no solution of any problem of the panel (P1, P2, P3)"),
    ],
)
def test_what_cannot_be_placed_is_refused(
    quem_command: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """One message, exit code 1, and nothing written."""
    panel = panel_of(tmp_path)
    folder = system_folder(tmp_path / "bot")
    given = [word.format(folder=folder, tmp=tmp_path) for word in words]
    code, _, err = quem_command("panel", "place", panel.path, *given, "--out", tmp_path / "out")
    assert code == 1
    assert said in err
    assert not (tmp_path / "out").exists()


# Analyzing.


def analyzed(study: Path) -> ExperienceResult:
    """Analyze a study."""
    return analyze(load_study(study, kind="experience"))


def analysis(study: Path) -> dict[str, Any]:
    """The content of analysis.json."""
    made: dict[str, Any] = json.loads(json_text(analyzed(study).to_dict()))
    return made


def codes(made: Mapping[str, Any]) -> set[str]:
    """Give the codes of the warnings of panels."""
    return {one["code"] for one in made["warnings"] if one["code"].startswith("panel")}


def test_judges_who_see_the_people_otherwise_are_named(tmp_path: Path) -> None:
    """Drift widens the interval, and from half as much again on the result says what to do."""
    panel = panel_of(tmp_path)
    anchors = drawn(panel, "bot")
    calm = analysis(placed_study(panel, rows_of(panel, anchors, {"bot": 4.5})))
    assert codes(calm) == set()
    assert calm["panel"]["tau2"] == 0
    assert calm["panel"]["systems"] == [{"system": "bot", "w": 0, "times_as_wide": 1}]
    # The new judges rank the panel's people the wrong way round.
    turned = rows_of(panel, anchors, {"bot": 4.5})
    turned = [(judge, problem, one, 6 - rank) for judge, problem, one, rank in turned]
    made = analysis(placed_study(panel, turned))
    assert codes(made) == {"panel-judges-differ"}
    assert made["panel"]["tau2"] > 1
    assert made["panel"]["tau_b_new"] == -1
    summary = analyzed(panel.path.with_name("study.yaml")).summary()
    assert "have them rank all people" in " ".join(summary.split())


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("experience: 3.0", "experience: 4.0"), "these are not the people of the panel"),
        (("digest: ", "digest: 0"), "expected 64 hexadecimal digits"),
        (("anchors: 4", "anchors: 1"), "must be 2 or more"),
        (("panel.zip", "other.zip"), "there is no file 'other.zip'"),
        (("rankings:", "machines: [{id: M1, command: [x]}]\nmachine: {}\nrankings:"), "track"),
        (("rankings:", "design: {block_size: 3}\nrankings:"), "has whole groups"),
        (("{id: P3}", "{id: P4}"), "no problem P4"),
    ],
)
def test_a_placed_study_that_contradicts_its_panel_is_refused(
    quem_command: Command, tmp_path: Path, edit: tuple[str, str], said: str
) -> None:
    """One message that names the place."""
    panel = panel_of(tmp_path)
    study = placed_study(panel, rows_of(panel, drawn(panel, "bot"), {"bot": 4}))
    text = study.read_text("utf-8")
    assert edit[0] in text
    study.write_text(text.replace(*edit), encoding="utf-8")
    if edit[1] == "{id: P4}":
        ranks = study.with_name("rankings.csv")
        ranks.write_text(ranks.read_text("utf-8").replace("P3", "P4"), encoding="utf-8")
    code, _, err = quem_command("analyze", study)
    assert code == 1
    assert said in err
    assert "study.yaml" in err


def test_pseudonyms_and_comparisons_of_placed_studies(
    quem_command: Command, tmp_path: Path
) -> None:
    """Judges get pseudonyms, people keep random ids; two placed studies are compared."""
    studies = []
    for name, years in (("one", 3.5), ("two", 6.5)):
        folder = tmp_path / name
        folder.mkdir()
        panel = panel_of(folder)
        studies.append(placed_study(panel, rows_of(panel, drawn(panel, name), {name: years})))
    code, out, err = quem_command("analyze", studies[0], "--json", "--pseudonyms")
    assert code == 0, err
    made = json.loads(out)
    assert {one["person"] for one in made["panel"]["anchors"]} <= {f"p{n}" for n in range(1, 9)}
    code, out, err = quem_command("compare", *studies, "--json")
    assert code == 0, err
    (pair,) = json.loads(out)["pairs"]
    assert pair["years"] > 0
    rows = rows_of(panel, drawn(panel, "one", "two"), {"one": 3.5, "two": 6.5})
    code, out, err = quem_command("compare", placed_study(panel, rows), "--json")
    assert code == 0, err
    (pair,) = json.loads(out)["pairs"]
    assert pair["years"] is None


# Laws.


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
    assert all(
        start <= place < end for start, place, end in zip([0, *ends], at, ends, strict=False)
    )


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


def test_problems_that_nobody_ranked_are_left_out_for_everybody(tmp_path: Path) -> None:
    """People are placed on the same problems as the systems."""
    panel = panel_of(tmp_path)
    anchors = drawn(panel, "bot")
    del anchors["P2"]
    made = analysis(placed_study(panel, rows_of(panel, anchors, {"bot": 2.5})))
    assert made["panel"]["problems"] == ["P1", "P3"]
    assert codes(made) == {"panel-problems-left-out"}
    nothing = rows_of(panel, {"P1": ["p1", "p4"]}, {"bot": 2.5})
    study = placed_study(panel, [row for row in nothing if row[2] != "bot"])
    with pytest.raises(QuemError, match="no judge has ranked a system with its anchors yet"):
        analyzed(study)


def test_drift_is_unknown_where_nobody_is_an_anchor_twice(tmp_path: Path) -> None:
    """The summary says so, and the interval allows for w alone."""
    panel = panel_of(tmp_path)
    anchors = {"P1": ["p1", "p5"], "P2": ["p2", "p6"], "P3": ["p4", "p8"]}
    study = placed_study(panel, rows_of(panel, anchors, {"bot": 4.5}), anchors=2)
    made = analysis(study)
    assert made["panel"]["tau2"] is None
    assert codes(made) == {"panel-not-drawn"}
    assert "Nobody was an anchor twice" in " ".join(analyzed(study).summary().split())
