"""The dashboard's review: words that could reveal a solver, then each solution as judges see it."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, abort, redirect, request, url_for
from pydantic import ValidationError

from quem.blinding.spans import MARK
from quem.errors import QuemError
from quem.solutions.patterns import plain
from quem.store.exporting import shown_digests
from quem.store.reviewing import note_reviewed
from quem.store.studies import status_of
from quem.studyfile.models import Reviewed
from webjudge.access import acting, site
from webjudge.dashboard.page import (
    back,
    dashboard_page,
    note_done,
    problem_titles,
    question,
    require_sure,
)
from webjudge.files import file_token, send_one
from webjudge.solution_review import (
    Review,
    ReviewedSolution,
    holds,
    lost,
    marked,
    minutes_for,
    removed,
    sentence,
)
from webjudge.study_edits import save_answer, save_decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from werkzeug.wrappers import Response as AnyResponse

    from quem.solutions import Solution

pages = Blueprint("review", __name__, url_prefix="/solutions")

_MOST_LISTED = 100
_MOST_SENTENCES = 3
# Scope of file tokens on these pages, in place of a ballot's id.
_GID = "review"
_LONGEST = 200
_DECIDED = ("redact", "accept", "undo")
_GUESSES = ("person", "system")
_ANSWERS = ("same", "new")
_OTHER = "The solution has changed again. Look at it once more."
_CHANGED = "The solution has changed while you read it. Look at it once more."
_UNDECIDED = "Decide about the words in this solution first."
_CLOSED = "The study is closed, so what judges saw stays as it is. Reopen it to replace words."
_NO_WORDS = "Type the words to replace: one line with a letter or a digit."
_NOT_WHOLE = "No solution here has these words. Select whole words, with all their letters."
_one = Lock()


@pages.get("")
def solutions() -> str:
    """Show the review's progress, words, and solutions, 100 per page."""
    found = Review(site())
    n_pages = max(-(-len(found.solutions) // _MOST_LISTED), 1)
    page = min(max(request.args.get("page", 1, type=int), 1), n_pages)
    left = found.unreviewed
    return dashboard_page(
        "solutions.html",
        listed=found.solutions[(page - 1) * _MOST_LISTED : page * _MOST_LISTED],
        first=(page - 1) * _MOST_LISTED,
        titles=problem_titles(),
        page=page,
        n_pages=n_pages,
        facts=found.facts,
        n_left=len(left),
        minutes=minutes_for(found.facts["open"] + len(left)),
        words=found.words,
        marked_kind=found.marked_kind,
        changed=[one for one in found.solutions if (one.problem, one.solver) in _unanswered()],
        names="names" in request.args,
        start=_start(found),
        texts=found.texts,
        # Words are decided about here, the rest is in the files.
        doubts=[one.message for one in site().live_warnings() if one.code != "identity"],
    )


@pages.get("/word")
def word() -> str:
    """Ask for a decision about a word in all solutions."""
    found = Review(site())
    one = found.word(request.args.get("words", "")) or abort(404)
    places = [(solution, sentence(solution, one.words)) for solution in one.open]
    waiting = found.open
    return dashboard_page(
        "word.html",
        word=one,
        places=places,
        sentences=[text for _, text in places if text][:_MOST_SENTENCES],
        place=waiting.index(one) + 1 if one in waiting else 0,
        n_open=len(waiting),
        numbers={solution.token: n for n, solution in enumerate(found.solutions, 1)},
        facts=found.facts,
        titles=problem_titles(),
        marked_kind=found.marked_kind,
        mark=MARK,
        skip=_start(found, after=one.words),
        by_one="one" in request.args,
    )


@pages.get("/<token>")
def solution(token: str) -> str:
    """Show a solution as judges see it, with its findings."""
    found = Review(site())
    current = found.find(token) or abort(404)
    shown = _solution(current)

    def file_address(n: int, page: int | None = None) -> str:
        name = file_token(site(), _GID, shown.files[n - 1])
        values: dict[str, Any] = {"token": token, "name": name, "page": page}
        return url_for("dashboard.review.file", **values)

    place = found.solutions.index(current)
    around = [None, *found.solutions, None]
    return dashboard_page(
        "solution.html",
        one=current,
        title=problem_titles().get(current.problem, current.problem),
        rendered=marked(current, shown, file_address),
        lost=list(lost(shown)),
        removed=list(removed(shown)),
        place=place + 1,
        before=around[place],
        behind=around[place + 2],
        facts=found.facts,
        is_shown=_is_shown(current),
        changed=_unanswered().get((current.problem, current.solver)),
    )


@pages.get("/<token>/file/<name>")
@pages.get("/<token>/file/<name>/<int:page>")
def file(token: str, name: str, page: int | None = None) -> Response:
    """Send an image of a solution, or a PDF page."""
    current = _solution(Review(site()).find(token) or abort(404))
    files = ((f"file-{n}", file) for n, file in enumerate(current.files, 1))
    return send_one(site(), _GID, files, name, page)


@pages.post("/<token>/reviewed")
def mark_reviewed(token: str) -> AnyResponse:
    """Mark a solution as reviewed, and redirect to the next one."""
    found = Review(site())
    current = found.find(token) or abort(404)
    if current.open:
        raise QuemError(_UNDECIDED)
    if not current.digest or request.form.get("digest") != current.digest:
        raise QuemError(_CHANGED)
    guess = request.form.get("guess", "")
    if guess and guess not in _GUESSES:
        abort(400)
    place = current.problem, current.solver, current.digest
    with site().store.write() as c:
        note_reviewed(c, site().id, acting(), place, guess)
    following = found.next_unreviewed(current)
    if following:
        return redirect(_address(following), code=303)
    return back("reviewed", "dashboard.review.solutions")


@pages.post("/decide")
def decide() -> AnyResponse:
    """Redact or accept words, or undo a decision."""
    what, forms = request.form.get("decision", ""), _forms(request.form.getlist("words"))
    if what not in _DECIDED:
        abort(400)
    token, problem = request.form.get("solution", ""), request.form.get("problem")
    found = Review(site())
    current = (found.find(token) or abort(404)) if token else None
    held = site().spec.judging.reviewed
    if current:
        known = {plain(one.words) for one in current.open}
        known |= {plain(one.words) for one in current.decided}
        unknown = [form for form in forms if plain(form) not in known]
        if what == "redact" and not all(holds(_solution(current), form) for form in unknown):
            raise QuemError(_NOT_WHOLE)
        chosen = [(current.problem, current.solver, form) for form in forms]
    elif problem is not None or what == "accept":
        chosen = [(problem or "", "", form) for form in forms]
    elif what == "redact":
        chosen = [
            (one.problem, one.solver, waiting.words)
            for one in found.solutions
            for waiting in one.open
            if plain(waiting.words) in map(plain, forms)
        ]
    else:
        chosen = [(one.problem, one.solver, one.words) for one in held if _is_of(one, forms)]
    if what == "redact" and not all(solver for _, solver, _ in chosen):
        abort(404)
    with _one:
        keys = {(problem, solver, plain(form)) for problem, solver, form in chosen}
        undone = [one for one in held if (one.problem, one.solver, plain(one.words)) in keys]
        was_redacted = [(one.problem, one.solver) for one in undone if one.decision == "redact"]
        places = [(problem, solver) for problem, solver, _ in chosen]
        if changing := places if what == "redact" else was_redacted:
            _require_redactable(changing)
        if what == "accept" and ("", "") in places:
            undone += [one for one in held if _is_of(one, forms) and one.decision == "accept"]
        fresh = [_entry(*one, what) for one in chosen] if what != "undo" else []
        save_decisions([*(one for one in held if one not in undone), *fresh])
    decided = [one for one in site().spec.judging.reviewed if _is_of(one, forms)]
    replaced = {(one.problem, one.solver) for one in decided if one.decision == "redact"}
    if what == "redact" and not replaced:
        raise QuemError(_NOT_WHOLE)
    note_done(what, words=forms, at=token, count=len(replaced), mark=MARK)
    return redirect(_return_address(forms, token), code=303)


def _forms(words: Sequence[str]) -> list[str]:
    """The submitted words; each needs a letter or digit and has a maximum length."""
    forms = [one.strip() for one in words]
    for one in forms:
        if len(one) > _LONGEST or not one.isprintable() or not any(map(str.isalnum, one)):
            raise QuemError(_NO_WORDS)
    return forms or abort(400)


@pages.post("/same")
def answer() -> AnyResponse:
    """Record whether a solution changed after judging counts as the same."""
    current = Review(site()).find(request.form.get("solution", "")) or abort(404)
    what = request.form.get("answer", "")
    if what not in _ANSWERS:
        abort(400)
    if request.form.get("digest") != current.digest:
        raise QuemError(_OTHER)
    save_answer(current.problem, current.solver, current.digest, is_same=what == "same")
    note_done(what)
    return redirect(_address(current), code=303)


def _entry(problem: str, solver: str, words: str, what: str) -> Reviewed:
    entry = {"problem": problem, "solver": solver, "words": words, "decision": what}
    try:
        return Reviewed.model_validate(entry)
    except ValidationError:
        raise QuemError(_NO_WORDS) from None


def _is_of(one: Reviewed, forms: Sequence[str]) -> bool:
    return plain(one.words) in map(plain, forms)


def _require_redactable(places: Sequence[tuple[str, str]]) -> None:
    """Refuse redactions in a closed study; ask first if judges have seen the solution."""
    with site().store.read() as c:
        state = status_of(c, site().id).state
        seen = shown_digests(c, site().id)
    if state == "closed":
        raise QuemError(_CLOSED)
    shown = [place for place in places if place in seen]
    if state == "trial" or not shown:
        return
    form = [(name, value) for name, value in request.form.items(multi=True) if name != "sure"]
    require_sure(question("redact", form=form, place=shown[0], more=len(shown) - 1))


def _is_shown(one: ReviewedSolution) -> bool:
    """Whether a solution was shown to judges whose rankings count."""
    with site().store.read() as c:
        if status_of(c, site().id).state == "trial":
            return False
        return (one.problem, one.solver) in shown_digests(c, site().id)


def _unanswered() -> dict[tuple[str, str], str]:
    with site().store.read() as c:
        return site().unanswered(c)


def _solution(one: ReviewedSolution) -> Solution:
    return site().solution(one.problem, one.solver) or abort(404)


def _start(found: Review, *, after: str = "") -> str:
    """Redirect to the first open word, then to the first unreviewed solution."""
    waiting = [word.words for word in found.open]
    at = waiting.index(after) + 1 if after in waiting else 0
    if waiting[at:]:
        return url_for("dashboard.review.word", words=waiting[at])
    return _address(found.unreviewed[0]) if found.unreviewed else ""


def _address(one: ReviewedSolution) -> str:
    return url_for("dashboard.review.solution", token=one.token)


def _return_address(forms: Sequence[str], token: str) -> str:
    """Address of the page after a decision."""
    if request.form.get("from") == "list":
        return url_for("dashboard.review.solutions")
    found = Review(site())
    if request.form.get("from") != "word" and (current := found.find(token)):
        return _address(current)
    mine = {plain(one) for one in forms}
    for word in found.open:
        if mine & {plain(one) for one in (word.words, *word.forms)}:
            one = 1 if token else None
            return url_for("dashboard.review.word", words=word.words, one=one)
    return _start(found) or url_for("dashboard.review.solutions")
