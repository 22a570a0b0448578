"""What would give a solver away is told, with file and line, and nothing else is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pikepdf
import pytest
from PIL import Image

from quem.cli import run
from quem.solutions import Kind, SolutionFile, check_solutions
from quem.solutions.files import metadata_of
from quem.solutions.identity import Names
from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.studies import register_study
from quem.studyfile.models import ExperienceSpec
from quem.studyfile.reading import draft_study
from tests.examples import SOLVERS, long_csv, study_with, write_study
from tests.solutions.made import image, write_judged

if TYPE_CHECKING:
    from pathlib import Path

Files = dict[str, str | bytes | None]
SPEC = ExperienceSpec.model_validate(
    {
        "id": "x",
        "title": "x",
        "subjects": [
            {"id": "S1", "name": "Ada May Smith", "experience": 1},
            {"id": "7", "name": "Zoë Straße", "experience": 2},
            {"id": "B", "experience": 3},
            {"id": "an", "experience": 3},
        ],
        "systems": [
            {"id": "gpt-4", "name": "Hal", "version": "1", "of": "hal-family"},
            {"id": "gpt-4.1", "version": "0613b"},
            {"id": "p3", "version": "v2.5"},
        ],
        "assisted": [{"id": "S1+p3", "by": "p3", "person": "S1"}],
        "withheld": ["Wizard"],
        "judging": {"identity_words": ["ACME", "e-mail", "C++"]},
    }
)
NAMES = Names(SPEC)
PEOPLE = Names(
    ExperienceSpec.model_validate(
        {
            "id": "y",
            "title": "y",
            "subjects": [
                {"id": "wei.chen", "experience": 1},
                {"id": "MariaLopez", "experience": 2},
                {"id": "Muller_Jurgen", "experience": 3},
                {"id": "ian-oneill", "experience": 4},
                {"id": "S1", "name": "Mark Page", "experience": 5},
            ],
            "systems": [{"id": "kuling", "version": "2"}],
        }
    ),
    [("S1", "author", "Jane Roe")],
)


def words(text: str) -> list[str]:
    """List what is found in a text."""
    return [hit.text for hit in NAMES.find(text) if hit.level == "decide"]


@pytest.mark.parametrize(
    "text",
    [
        "ACME", "acme.", "(Acme)", "acme's", "acme_solver", "ACME2", "AC\u00adME", "acme\u200b",
        "subject S1", "by participant s1:", "Ada May Smith", "ADA  MAY\nSMITH", "Smith",
        "Smith's", "Ada", "Zoe\u0308 Straße",
        "subject 7", "Participant #7", "no. 7", "solver B", "group_b", "Subject-7",
        "subject an", "gpt-4", "GPT4", "gpt 4", "gpt_4", "gpt\u20114", "GPT-4.1",
        "Hal 1", "hal-1", "HAL", "hal family", "0613B", "p3 2.5", "S1+p3",
        "Wizard", "email", "e\u2011mail", "C++",
    ],
)  # fmt: skip
def test_what_names_a_solver_is_found(text: str) -> None:
    """Names are found in any case, with any hyphen, and with characters that are not seen."""
    assert words(text)
    assert words(f"First line.\n\nBefore {text} after.")


def test_hits_have_lines() -> None:
    """Each hit has its line, also where a name runs over two."""
    hits = NAMES.find("\nsolver B\n\nAda May\nSmith and acme")
    assert [(hit.line, hit.text) for hit in hits] == [
        (2, "solver B"),
        (4, "Ada May Smith"),
        (5, "acme"),
    ]


def warnings_of(study: Path) -> list[tuple[str, str]]:
    """List the doubts about the solutions of a study: code, and message without folders."""
    _, mistakes, warnings = check_solutions(draft_study(study), complete=True)
    assert mistakes == []
    return [(doubt.code, doubt.message.replace(f"{study.parent}/", "")) for doubt in warnings]


WORDS = {"judging": {"identity_words": ["ACME"]}}


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"P1/S1.md": "one\n\nby ACME"}, "solutions/P1/S1.md:3"),
        ({"P1/S1.md": "![ACME](x)"}, "solutions/P1/S1.md:1"),
        ({"P1/S1.md": "&#65;CM&#69;"}, "solutions/P1/S1.md:1"),
        ({"P1/S1.md": None, "P1/S1/code.py": "# acme"}, "solutions/P1/S1/code.py:1"),
        ({"P1/S1.md": None, "P1/S1.html": "<p>\n<a href='http://acme'>"}, "solutions/P1/S1.html:2"),
        ({"P1/S1.md": None, "P1/S1.html": "<p>\nAC<b>ME</b>"}, "solutions/P1/S1.html"),
        ({"P1/S1.md": "<p lang='en-acme'>x</p>"}, "solutions/P1/S1.md:1"),
        ({"/p1.md": "x\nAcme"}, "p1.md:2"),
        ({"/briefing.md": "x\nAcme"}, "briefing.md:2"),
        ({"/consent.md": "x\nAcme"}, "consent.md:2"),
        ({"P0/one.md": "x\nAcme"}, "solutions/P0/one.md:2"),
    ],
)
def test_identity_words_have_file_and_line(files: Files, place: str, tmp_path: Path) -> None:
    """A word that names somebody is told wherever a judge might read it."""
    texts: dict[str, str | bytes | None] = {
        "/p1.md": "x",
        "/briefing.md": "x",
        "/consent.md": "x",
        "P0/one.md": "x",
    }
    judging = {"briefing": "briefing.md", "consent": "consent.md", "practice": "P0"}
    study = write_judged(
        tmp_path,
        {**texts, **files},
        judging=judging | WORDS["judging"],
        problems=[{"id": "P1", "statement": "p1.md"}, {"id": "P2"}],
    )
    (message,) = [message for code, message in warnings_of(study) if code == "identity"]
    assert message.startswith(f'{place}: "')


def test_only_what_judges_receive_is_searched(tmp_path: Path) -> None:
    """Names in comments, classes, scripts and front matter are not sent, so they do no harm."""
    files: Files = {
        "P1/S1.md": "---\nauthor: ACME\n---\n<!-- acme -->\n<p class=acme title=acme>x</p>",
        "P1/S2.md": "[x](acme.html) ![the plan](acme.png)\n\n```acme\nx\n```\n",
        "P2/S1.md": "<style>.acme {color: red}</style>\n\nx\n",
    }
    assert "identity" not in {
        code for code, _ in warnings_of(write_judged(tmp_path, files, **WORDS))
    }


def test_metadata_is_removed_quietly(console: Check, tmp_path: Path) -> None:
    """What an image says of itself is no doubt, and its author's name is searched in all texts."""
    files: Files = {f"P1/{solver}.md": None for solver in SOLVERS}
    files |= {f"P1/S{i}.png": image() for i in range(1, 7)}
    files["P1/sys.png"] = image(Author="Ada\x1b\n Smith", Software="ACME 2")
    study = write_judged(tmp_path, files)
    assert warnings_of(study) == []
    assert "Removed quietly: metadata of 1 file" in outcome(*console, study)[2]
    (tmp_path / "solutions/P2/S1.md").write_text("As A. Smith says.", encoding="utf-8")
    (found,) = warnings_of(study)
    assert found[1].startswith('solutions/P2/S1.md:1: "Ada')


