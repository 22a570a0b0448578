"""Commands and studies of several kinds: what fits is done, what does not is refused once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import quem
from quem.commands.init import init
from quem.kinds import KINDS, presentations
from tests.examples import study_with
from tests.options.made import study_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Outcome


def test_every_kind_is_known_everywhere() -> None:
    """Models, analyses and the command that starts a study know the same kinds."""
    (option,) = (parameter for parameter in init.params if parameter.name == "kind")
    assert tuple(KINDS) == quem.study.KINDS
    assert sorted(KINDS) == list(option.type.choices)  # type: ignore[attr-defined]


def test_every_kind_is_presented() -> None:
    """Results of studies, comparisons, and plans all say how they are shown."""
    assert list(presentations()) == [*KINDS, "comparison", "leaderboard", "plan"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_of_each_kind_can_be_started(
    kind: str, quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """What `init` writes has no mistakes, analyses as it is, and is not written twice."""
    code, _, err = quem_command("init", "--kind", kind, tmp_path / "new")
    assert code == 0
    path = tmp_path / "new" / "study.yaml"
    assert err.endswith(f"Next: quem analyze {path}\n")
    assert quem_command("check", path)[0] == 0
    assert quem_command("analyze", path, "--json", "--bootstrap", "0")[0] == 0
    assert quem_command("init", "--kind", kind, tmp_path / "new")[0] == 1


_FOR = dict.fromkeys(
    ("serve", "judges", "export", "import"), "the kinds experience and relevance"
) | {"plan": "the kind experience"}


@pytest.mark.parametrize("command", _FOR)
def test_commands_of_another_kind_refuse(
    command: str, quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """One message that says of what kind the study is, and nothing is written."""
    path = study_in(tmp_path)
    (tmp_path / "archive.jsonl").write_text("")
    before = sorted(tmp_path.iterdir())
    more = [tmp_path / "archive.jsonl"] if command == "import" else []
    code, out, err = quem_command(*command.split(), path, *more)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        f"error: {path}:2:10: kind: this is an options study, which `quem analyze` and "
        f"`quem check` take; what was asked for is there for {_FOR[command]}"
    ]
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("analyze --form log", "--form"),
        ("analyze --at-least 3", "--at-least"),
        ("analyze --reveal", "--reveal"),
        ("analyze --database x.db", "--database"),
        ("analyze --jobs 2", "--jobs"),
        ("analyze --cluster tcp://nowhere", "--cluster"),
        ("check --database x.db", "--database"),
    ],
)
def test_options_of_another_kind_are_wrong_usage(
    words: str, option: str, quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """They are refused by name, and not passed over."""
    command, *options = words.split()
    code, out, err = quem_command(command, study_in(tmp_path), *options)
    assert (code, out) == (2, "")
    assert f"{option} is not for a study of kind options; leave it out" in err


def test_options_of_the_kind_replace_settings(
    quem_command: Callable[..., Outcome], make_study: Callable[..., Path], tmp_path: Path
) -> None:
    """Those that a kind has are used; an experience study takes none of another's either."""
    code, out, _ = quem_command("analyze", study_in(tmp_path), "--json", "--level", "0.8")
    assert code == 0
    assert '"level": 0.8' in out
    assert quem_command("analyze", make_study(study_with()), "--jobs", "2")[0] == 2


def test_check_counts_what_was_read(quem_command: Callable[..., Outcome], tmp_path: Path) -> None:
    """Questions, systems, lists and options; doubts on stderr, nothing written."""
    path = study_in(tmp_path, analysis={"max_length": 2})
    before = sorted(tmp_path.iterdir())
    code, out, err = quem_command("check", path)
    assert code == 0
    assert out.splitlines()[1] == "found: 3 questions, 2 systems, 6 lists, 10 options"
    assert "warning: beyond-max-length: " in err
    assert sorted(tmp_path.iterdir()) == before


def test_python_refuses_what_a_kind_has_not(tmp_path: Path) -> None:
    """Sources and planning of another kind are told by name."""
    path = study_in(tmp_path)
    with pytest.raises(TypeError, match="a study of kind options has no database"):
        quem.load_study(path, database="x.db")
    study = quem.load_study(path, kind="options")
    with pytest.raises(TypeError, match="takes an experience study, and this is of kind opt"):
        quem.plan(study)  # type: ignore[arg-type]
    with pytest.raises(quem.QuemError, match="is there for the kind experience"):
        quem.load_study(path, kind="experience")
    with pytest.raises(quem.QuemError, match="form: unknown setting"):
        quem.analyze(study, form="log")


def test_an_unknown_kind_is_named(quem_command: Callable[..., Outcome], tmp_path: Path) -> None:
    """With those that are known, and the one that was probably meant."""
    path = tmp_path / "study.yaml"
    path.write_text("kind: option\n")
    code, _, err = quem_command("analyze", path)
    assert code == 1
    assert f"it knows: {', '.join(KINDS)}; did you mean options?" in err
