"""What the pages of judges and subjects show; a preview shows a judge's."""

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

# Characters of solutions that come with the page; what is more comes when it is read.
_LARGEST_PAGE = 300_000
MOST_MAKERS = 12


@dataclass(frozen=True)
class Area:
    """Where pages are: a judge's, a subject's, or a preview of a judge's."""

    name: str  # the blueprint
    state: str  # of the session
    until: str = ""  # until when a paused study is paused, as its organizer says it; may be empty

    def url(self, page: str, /, **values: Any) -> str:  # noqa: ANN401  parts of a URL
        """The address of a page."""
        return url_for(f"{self.name}.{page}", **values)

    @property
    def is_preview(self) -> bool:
        """Whether nothing is to be stored."""
        return self.name == "preview"

    def page(self, site: Site, person: PersonRow | None = None) -> dict[str, Any]:
        """What the template of every page takes."""
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
            # Of the last two words, which leaves titles out.
            "initials": "".join(word[0] for word in contact.name.split()[-2:]),
            "grading": bool(site.spec.labels),
        }


def listed(
    site: Site,
    area: Area,
    tasks: Sequence[TaskRow],
    receipts: Mapping[str, Receipt],
) -> list[dict[str, Any]]:
    """A person's tasks for lists and navigation, in their order."""
    # One address made, and the others of its kind: a judge has many tasks.
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
    """Repeated tasks open after all others."""
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
    """Only the next problem opens, and what was opened before; its title is not told before."""
    is_next = True
    for task in tasks:
        is_opened = task.opened_at is not None
        state = task.ended or ("started" if is_opened else "new")
        title = _title(site, task) * is_opened
        yield {"opens": is_opened or is_next, "title": title, "state": state, "ended": task.ended}
        # Who wants to practices; the first problem that counts waits for nothing.
        is_next = is_next and (task.practice or task.ended is not None)


def _parts(ballots: Sequence[TaskRow]) -> dict[tuple[str, int], tuple[int, int]]:
    """Which part each block is of its problem, and of how many, where there are several."""
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
    """The next task that counts and waits, behind another one and then from the first on."""
    gids = [task["gid"] for task in tasks]
    start = gids.index(after) + 1 if after in gids else 0
    waiting = (
        task
        for task in (*tasks[start:], *(tasks[:start] if again else ()))
        if task["state"] in ("new", "started") and task["url"] and not task["practice"]
    )
    return next((task for task in waiting if task["gid"] != after), None)


def next_url(area: Area, tasks: Sequence[dict[str, Any]], after: str) -> str:
    """The next task that waits to be submitted, or the page of thanks."""
    # In a preview nothing is submitted, so it does not begin again behind the last.
    task = next_task(tasks, after, again=not area.is_preview)
    return str(task["url"]) if task else area.url("done")


def home_page(
    site: Site, area: Area, tasks: list[dict[str, Any]], person: PersonRow | None = None
) -> dict[str, Any]:
    """What the first page and the page of thanks show."""
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
        # The task whose submission led to this page.
        "just": next((t for t in tasks if t["gid"] == request.args.get("submitted")), None),
    }


def judge_page(
    site: Site, area: Area, tasks: list[dict[str, Any]], judge: PersonRow | None = None
) -> dict[str, Any]:
    """What a judge's first page and their page of thanks show."""
    closing = judge.closing.values() if judge else ()
    return {
        **home_page(site, area, tasks, judge),
        "n_tasks": len(site.plan.parts) + site.plan.repeat,
        "minutes": site.minutes,
        "deadline": day(site.spec.deadline) if site.spec.deadline else "",
        "questions": asked_at_the_end(site),
        "closing": {name: text for given in closing for name, text in given.items()},
    }


def page_text(sheet: Sheet | None, address: Callable[..., str] | None = None) -> Markup:
    """A page of text in the reader's language, or as it is."""
    translated = sheet and sheet.translations.get(spoken(), sheet)
    gone, _ = _phrases(spoken())
    return render_page_text(translated, address, gone=gone)


