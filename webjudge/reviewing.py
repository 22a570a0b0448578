"""The dashboard's pages on what judges will see, where words are redacted or accepted."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, redirect, request, url_for
from pydantic import ValidationError

from quem.errors import QuemError
from quem.solutions.patterns import plain
from quem.store.exporting import shown_digests
from quem.store.studies import status_of
from quem.study.models import Reviewed
from webjudge.access import site
from webjudge.confirmations import Confirmation
from webjudge.dashboard_pages import dashboard_page, problem_titles, require_sure
from webjudge.files import file_token, send_one
from webjudge.solution_review import Review, ReviewedSolution, lost, marked, removed
from webjudge.study_edits import save_answer, save_decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Response
    from werkzeug.wrappers import Response as AnyResponse

    from quem.solutions import Solution

review = Blueprint("review", __name__, url_prefix="/solutions")

_MOST_LISTED = 100
# What names the files of these pages, where a judge's ballot has an id.
_GID = "review"
_LONGEST = 200
_SAID = {"redact": "Redacted", "accept": "Accepted", "undo": "Taken back:"}
_ANSWERED = {
    "same": "It is the same solution: it keeps its letter and its place.",
    "new": "It is a new solution: judges are asked to place it.",
}
_OTHER = "The solution has changed again. Look at it once more."
_CLOSED = "The study is closed, so what judges saw stays as it is. Reopen it to redact words."
_NO_WORDS = "Type the words to redact: one line with a letter or a digit."
_NOT_THERE = "These words are nowhere in what judges see of this solution: {words}."
_one = Lock()


@review.get("")
def solutions() -> str:
    """List the solutions, a hundred on a page."""
    found = Review(site())
    only_found = "found" in request.args
    listed = [one for one in found.solutions if one.has_words or not only_found]
    n_pages = max(-(-len(listed) // _MOST_LISTED), 1)
    page = min(max(request.args.get("page", 1, type=int), 1), n_pages)
    first = next((one for one in found.solutions if one.open), None)
    return dashboard_page(
        "solutions.html",
        listed=listed[(page - 1) * _MOST_LISTED : page * _MOST_LISTED],
        titles=problem_titles(),
        page=page,
        n_pages=n_pages,
        n_all=len(found.solutions),
        n_found=sum(bool(one.open) for one in found.solutions),
        only_found=only_found,
        changed=_unanswered(),
        first=first or next(iter(found.solutions), None),
        texts=found.texts,
        seen={"versions": [found.version(one) for one in found.solutions], "mine": ""},
        version=found.version,
        address=_address,
        said=_said(),
    )


@review.get("/<problem>/<solver>")
def solution(problem: str, solver: str) -> str:
    """Show a solution as judges will see it, with what was found in it."""
    found = Review(site())
    current = found.find(problem, solver) or abort(404)
    shown = _solution(problem, solver)

    def file_address(n: int, page: int | None = None) -> str:
        token = file_token(site(), _GID, shown.files[n - 1])
        names: dict[str, Any] = {"problem": problem, "solver": solver, "token": token}
        names["page"] = page
        return url_for("dashboard.review.file", **names)

    only_found = "found" in request.args
    before, behind = found.neighbors(current, only_found=only_found)
    return dashboard_page(
        "solution.html",
        one=current,
        title=problem_titles().get(problem, problem),
        rendered=marked(current, shown, file_address),
        lost=list(lost(shown)),
        removed=list(removed(shown)),
        place=found.solutions.index(current) + 1,
        n_all=len(found.solutions),
        before=before and _address(before, only_found=only_found),
        behind=behind and _address(behind, only_found=only_found),
        only_found=only_found,
        seen={
            "versions": [found.version(one) for one in found.solutions],
            "mine": found.version(current),
        },
        said=_said(),
        is_shown=_is_shown(problem, solver),
        changed=_unanswered().get((problem, solver)),
    )


@review.get("/<problem>/<solver>/file/<token>")
@review.get("/<problem>/<solver>/file/<token>/<int:page>")
def file(problem: str, solver: str, token: str, page: int | None = None) -> Response:
    """Send a picture of a solution, or a page of a PDF."""
    files = ((f"file-{n}", file) for n, file in enumerate(_solution(problem, solver).files, 1))
    return send_one(site(), _GID, files, token, page)


@review.post("/decide")
def decide() -> AnyResponse:
    """Redact or accept words, or take such a decision back."""
    form = {name: request.form.get(name, "").strip() for name in ("problem", "solver", "words")}
    what = request.form.get("decision", "")
    problem, solver, words = form["problem"], form["solver"], form["words"]
    if what not in _SAID:
        abort(400)
    if len(words) > _LONGEST or not words.isprintable() or not any(map(str.isalnum, words)):
        raise QuemError([_NO_WORDS])
    current = site().solution(problem, solver)
    if what == "redact" and current is None:
        abort(404)
    places = (
        _places(problem, solver, words) if "everywhere" in request.form else [(problem, solver)]
    )
    with _one:
        held = site().spec.judging.reviewed
        before = [one for one in held if _is_same(one, words, places) and one.decision == "redact"]
        if what == "redact" or before:
            _require_redactable(
                places if what == "redact" else [(b.problem, b.solver) for b in before]
            )
        kept = [one for one in held if not _is_same(one, words, places)]
        if what == "accept" and "everywhere" in request.form:
            kept = [
                one for one in kept if plain(one.words) != plain(words) or one.decision == "redact"
            ]
            places = [("", "")]
        fresh = [_entry(*place, words, what) for place in places] if what != "undo" else []
        save_decisions([*kept, *fresh])
    return redirect(_return_address(what, words), code=303)


@review.post("/same")
def answer() -> AnyResponse:
    """Say whether a solution that changed after it was judged is the same."""
    problem, solver = request.form.get("problem", ""), request.form.get("solver", "")
    what = request.form.get("answer", "")
    if what not in _ANSWERED:
        abort(400)
    digest = _solution(problem, solver).digest
    if request.form.get("digest") != digest:
        raise QuemError([_OTHER])
    save_answer(problem, solver, digest, is_same=what == "same")
    return redirect(_return_address(what, ""), code=303)


def _entry(problem: str, solver: str, words: str, what: str) -> Reviewed:
    entry = {"problem": problem, "solver": solver, "words": words, "decision": what}
    try:
        return Reviewed.model_validate(entry)
    except ValidationError:
        raise QuemError([_NO_WORDS]) from None


def _is_same(one: Reviewed, words: str, places: Sequence[tuple[str, str]]) -> bool:
    return plain(one.words) == plain(words) and (one.problem, one.solver) in places


def _places(problem: str, solver: str, words: str) -> list[tuple[str, str]]:
    """Name all solutions that have the words, this one first."""
    others = (
        (one.problem, one.solver)
        for one in Review(site()).solutions
        if any(plain(found.words) == plain(words) for found in one.open)
    )
    return list(dict.fromkeys([(problem, solver), *others]))


def _require_redactable(places: Sequence[tuple[str, str]]) -> None:
    """Refuse to change what judges see in a closed study; ask first where judges have seen it."""
    with site().store.read() as c:
        state = status_of(c, site().id).state
        seen = shown_digests(c, site().id)
    if state == "closed":
        raise QuemError([_CLOSED])
    shown = [place for place in places if place in seen]
    if state == "trial" or not shown:
        return
    problem, solver = shown[0]
    more = f" and {len(shown) - 1} more" if len(shown) > 1 else ""
    extra = [(name, value) for name, value in request.form.items() if name != "sure"]
    question = Confirmation(
        "Change a solution that judges have seen?",
        (
            f"Judges have been shown the solution of {solver} on {problem}{more}. What you decide "
            "changes it, so it counts as a new solution: they are asked to place it again.",
            "If it is the same solution to them, say so on its page: they keep their ranking.",
        ),
        url_for("dashboard.review.decide"),
        "Change the solution",
        is_grave=True,
        extra=tuple(extra),
    )
    require_sure(question)


def _is_shown(problem: str, solver: str) -> bool:
    """Whether judges have been shown a solution, and rankings of it count."""
    with site().store.read() as c:
        if status_of(c, site().id).state == "trial":
            return False
        return (problem, solver) in shown_digests(c, site().id)


def _unanswered() -> dict[tuple[str, str], str]:
    with site().store.read() as c:
        return site().unanswered(c)


def _solution(problem: str, solver: str) -> Solution:
    return site().solution(problem, solver) or abort(404)


def _address(one: ReviewedSolution, *, only_found: bool = False) -> str:
    found = "yes" if only_found else None
    names: dict[str, Any] = {"problem": one.problem, "solver": one.solver, "found": found}
    return url_for("dashboard.review.solution", **names)


def _return_address(what: str, words: str) -> str:
    """Lead back to the page that asked, which says what was done."""
    values: dict[str, Any] = {"said": what, "words": words}
    if "found" in request.form:
        values["found"] = "yes"
    problem = request.form.get("from_problem") or request.form.get("problem", "")
    solver = request.form.get("from_solver") or request.form.get("solver", "")
    if "page" in request.form or not solver:
        return url_for("dashboard.review.solutions", **values)
    return url_for("dashboard.review.solution", problem=problem, solver=solver, **values)


def _said() -> dict[str, str] | None:
    """What was done last, as the address says it."""
    what, words = request.args.get("said", ""), request.args.get("words", "")[:_LONGEST]
    if what in _ANSWERED:
        return {"what": what, "text": _ANSWERED[what], "words": ""}
    return (
        {"what": what, "text": f"{_SAID[what]} “{words}”.", "words": words}
        if what in _SAID
        else None
    )
