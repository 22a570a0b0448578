"""What analysis.json has of the seal of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.report.columns import TEXT, Column, Columns, choice, each

if TYPE_CHECKING:
    from quem.experience.result import ExperienceFindings
    from quem.sealing.deviations import Deviation, Seal

_DEVIATION: Columns[Deviation, ExperienceFindings] = Columns(
    Column("kind", TEXT, "of what differs, such as `setting`"),
    Column("name", TEXT, "of what differs; may be empty"),
    Column("message", TEXT, "what differs"),
    Column("when", choice("before", "after"), "before or after rankings were revealed"),
    Column("reason", TEXT, "given when the study was sealed again; may be empty"),
)
SEAL: Columns[Seal, ExperienceFindings] = Columns(
    Column("headline", TEXT, "what the report opens with"),
    Column("sealed_at", TEXT, "time of the seal, in UTC; empty where the record is gone"),
    Column("hash", TEXT, "SHA-256 of the record"),
    Column("revealed_at", TEXT, "when rankings could first be seen; may be empty"),
    Column("deviations", each(_DEVIATION), "everything that is not as it was sealed"),
)
