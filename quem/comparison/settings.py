"""The settings of a comparison, beside those of the analysis of each study."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from quem.studyfile.fields import Id, OneOrMore, StudyPart

Test = Literal["auto", "problem", "twoway", "signflip"]


class ComparisonSettings(StudyPart):
    """Which systems are compared, and how."""

    systems: Annotated[tuple[Id, ...], OneOrMore] = Field(
        (),
        title="ID",
        description="System to compare, or what its versions share (`of`).  [default: all]",
    )
    test: Test = Field(
        "auto",
        description="Test of differences within one study: over problems, over problems and "
        "judges, by flipping signs (at least 6 problems), or whichever of the first two the "
        "judges call for.  [default: auto]",
    )
    same_system: bool = Field(
        default=False,
        description="The studies measured versions of one system, which are ordered in time.",
    )
