"""What a study still lacks before judges should see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.solutions.sheets import is_unwritten
from quem.store.people import has_people
from quem.store.studies import solving_state
from quem.studyfile.models import ExperienceSpec
from webjudge.wording import counted

if TYPE_CHECKING:
    from webjudge.site import Site


def lacking(site: Site) -> list[str]:
    """Say what is lacking, in the order in which it is asked for; empty where nothing is."""
    spec, texts = site.spec, site.solutions
    parts = []
    if spec.awaits_subjects:
        parts.append("There are no subjects yet: close the solving session, or close it again")
    elif isinstance(spec, ExperienceSpec) and not spec.subjects:
        parts.append("Nobody is named as a person with years of experience")
    if count := sum(map(is_unwritten, texts.statements.values())):
        parts.append(f"{counted(count, 'statement')} {'is' if count == 1 else 'are'} not written")
    for name, sheet in (("briefing", texts.briefing), ("consent form", texts.consent)):
        if sheet and is_unwritten(sheet):
            parts.append(f"The {name} is not written")
    with site.store.read() as c:
        if spec.solving and solving_state(c, site.id) != "closed":
            parts.append("People are still solving: close the solving session first")
        if not has_people(c, site.id, "judge"):
            parts.append("No judges are named")
    return parts
