"""Commands that are run on studies with solutions."""

from tests.commands.conftest import run

__all__ = ("run",)