def test_metadata_of_photographs(tmp_path: Path) -> None:
    """Cameras note their owner, the place and more."""
    exif = Image.Exif()
    exif[0x013B] = "Ada Smith"
    exif[0x9C9D] = "Ada Smith".encode("utf-16-le")
    exif.get_ifd(0x8769)[0xA430] = "Owner"
    exif.get_ifd(0x8825)[1] = "N"
    xmp = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><a>Zebulon</a></x:xmpmeta>"
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (4, 4)).save(path, exif=exif, comment="by Ada", xmp=xmp)
    assert told_by(path, "image") == {
        "Artist": "Ada Smith",
        "XPAuthor": "Ada Smith",
        "CameraOwnerName": "Owner",
        "GPS": "a place",
        "comment": "by Ada",
        "XMP": "Zebulon",
    }


def told_by(path: Path, kind: Kind) -> dict[str, str]:
    """What a file says of itself."""
    return metadata_of(SolutionFile(path, kind, path.name, path.name))


def test_metadata_of_pdfs(tmp_path: Path) -> None:
    """Document information, XMP, attachments and authors of notes are read."""
    document = pikepdf.new()
    page = document.add_blank_page()
    document.docinfo["/Author"] = "Ada Smith"
    document.Root.Metadata = document.make_stream(b"<a>Zebulon</a>")
    document.attachments["data.csv"] = b"1"
    note = pikepdf.Dictionary(Subtype=pikepdf.Name.Text, Rect=[0, 0, 1, 1], T="Ada")
    page.obj.Annots = pikepdf.Array([note])
    path = tmp_path / "paper.pdf"
    document.save(path, fix_metadata_version=False)
    assert told_by(path, "pdf") == {
        "Author": "Ada Smith",
        "XMP": "Zebulon",
        "attachments": "data.csv",
        "authors of notes": "Ada",
    }


