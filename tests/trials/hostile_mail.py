"""Values put together at random of hostile ones: each arrives as text in one letter, or nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.commands.test_hostile_mail import as_text, check_letter, declare, is_refused
from tests.mail.hostile import VALUES
from tests.mail.smtp import MailHost
from tests.patience import SECONDS
from tests.served import write_judging_study
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

_VALUES, _MOST_PARTS = 10, 4
_QUEM = (sys.executable, "-c", "from quem.cli import run; run()")


@registered("hostile-mail", count=40)
def hostile_mail(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Names and titles of encoded words, addresses and line breaks change no letter."""
    study = write_judging_study(folder, judges=1, problems=1)
    with MailHost() as host:
        environment = {**os.environ, **host.environment}
        command = (*_QUEM, "links", "judges", str(study), "--mail", "--reissue", "J0")

        def invite(value: str) -> int:
            declare(study, value)
            run = subprocess.run(
                command, env=environment, capture_output=True, timeout=SECONDS, check=False
            )
            return run.returncode

        invite("VALUE")
        invite("VALUE")
        usual = as_text(host.received()[1])
        sent = 0
        for _ in range(_VALUES):
            value = _composed(rng)
            code, letters = invite(value), host.received()
            assert code == is_refused(value), value
            assert len(letters) != is_refused(value), value
            for letter in letters:
                check_letter(letter, value, value, usual.replace("VALUE", value))
            sent += len(letters)
    return {"sent": sent, "refused": _VALUES - sent}


def _composed(rng: random.Random) -> str:
    """Join values, whole or cut somewhere."""
    parts = rng.choices(VALUES, k=rng.randint(1, _MOST_PARTS))
    cut = [part[: rng.randint(1, len(part))] if rng.random() < 0.5 else part for part in parts]
    return rng.choice(("", " ", "\t", ", ")).join(cut)
