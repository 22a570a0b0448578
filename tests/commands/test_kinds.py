"""Commands and studies of several kinds: what fits is done, what does not is refused once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import quem
from quem.kinds import KINDS
from tests.options.made import study_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Outcome


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
    assert quem_command("analyze", path, "--json")[0] == 0
    assert quem_command("init", "--kind", kind, tmp_path / "new")[0] == 1


_FOR = dict.fromkeys(
    ("serve", "links judges", "export", "import"), "the kinds experience and relevance"
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