def test_formats_that_differ_are_told(tmp_path: Path) -> None:
    """One format among others tells whose it is."""
    study = write_judged(tmp_path, {"P1/S3.md": None, "P1/S3.txt": "x"})
    ((code, message),) = warnings_of(study)
    assert code == "formats-differ"
    assert message.startswith("formats differ in 1 of 2 problems")
    assert message.endswith("P1: mostly Markdown (plain text: S3)")


def test_images_that_are_not_shown_are_told(tmp_path: Path) -> None:
    """A judge would miss an image that is elsewhere, so the experimenter is told."""
    files: Files = {
        "P1/S1.md": None,
        "P1/S1/a.md": "![in](a%20b.png)\n[link](c.md) [r]: https://example.org\n![out](https://x.org/p.png)",
        "P1/S1/a b.png": image(),
        "P2/S1.md": "<b>x</b>\n<img src=plot.png>",
    }
    messages = [
        message
        for code, message in warnings_of(write_judged(tmp_path, files))
        if code == "not-shown"
    ]
    assert [message.partition(" is not shown")[0] for message in messages] == [
        "solutions/P1/S1/a.md:3: the image 'https://x.org/p.png'",
        "solutions/P2/S1.md:2: the image 'plot.png'",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Wei Chen", "Chen, Wei", "CHEN WEI", "W. Chen", "wchen", "chenw", "wei_chen.csv",
        "runWeiChen()", "C h e n  W e i", "We\u200bi Ch\u00aden", "Wei\nChen",
        "wei%20chen", "@weichen", "/home/chenw/x", "María López", "maria_lopez", "M. López",
        "Jürgen Müller", "Juergen Mueller", "Muller", "Ian O'Neill", "O\u2019Neill", "Jane Roe",
        "chen_data.csv", "Regards,\nBob", "Author: Bob Bobson", "bob@uni-x.org", "-- Bob",
        "github.com/bobson", "Generated by ChatGPT.", "As an AI language model, I",
        "in my 12 years as a nurse I", "Als KI-Sprachmodell", "En tant qu'IA",
        "sandbox:/mnt/data/x", "Claude 3.5 Sonnet",
        "W.e.i.C.h.e.n", "W🔥e🔥i C🔥h🔥e🔥n",
        "W⚡\ufe0fe⚡\ufe0fi⚡\ufe0fC⚡\ufe0fh⚡\ufe0fe⚡\ufe0fn",
        "W\u0435i \u0421h\u0435n", "C\u04bbеn", "Chens Plan", "Marias Entwurf", "Lopez’ Plan",
    ],
)  # fmt: skip
def test_names_of_ids_and_telltales_are_found(text: str) -> None:
    """Names in ids and in files' properties are found in every form, and what stands for one."""
    assert [hit for hit in PEOPLE.find(f"Before.\n\n{text}\n") if hit.level == "decide"]


@pytest.mark.parametrize(
    "text",
    [
        "see Chen et al. (2019)", "(Chen, 2019)", "Chen, A.: Cooling of halls", "S1 is a sensor",
        "Mark the page", "Page 3 shows it. Mark it.", "page mark", "version 2 is shorter",
        "Claude Shannon and the Gemini programme", "the mistral wind", "info@example.com",
        "/home/user/data", "a shoe and a roe", "https://github.com/pandas-dev/pandas", "kitchen",
        "12 years of service", "the marks and the pages", "Pages",
        "a, m, a, r, i", "Generated by the boiler", "Best regards are not needed in a log.",
    ],
)  # fmt: skip
def test_what_is_nobody_is_not_asked(text: str) -> None:
    """Cited authors, ordinary words, and folders of nobody are no hits to decide about."""
    assert [hit.text for hit in PEOPLE.find(f"Before. {text}.") if hit.level == "decide"] == []


def outcome(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, study: Path
) -> tuple[int, str, str]:
    """Run ``quem check``; gives exit code, stdout and stderr."""
    monkeypatch.setattr(sys, "argv", ["quem", "check", str(study)])
    with pytest.raises(SystemExit) as end:
        run()
    assert isinstance(end.value.code, int)
    return end.value.code, *capsys.readouterr()


Check = tuple[pytest.CaptureFixture[str], pytest.MonkeyPatch]