@cache
def _phrases(_language: str) -> tuple[str, Phrases]:
    """The words in the place of a part that is gone, of formulas, and of further rows."""
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
    """What the ranking page shows."""
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
    """The dialogs of the ranking page, which are the same for all tasks of a language."""
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
    """One solution of a ranking page, or 404 where the task has no such one."""
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
    """What the page shows that asks who made a solution."""
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
    """Which of a judge's tasks it is."""
    if task["practice"]:
        return gettext("Practice")
    return gettext("Task %(n)s of %(all)s", n=task["number"], all=tasks[-1]["number"])


def _leave_out_late(items: Sequence[dict[str, Any]]) -> None:
    """Leave out the texts that a page is too small for; it asks for them one by one."""
    size = 0
    for item in items:
        size += item["size"]
        if size > _LARGEST_PAGE:
            item["parts"] = ()


def _tell_apart(items: Sequence[dict[str, Any]]) -> None:
    """Name solutions that begin alike by the first words in which they differ."""
    shares = _shares(tuple(item["beginning"] for item in items))
    for item, shared in zip(items, shares, strict=True):
        words = item["beginning"]
        is_cut = shared > 1 or shared >= len(item["about"]["snippet"].split())
        if is_cut and 0 < shared < len(words):
            item["about"]["snippet"] = shortened("… " + " ".join(words[shared:]))


@lru_cache(maxsize=256)
def _shares(beginnings: tuple[tuple[str, ...], ...]) -> list[int]:
    """With how many words each text begins like another one."""
    return [
        max((_n_shared(one, other) for m, other in enumerate(beginnings) if m != n), default=0)
        for n, one in enumerate(beginnings)
    ]


def _n_shared(words: Sequence[str], others: Sequence[str]) -> int:
    """Count the words with which two texts begin alike; 0 where they are the same."""
    pairs = zip(words, others, strict=False)
    return (
        0 if words == others else sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    )


def _chance(site: Site, gid: str, solver: str) -> dict[str, Any]:
    """Where a solution is while it is compared, and which of two middle groups it meets first.

    By chance, so that neither side nor place goes with being new; fixed for a judge's task.
    """
    side, lower = (int(keyed(site.secret, what, gid, solver), 16) & 1 for what in ("side", "lower"))
    return {"side": "right" if side else "left", "lower": bool(lower)}


def _name(site: Site, gid: str, item: Item, digest: str) -> str:
    """What shows a page that a solution is the same as on another page, and nothing else."""
    return keyed(site.secret, "content", gid, item.solver, digest)


def _item(
    site: Site,
    area: Area,
    ballot: TaskRow,
    item: Item,
    contents: Mapping[str, Content | None],
) -> dict[str, Any]:
    """One solution under its letter: only what the layout says that it is."""
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
    """What makes the address of the n-th of some files, or of a page of it."""

    def address(n: int, page: int | None = None) -> str:
        return area.url("file", gid=gid, token=file_token(site, gid, files[n - 1]), page=page)

    return address


def _title(site: Site, task: TaskRow) -> str:
    problem = site.problem(task.problem)
    if problem is not None and problem.title:
        return problem.title
    return gettext("Practice") if task.practice else task.problem


def asked_on_tasks(site: Site) -> list[dict[str, Any]]:
    """Describe the questions that the ranking page asks."""
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
    """The questions that the page of thanks asks."""
    return tuple(q for q in site.spec.judging.questions if q.about == "study")


def read_answers(questions: Sequence[Question], form: Mapping[str, str]) -> dict[str, str]:
    """The answers in a form of the macro ``question_field``; what else is sent is left out."""
    answers = {}
    for number, question in enumerate(questions):
        text = form.get(f"question-{number}", "").replace("\0", "").strip()[:LONGEST_COMMENT]
        if text and (question.kind == "text" or text in question.values):
            answers[question.id] = text
    return answers


def lack(questions: Sequence[Question], answers: Mapping[str, str]) -> bool:
    """Whether a required question has no answer."""
    return any(question.required and question.id not in answers for question in questions)
