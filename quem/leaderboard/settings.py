"""The settings of a leaderboard, beside those of the analysis of each study."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from quem.studyfile.fields import Count, Id, Level, Line, OneOrMore, Seed, StudyPart


class LeaderboardSettings(StudyPart):
    """Which systems are compared, by what, and how."""

    systems: Annotated[tuple[Id, ...], OneOrMore] = Field(
        (), description="Systems to compare; all by default."
    )
    measures: Annotated[tuple[Line, ...], OneOrMore] = Field(
        (), description="Measures to compare by; those of the studies by default."
    )
    headline: Line = Field("", description="Measure of the order; that of the studies by default.")
    level: Level = Field(0.95, description="Level of the intervals and tests.")
    bootstrap: Count = Field(2000, description="Bootstrap replicates; 0 for no intervals.")
    permutations: Count = Field(9999, description="Random exchanges of a test; 0 for no test.")
    seed: Seed = Field(0, description="Random seed.")
