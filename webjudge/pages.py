"""Template values of judges' and subjects' pages, and of previews."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flask import abort, get_template_attribute, render_template, request, url_for
from markupsafe import Markup

from quem.blinding.rendering import (
    Phrases,
    Rendered,
    render_page_text,
    render_solution,
    shortened,
)
from quem.solutions.losses import losses_of
from quem.store.digests import keyed
from quem.store.state import LONGEST_COMMENT, State
from webjudge.files import file_token
from webjudge.languages import day, gettext, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from quem.solutions import SolutionFile
    from quem.solutions.model import Sheet
    from quem.store.exporting import Receipt
    from quem.store.layouts import Content
    from quem.store.models import Item, Layout, PersonRow, TaskRow
    from quem.studyfile.models import Question
    from webjudge.site import Site

# Characters of solutions sent with a page; further ones are loaded on demand.
_LARGEST_PAGE = 300_000
MOST_MAKERS = 12


@dataclass(frozen=True)
class Area:
    """The part of the site that a page belongs to: judge, subject, or preview."""

    name: str  # the blueprint
    state: str  # of the session
    until: str = ""  # end of a pause, in the organizer's words; may be empty

    def url(self, page: str, /, **values: Any) -> str:  # noqa: ANN401  parts of a URL
        """URL of a page."""
        return url_for(f"{self.name}.{page}", **values)

    @property
    def is_preview(self) -> bool:
        """Whether this is a preview, which stores nothing."""
        return self.name == "preview"

    def page(self, site: Site, person: PersonRow | None = None) -> dict[str, Any]:
        """Values of every page's template."""
        notice = "preview" if self.is_preview else self.state if self.state != "open" else ""
        contact = site.spec.organizer
        return {
            "study": {"title": site.spec.title},
            "notice": f"solving-{notice}" if notice and self.name == "solve" else notice,
            "until": self.until,
            "closed": self.state == "closed",
            "paused": self.state == "paused",
            "home_url": self.url("home"),
            "address": site.address(person) if person else "",
            "contact": contact,
            # From the last two words, to skip academic titles.
            "initials": "".join(word[0] for word in contact.name.split()[-2:]),
            "grading": bool(site.spec.labels),
        }


def listed(
    site: Site,
    area: Area,
    tasks: Sequence[TaskRow],
    receipts: Mapping[str, Receipt],
) -> list[dict[str, Any]]:
    """A person's tasks in order, for lists and navigation."""
    # Building one URL and replacing the id is faster than building each.
    pattern, number = area.url("task", gid="GID"), 0
    described = _solved if area.name == "solve" else _judged
    entries = []
    for task, entry in zip(tasks, described(site, area, tasks), strict=True):
        number += not task.practice
        entry |= {"gid": task.public_id, "problem": task.problem, "practice": task.practice}
        entry |= {"number": number, "receipt": receipts.get(task.public_id)}
        entries.append(entry | {"url": pattern.replace("GID", task.public_id) * entry["opens"]})
    return entries