@pytest.fixture
def console(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Check:
    """What running a command needs."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)
    return capsys, monkeypatch


def test_check_of_a_study_without_rankings(console: Check, tmp_path: Path) -> None:
    """A study that waits for its judges is checked, and nothing is written."""
    study = write_judged(tmp_path, {"P1/S1.md": "by ACME"}, **WORDS)
    before = sorted(tmp_path.rglob("*"))
    code, out, err = outcome(*console, study)
    assert code == 0
    assert out == (
        f"{study}: no errors, no warnings, 1 to decide\n"
        "found: 6 subjects, 1 system, 2 judges, 2 problems, 14 solutions, no rankings yet\n"
    )
    path = tmp_path / "solutions/P1/S1.md"
    assert err.startswith("\nDecide (1)")
    assert err.endswith(f'\n  {path}:1: "ACME", an identity word\n')
    assert sorted(tmp_path.rglob("*")) == before


def test_check_of_a_study_that_is_judged(console: Check, tmp_path: Path) -> None:
    """While a session is open, solutions are checked and rankings stay hidden."""
    study = write_judged(tmp_path)
    store = open_store(locate_database(study))
    with store.write() as c:
        register_study(c, "example")
    store.close()
    code, out, err = outcome(*console, study)
    assert (code, err) == (0, "")
    assert out.endswith("14 solutions, rankings hidden until the judging session is closed\n")
    (tmp_path / "solutions/P1/S1.md").unlink()
    code, _, err = outcome(*console, study)
    assert code == 1
    assert "there is no solution of S1" in err


def test_check_of_a_study_with_rankings(console: Check, tmp_path: Path) -> None:
    """Beside rankings in a file, solutions may lack, and their doubts are told too."""
    study = write_study(tmp_path, study_with(**WORDS), rankings__csv=long_csv())
    (tmp_path / "solutions/P1").mkdir(parents=True)
    (tmp_path / "solutions/P1/S1.md").write_text("by ACME", encoding="utf-8")
    code, out, err = outcome(*console, study)
    assert code == 0
    assert out.endswith("2 problems, 28 ranks, 1 solution\n")
    assert "an identity word" in err
    (tmp_path / "solutions/P1/S2.bmp").write_text("BM", encoding="utf-8")
    code, _, err = outcome(*console, study)
    assert code == 1
    assert "save it as PNG" in err


def test_what_is_left_to_decide_can_fail_a_check(
    console: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With --strict the exit code is 1; weak hits are counted, and listed with --details."""
    study = write_judged(tmp_path, {"P1/S1.md": "See (Young, 2019), ACME"}, **WORDS)
    capsys, _ = console
    errors = []
    for options, wanted in (([], 0), (["--strict", "--details"], 1)):
        monkeypatch.setattr(sys, "argv", ["quem", "check", str(study), *options])
        with pytest.raises(SystemExit) as end:
            run()
        assert end.value.code == wanted
        errors.append(capsys.readouterr().err)
    assert errors[1].startswith(errors[0].splitlines()[0])


def test_no_library_is_loaded_for_text(tmp_path: Path) -> None:
    """Scanning text for names loads nothing that draws or renders, unless a name may be there."""
    study = write_judged(tmp_path)
    code = (
        "import sys; from quem.studyfile.reading import draft_study; "
        "from quem.solutions import check_solutions; "
        f"check_solutions(draft_study({str(study)!r}), complete=True); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & {"PIL", "pikepdf", "pypdfium2", "nh3", "markdown_it", "pygments"} == set()


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_authors_in_git_are_names_of_solvers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who committed a solution is searched, the organizer is not, and git runs no program."""
    study = write_judged(tmp_path, {"P2/S1.md": "As Jane Roe and Olga Petrova say."})
    marker, hook = tmp_path / "ran", tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\necho > {marker}\n", encoding="utf-8")
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", "/nonexistent")

    def git(*words: str) -> None:
        own = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        subprocess.run(["git", "-C", tmp_path, *words], check=True, env=own, capture_output=True)

    def commit(name: str, file: str) -> None:
        git("add", file)
        user = ("-c", f"user.name={name}", "-c", "user.email=x@example.org")
        git(*user, "commit", "--no-gpg-sign", "-m", "x", file)

    git("init", "-q")
    commit("Jane Roe", "solutions/P1/S1.md")
    commit("Olga Petrova", ".")
    for key in ("core.fsmonitor", "core.pager", "gpg.program", "diff.external"):
        git("config", key, str(hook))
    git("config", "log.showSignature", "true")
    (found,) = warnings_of(study)
    assert found[1].startswith('solutions/P2/S1.md:1: "Jane Roe"')
    assert not marker.exists()
