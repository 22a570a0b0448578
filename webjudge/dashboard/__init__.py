"""The organizers' dashboard."""

from __future__ import annotations

from quem.errors import QuemError
from webjudge import mail_admin
from webjudge.access import admit
from webjudge.dashboard import people, results, review, setup
from webjudge.dashboard.overview import dashboard
from webjudge.dashboard.page import message

__all__ = ["dashboard"]

for _pages in (people.pages, results.pages, review.pages, setup.pages, mail_admin.mail):
    dashboard.register_blueprint(_pages)
dashboard.before_request(admit)


@dashboard.errorhandler(QuemError)
def _refuse(error: QuemError) -> tuple[str, int]:
    """Render the page of a refusal."""
    return message("refused", mistakes=error.mistakes), 422