def _judged(site: Site, area: Area, ballots: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    """Repeat tasks open after all others."""
    open_repeats = area.is_preview or all(
        b.is_submitted for b in ballots if b.occasion == 1 and not b.practice
    )
    parts = _parts(ballots)
    for ballot in ballots:
        opens = ballot.occasion == 1 or open_repeats
        title = _title(site, ballot)
        if part := parts.get((ballot.problem, ballot.block)):
            title = gettext("%(title)s, part %(n)s of %(all)s", title=title, n=part[0], all=part[1])
        to_place = site.to_place(ballot)
        state = "started" if to_place else ballot.status
        yield {"opens": opens, "title": title * opens, "state": state, "to_place": to_place}


def _solved(site: Site, _: Area, tasks: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    """Only the next problem and started ones open; later titles are hidden."""
    is_next = True
    for task in tasks:
        is_opened = task.opened_at is not None
        state = task.ended or ("started" if is_opened else "new")
        title = _title(site, task) * is_opened
        yield {"opens": is_opened or is_next, "title": title, "state": state, "ended": task.ended}
        # Practice is optional: the first problem does not wait for it.
        is_next = is_next and (task.practice or task.ended is not None)


def _parts(ballots: Sequence[TaskRow]) -> dict[tuple[str, int], tuple[int, int]]:
    """Number of each block in its problem, and of blocks, for problems with several."""
    blocks: dict[str, list[int]] = {}
    for ballot in ballots:
        if ballot.occasion == 1 and not ballot.practice:
            blocks.setdefault(ballot.problem, []).append(ballot.block)
    return {
        (problem, block): (part, len(of))
        for problem, of in blocks.items()
        if len(of) > 1
        for part, block in enumerate(sorted(of), 1)
    }


def next_task(
    tasks: Sequence[dict[str, Any]], after: str = "", *, again: bool = True
) -> dict[str, Any] | None:
    """The next unsubmitted task after a given one, wrapping around; practice is skipped."""
    gids = [task["gid"] for task in tasks]
    start = gids.index(after) + 1 if after in gids else 0
    waiting = (
        task
        for task in (*tasks[start:], *(tasks[:start] if again else ()))
        if task["state"] in ("new", "started") and task["url"] and not task["practice"]
    )
    return next((task for task in waiting if task["gid"] != after), None)


def next_url(area: Area, tasks: Sequence[dict[str, Any]], after: str) -> str:
    """URL of the next unsubmitted task, or of the page of thanks."""
    # A preview submits nothing, so wrapping around would never end.
    task = next_task(tasks, after, again=not area.is_preview)
    return str(task["url"]) if task else area.url("done")


def home_page(
    site: Site, area: Area, tasks: list[dict[str, Any]], person: PersonRow | None = None
) -> dict[str, Any]:
    """Values of the first page and the page of thanks."""
    texts, counting = site.solutions, [task for task in tasks if not task["practice"]]
    solves = area.name == "solve"
    briefing = texts.solving_briefing if solves else texts.briefing
    consent = texts.solving_consent if solves else texts.consent
    return {
        **area.page(site, person),
        "title": site.spec.title if solves else site.spec.invitation.title or site.spec.title,
        "briefing": page_text(briefing),
        "consent": page_text(consent),
        "consented": bool(person and person.consented_at) or not consent,
        "declined": bool(consent and person and person.declined_at),
        "tasks": tasks,
        "next": next_task(tasks),
        "done": bool(counting)
        and not any(task["state"] in ("new", "started") for task in counting),
        "after": site.spec.judging.after,
        "after_host": urlsplit(site.spec.judging.after).netloc,
        # The task submitted just before this page.
        "just": next((t for t in tasks if t["gid"] == request.args.get("submitted")), None),
    }


def judge_page(
    site: Site, area: Area, tasks: list[dict[str, Any]], judge: PersonRow | None = None
) -> dict[str, Any]:
    """Values of a judge's first page and page of thanks."""
    given = judge.closing.values() if judge else ()
    closing = {name: text for one in given for name, text in one.items()}
    asked = asked_at_the_end(site)
    return {
        **home_page(site, area, tasks, judge),
        "n_tasks": len(site.plan.parts) + site.plan.repeat,
        "minutes": site.minutes,
        "deadline": day(site.spec.deadline) if site.spec.deadline else "",
        "questions": asked,
        "closing": closing,
        "unanswered": bool(asked) and (not closing or lack(asked, closing)),
    }


def page_text(sheet: Sheet | None, address: Callable[..., str] | None = None) -> Markup:
    """A text page in the reader's language, or the original."""
    translated = sheet and sheet.translations.get(spoken(), sheet)
    gone, _ = _phrases(spoken())
    return render_page_text(translated, address, gone=gone)


@cache
def _phrases(_language: str) -> tuple[str, Phrases]:
    """Placeholders for missing parts, formulas, and omitted rows."""
    return _phrase("gone"), Phrases(_phrase("formula"), partial(_phrase, "more"))


def _phrase(name: str, *values: int) -> str:
    phrase: str = get_template_attribute("judge/phrases.html", name)(*values)
    return phrase


def group_page(
    site: Site,
    area: Area,
    ballot: TaskRow,
    state: State,
    contents: Mapping[str, Content | None],
    tasks: list[dict[str, Any]],
) -> dict[str, Any]:
    """Values of the ranking page."""
    gid, layout = ballot.public_id, _layout(ballot)
    group = next(task for task in tasks if task["gid"] == gid)
    items = [_item(site, area, ballot, item, contents) for item in layout.items]
    _leave_out_late(items)
    _tell_apart(items)
    page, receipt = area.page(site), group["receipt"]
    urls = {"home": page["home_url"], "next": next_url(area, tasks, gid)}
    mine = area.url("task", gid=gid)
    urls["solution"] = f"{mine}/solution/VERSION"
    if not area.is_preview:
        urls |= {name: f"{mine}/{name}" for name in ("state", "reopen", "time")}
    return {
        **page,
        "group": {
            **group,
            "to_place": ballot.to_place if ballot.is_submitted else [],
            "statement": statement(site, area, ballot),
        },
        "dialogs": _dialogs(area.is_preview, page["home_url"], spoken(), site.spec.labels),
        "items": items,
        "data": {
            "study": site.spec.title,
            "title": group["title"],
            "step": _step(group, tasks),
            "labels": list(layout.solvers),
            "layout": layout.id,
            "contents": {i.letter: _name(site, gid, i, i.origin) for i in layout.items},
            "versions": {item["label"]: item["version"] for item in items},
            "solutions": {item["label"]: item["about"] for item in items},
            "chance": {i.letter: _chance(site, gid, i.solver) for i in layout.items},
            "questions": asked_on_tasks(site),
            "grades": site.spec.labels,
            "views": {i.letter: ballot.views.get(i.solver, 0) for i in layout.items},
            "state": state.renamed(layout.letters).to_json(),
            "blank": State().to_json(),
            "revision": ballot.revision,
            "submitted": ballot.is_complete,
            "receipt": receipt and {"code": receipt.code, "at": receipt.at.isoformat()},
            "closed": page["closed"],
            "paused": page["paused"],
            "until": area.until,
            "preview": area.is_preview,
            "key": gid,
            "urls": urls,
        },
    }


@lru_cache(maxsize=64)
def _dialogs(
    is_preview: bool,  # noqa: FBT001
    home_url: str,
    language: str,  # noqa: ARG001
    labels: tuple[str, ...],
) -> Markup:
    """The ranking page's dialogs, cached per language."""
    notice = "preview" if is_preview else None
    page = render_template("judge/dialogs.html", notice=notice, home_url=home_url, labels=labels)
    return Markup(page)  # noqa: S704  our own


def solution_alone(
    site: Site,
    area: Area,
    ballot: TaskRow,
    contents: Mapping[str, Content | None],
    version: str,
) -> str:
    """One solution of a ranking page; 404 if the task does not have it."""
    items = _layout(ballot).items if ballot.layout else ()
    named = {_name(site, ballot.public_id, item, item.digest): item for item in items}
    if version not in named:
        abort(404)
    item = _item(site, area, ballot, named[version], contents)
    return render_template("judge/solution-alone.html", item=item)


def maker_page(
    site: Site,
    area: Area,
    ballot: TaskRow,
    solver: str,
    contents: Mapping[str, Content | None],
    tasks: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Values of the page that asks who made a solution."""
    item = next(one for one in _layout(ballot).items if one.solver == solver)
    return {
        **area.page(site),
        "item": _item(site, area, ballot, item, contents),
        "group": next(task for task in tasks if task["gid"] == ballot.public_id),
    }


def _layout(ballot: TaskRow) -> Layout:
    assert ballot.layout is not None, "not laid out"  # noqa: S101  a bug of ours
    return ballot.layout


def _step(task: dict[str, Any], tasks: Sequence[dict[str, Any]]) -> str:
    """Position of a task among the judge's tasks."""
    if task["practice"]:
        return gettext("Practice")
    return gettext("Task %(n)s of %(all)s", n=task["number"], all=tasks[-1]["number"])


def _leave_out_late(items: Sequence[dict[str, Any]]) -> None:
    """Omit texts beyond the page's size limit; the script loads them one by one."""
    size = 0
    for item in items:
        size += item["size"]
        if size > _LARGEST_PAGE:
            item["parts"] = ()


def _tell_apart(items: Sequence[dict[str, Any]]) -> None:
    """Show solutions with equal beginnings by the first words that differ."""
    shares = _shares(tuple(item["beginning"] for item in items))
    for item, shared in zip(items, shares, strict=True):
        words = item["beginning"]
        is_cut = shared > 1 or shared >= len(item["about"]["snippet"].split())
        if is_cut and 0 < shared < len(words):
            item["about"]["snippet"] = shortened("… " + " ".join(words[shared:]))


@lru_cache(maxsize=256)
def _shares(beginnings: tuple[tuple[str, ...], ...]) -> list[int]:
    """Length of each text's longest prefix shared with another text, in words."""
    return [
        max((_n_shared(one, other) for m, other in enumerate(beginnings) if m != n), default=0)
        for n, one in enumerate(beginnings)
    ]


def _n_shared(words: Sequence[str], others: Sequence[str]) -> int:
    """Length of the common prefix in words; 0 for equal texts."""
    pairs = zip(words, others, strict=False)
    return (
        0 if words == others else sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    )


def _chance(site: Site, gid: str, solver: str) -> dict[str, Any]:
    """Random side of a solution in comparisons, and random choice between two middle groups.

    Independent of which solution is new; fixed for a judge's task.
    """
    side, lower = (int(keyed(site.secret, what, gid, solver), 16) & 1 for what in ("side", "lower"))
    return {"side": "right" if side else "left", "lower": bool(lower)}


def _name(site: Site, gid: str, item: Item, digest: str) -> str:
    """Opaque id with which a page recognizes a solution's content in another layout."""
    return keyed(site.secret, "content", gid, item.solver, digest)


def _item(
    site: Site,
    area: Area,
    ballot: TaskRow,
    item: Item,
    contents: Mapping[str, Content | None],
) -> dict[str, Any]:
    """A solution under its letter, with exactly the content in the layout."""
    solution = site.solution(ballot.problem, item.solver)
    content = contents.get(item.solver)
    gid, rendered = ballot.public_id, Rendered((), 0)
    losses: Sequence[Any] = ()
    if is_there := solution is not None and (content is None or content.is_in(item)):
        gone, phrases = _phrases(spoken())
        address = _addresses(site, area, gid, solution.files)
        rendered = render_solution(solution, address, gone=gone, phrases=phrases)
        losses = losses_of(solution.files) if area.is_preview else ()
    return {
        "label": item.letter,
        "version": _name(site, gid, item, item.digest),
        "is_there": is_there,
        "parts": rendered.parts,
        "size": rendered.size,
        "losses": losses,
        "beginning": rendered.beginning,
        "about": {
            "snippet": rendered.snippet,
            "shape": rendered.shape,
            "words": rendered.n_words,
            "lines": rendered.n_lines,
            "pages": rendered.n_pages,
            "pictures": rendered.n_pictures,
        },
    }


def statement(site: Site, area: Area, task: TaskRow) -> Markup:
    """The statement of a task's problem."""
    sheet = site.solutions.statements.get(task.problem)
    translated = sheet and sheet.translations.get(spoken(), sheet)
    files = translated.files if translated else ()
    return page_text(translated, _addresses(site, area, task.public_id, files))


def _addresses(
    site: Site, area: Area, gid: str, files: Sequence[SolutionFile]
) -> Callable[..., str]:
    """A function that returns the URL of the n-th file, or of one of its pages."""

    def address(n: int, page: int | None = None) -> str:
        return area.url("file", gid=gid, token=file_token(site, gid, files[n - 1]), page=page)

    return address


def _title(site: Site, task: TaskRow) -> str:
    problem = site.problem(task.problem)
    if problem is not None and problem.title:
        return problem.title
    return gettext("Practice") if task.practice else task.problem


def asked_on_tasks(site: Site) -> list[dict[str, Any]]:
    """The questions of the ranking page."""
    return [
        {
            "id": question.id,
            "about": question.about,
            "kind": question.kind or "choice",
            "text": question.text,
            "options": question.values,
            "ends": question.ends,
            "required": question.required,
        }
        # The grade has buttons of its own.
        for question in site.spec.judging.questions
        if question.about != "study"
    ]


def asked_at_the_end(site: Site) -> tuple[Question, ...]:
    """The questions of the page of thanks."""
    return tuple(q for q in site.spec.judging.questions if q.about == "study")


def read_answers(questions: Sequence[Question], form: Mapping[str, str]) -> dict[str, str]:
    """Answers from a form with ``question_field`` macros; other fields are ignored."""
    answers = {}
    for number, question in enumerate(questions):
        text = form.get(f"question-{number}", "").replace("\0", "").strip()[:LONGEST_COMMENT]
        if text and (question.kind == "text" or text in question.values):
            answers[question.id] = text
    return answers


def lack(questions: Sequence[Question], answers: Mapping[str, str]) -> bool:
    """Whether a required question has no answer."""
    return any(question.required and question.id not in answers for question in questions)
