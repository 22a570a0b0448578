"""The audit trail besides revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from quem.store.models import Event

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["record"]


def record(
    c: Connection,
    study_id: str,
    actor: str,
    what: str,
    judge_key: int | None = None,
    **detail: Any,  # noqa: ANN401  JSON holds anything
) -> None:
    """Append an event.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    study_id : str
    actor : {"judge", "dashboard", "shell"}
    what : str
        Such as "opened".
    judge_key : int, optional
        The judge whom it is about.
    **detail
        Never a token, nor a judge's name.
    """
    c.execute(
        insert(Event).values(
            study_id=study_id, judge_key=judge_key, actor=actor, what=what, detail=detail
        )
    )
