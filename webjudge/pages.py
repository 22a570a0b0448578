"""What the judge's pages show, the same for judges and for a preview of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from flask import abort, render_template, url_for
from markupsafe import Markup

from quem.blinding.rendering import (
    Part,
    Phrases,
    Rendered,
    render_page_text,
    render_solution,
    shortened,
)
from quem.solutions.losses import losses_of
from quem.store.digests import keyed
from quem.store.state import State
from webjudge.files import file_token
from webjudge.languages import day, gettext, ngettext, spoken
from webjudge.questions import asked_at_the_end, asked_on_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from quem.solutions import SolutionFile
    from quem.solutions.model import Sheet
    from quem.store.exporting import Receipt
    from quem.store.layouts import Content
    from quem.store.models import Item, Layout, PersonRow, TaskRow
    from webjudge.site import Site

# Characters of solutions that come with the page; what is more comes when it is read.
_LARGEST_PAGE = 300_000


@dataclass(frozen=True)
class Area:
    """Where the pages are: the judge's own, or a preview of them."""

    name: str  # the blueprint, whose pages have the same names in both
    state: str  # of the study
    until: str = ""  # until when a paused study is paused, as its organizer says it; may be empty

    def url(self, page: str, /, **values: Any) -> str:  # noqa: ANN401  parts of a URL
        """Give the address of a page."""
        return url_for(f"{self.name}.{page}", **values)

    @property
    def is_preview(self) -> bool:
        """Whether nothing is to be stored."""
        return self.name == "preview"

    @property
    def notice(self) -> str | None:
        """What every page says at its top; ``base.html`` has the words."""
        if self.is_preview:
            return self.name
        return self.state if self.state != "open" else None

    @property
    def values(self) -> dict[str, Any]:
        """What the template of every page takes."""
        return {
            "notice": self.notice,
            "until": self.until,
            "closed": self.state == "closed",
            "paused": self.state == "paused",
        }


@dataclass(frozen=True)
class DisplayedBallot:
    """A ballot as it is shown."""

    ballot: TaskRow  # with its layout
    state: State  # of labels
    # What the solution of each solver holds now, as far as that is to be what the layout says.
    contents: Mapping[str, Content | None] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        """What is under each letter."""
        assert self.ballot.layout is not None, "not laid out yet"  # noqa: S101  a bug of ours
        return self.ballot.layout

    @property
    def names(self) -> dict[str, str]:
        """Letter to solver."""
        return self.layout.solvers


def listed(
    site: Site,
    area: Area,
    ballots: Sequence[TaskRow],
    receipts: Mapping[str, Receipt] | None = None,
    ranked: Mapping[str, tuple[int, int]] | None = None,
) -> list[dict[str, Any]]:
    """Describe a judge's groups for lists and navigation, in the judge's order."""
    open_repeats = area.is_preview or all(
        b.is_submitted for b in ballots if b.occasion == 1 and not b.practice
    )
    groups = []
    parts = _parts(ballots)
    number = 0
    # One address made, and the others of its kind: a judge has many groups.
    pattern = area.url("group", gid="GID")
    for ballot in ballots:
        number += not ballot.practice
        ready = ballot.occasion == 1 or open_repeats
        title = _title(site, ballot)
        if part := parts.get((ballot.problem, ballot.block)):
            title = gettext("%(title)s, part %(n)s of %(all)s", title=title, n=part[0], all=part[1])
        to_place = site.to_place(ballot)
        groups.append(
            {
                "url": pattern.replace("GID", ballot.public_id) if ready else None,
                "gid": ballot.public_id,
                "title": title if ready else "",
                "number": number,
                "state": "started" if to_place else ballot.status,
                "to_place": to_place,
                "ranked": (ranked or {}).get(ballot.public_id),
                "receipt": (receipts or {}).get(ballot.public_id),
                "practice": ballot.practice,
            }
        )
    return groups


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


def next_url(area: Area, groups: Sequence[dict[str, Any]], after: str | None = None) -> str:
    """Give the next group that waits to be submitted, or the page of thanks."""
    group = _next_group(groups, after, again=not area.is_preview)
    return str(group["url"]) if group else area.url("done")


def _next_group(
    groups: Sequence[dict[str, Any]], after: str | None = None, *, again: bool = True
) -> dict[str, Any] | None:
    """Find the next group that counts and waits; whoever wants to practices before.

    In a preview nothing is submitted, so it does not begin again behind the last.
    """
    gids = [group["gid"] for group in groups]
    start = gids.index(after) + 1 if after in gids else 0
    waiting = (
        group
        for group in (*groups[start:], *(groups[:start] if again else ()))
        if group["state"] != "submitted" and group["url"] and not group["practice"]
    )
    return next((group for group in waiting if group["gid"] != after), None)


def just_submitted(groups: Sequence[dict[str, Any]], gid: str | None) -> dict[str, Any] | None:
    """Give the group whose submission led to this page, if it is submitted."""
    return next((g for g in groups if g["gid"] == gid and g["receipt"]), None)


def home_page(
    site: Site, area: Area, groups: list[dict[str, Any]], judge: PersonRow | None = None
) -> dict[str, Any]:
    """Give what the welcome page and the page of thanks show."""
    counting = [group for group in groups if not group["practice"]]
    done = bool(counting) and all(group["state"] == "submitted" for group in counting)
    contact = site.spec.organizer
    return {
        "study": {"title": site.spec.title},
        **area.values,
        "title": site.spec.invitation.title or site.spec.title,
        "address": site.address(judge) if judge else "",
        "contact": contact,
        # Of the last two words, which leaves titles out.
        "initials": "".join(word[0] for word in contact.name.split()[-2:]),
        "n_tasks": len(site.plan.parts) + site.plan.repeat,
        "grading": bool(site.spec.labels),
        "minutes": site.minutes,
        "deadline": day(site.spec.deadline) if site.spec.deadline else "",
        "briefing": _page_text(site.solutions.briefing),
        "consent": _page_text(site.solutions.consent),
        "consent_url": None if area.is_preview else area.url("give_consent"),
        "groups": groups,
        "next": _next_group(groups),
        "home_url": area.url("home"),
        "questions": asked_at_the_end(site),
        "closing": {name: text for given in judge.closing.values() for name, text in given.items()}
        if judge
        else {},
        "closing_url": None if area.is_preview else area.url("answer_at_the_end"),
        "receipts_url": None if area.is_preview else area.url("receipts_text"),
        "done": done,
    }


def _page_text(sheet: Sheet | None, asset_url: Callable[..., str] | None = None) -> Markup:
    """Show a page of text in the judge's language, or as it is."""
    translated = sheet and sheet.translations.get(spoken(), sheet)
    return render_page_text(translated, asset_url, gone=_gone())


def _gone() -> str:
    return gettext("This part cannot be displayed right now. Please tell the organizer.")


def _phrases() -> Phrases:
    return Phrases(formula=gettext("(formula)"), more=_more)


def _more(rows: int, columns: int) -> str:
    """Say how much of a sheet is not shown."""
    if rows and columns:
        return gettext(
            "Not shown: %(rows)s more rows, %(columns)s more columns.",
            rows=f"{rows:,}",
            columns=f"{columns:,}",
        )
    if columns:
        return ngettext(
            "%(count)s more column is not shown.",
            "%(count)s more columns are not shown.",
            columns,
            count=f"{columns:,}",
        )
    return ngettext(
        "%(count)s more row is not shown.",
        "%(count)s more rows are not shown.",
        rows,
        count=f"{rows:,}",
    )


def group_page(
    site: Site, area: Area, shown: DisplayedBallot, groups: list[dict[str, Any]]
) -> dict[str, Any]:
    """Give what the ranking page shows."""
    gid = shown.ballot.public_id
    place = next(i for i, group in enumerate(groups) if group["gid"] == gid)
    group = groups[place]
    items = [_item(site, area, shown, item) for item in shown.layout.items]
    _leave_out_late(items)
    _tell_apart(items)
    return {
        "study": {"title": site.spec.title},
        **area.values,
        "group": {
            **group,
            "to_place": shown.ballot.to_place if shown.ballot.is_submitted else [],
            "statement": _statement(site, area, shown.ballot),
        },
        "home_url": area.url("home"),
        "dialogs": _dialogs(area.notice == "preview", area.url("home"), spoken(), site.spec.labels),
        "items": items,
        "data": {
            "study": site.spec.title,
            "title": group["title"],
            "step": _step(group, groups),
            "labels": list(shown.names),
            "layout": shown.layout.id,
            "contents": {i.letter: _name(site, gid, i, i.origin) for i in shown.layout.items},
            "versions": {item["label"]: item["version"] for item in items},
            "solutions": {item["label"]: item["about"] for item in items},
            "chance": {i.letter: _chance(site, gid, i.solver) for i in shown.layout.items},
            "questions": asked_on_tasks(site),
            "grades": site.spec.labels,
            "views": {i.letter: shown.ballot.views.get(i.solver, 0) for i in shown.layout.items},
            "state": shown.state.to_json(),
            "blank": State().to_json(),
            "revision": shown.ballot.revision,
            "submitted": shown.ballot.is_complete,
            "receipt": _receipt(group),
            "closed": area.state == "closed",
            "paused": area.state == "paused",
            "until": area.until,
            "preview": area.is_preview,
            "key": gid,
            "urls": _urls(area, gid, groups),
        },
    }


@lru_cache(maxsize=64)
def _dialogs(
    is_preview: bool,  # noqa: FBT001
    home_url: str,
    language: str,  # noqa: ARG001
    labels: tuple[str, ...],
) -> Markup:
    """Write the dialogs of the ranking page, which are the same for all tasks of a language."""
    notice = "preview" if is_preview else None
    page = render_template("judge/dialogs.html", notice=notice, home_url=home_url, labels=labels)
    return Markup(page)  # noqa: S704  our own


def solution_alone(site: Site, area: Area, shown: DisplayedBallot, version: str) -> str:
    """Show one solution of a ranking page, or answer 404 where the task has no such one."""
    gid = shown.ballot.public_id
    named = {_name(site, gid, item, item.digest): item for item in shown.layout.items}
    if version not in named:
        abort(404)
    item = _item(site, area, shown, named[version])
    return render_template("judge/solution-alone.html", item=item)


def maker_page(
    site: Site, area: Area, shown: DisplayedBallot, solver: str, groups: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Give what the page shows that asks who made a solution."""
    item = next(one for one in shown.layout.items if one.solver == solver)
    gid = shown.ballot.public_id
    return {
        "study": {"title": site.spec.title},
        **area.values,
        "item": _item(site, area, shown, item),
        "group": next(group for group in groups if group["gid"] == gid),
        "grading": bool(site.spec.labels),
        "guess_url": area.url("guess_maker"),
    }


def _urls(area: Area, gid: str, groups: Sequence[dict[str, Any]]) -> dict[str, str]:
    urls = {
        "home": area.url("home"),
        "next": next_url(area, groups, gid),
        "solution": area.url("solution", gid=gid, version="VERSION"),
    }
    if area.is_preview:
        return urls
    return urls | {
        "state": area.url("save_state", gid=gid),
        "reopen": area.url("reopen", gid=gid),
        "time": area.url("add_time", gid=gid),
    }


def _step(group: dict[str, Any], groups: Sequence[dict[str, Any]]) -> str:
    """Which of a judge's tasks it is."""
    if group["practice"]:
        return gettext("Practice")
    return gettext("Task %(n)s of %(all)s", n=group["number"], all=groups[-1]["number"])


def _receipt(group: dict[str, Any]) -> dict[str, str] | None:
    receipt = group["receipt"]
    return receipt and {"code": receipt.code, "at": receipt.at.isoformat()}


def _leave_out_late(items: Sequence[dict[str, Any]]) -> None:
    """Leave out the texts that a page is too small for; it asks for them one by one."""
    size = 0
    for item in items:
        size += item["size"]
        if size > _LARGEST_PAGE:
            item["parts"] = ()


def _tell_apart(items: Sequence[dict[str, Any]]) -> None:
    """Name solutions that begin alike by the first words in which they differ."""
    for item in items:
        words = item["beginning"]
        shared = max(
            (_n_shared(words, other["beginning"]) for other in items if other is not item),
            default=0,
        )
        is_cut = shared > 1 or shared >= len(item["about"]["snippet"].split())
        if is_cut and 0 < shared < len(words):
            item["about"]["snippet"] = shortened("… " + " ".join(words[shared:]))


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


def _item(site: Site, area: Area, shown: DisplayedBallot, item: Item) -> dict[str, Any]:
    """One solution under its letter: only what the layout says that it is."""
    solution = site.solution(shown.ballot.problem, item.solver)
    content = shown.contents.get(item.solver)
    gid = shown.ballot.public_id
    losses: Sequence[Any] = ()
    if solution is None or (content and not content.is_in(item)):
        text = gettext("This solution is no longer available. Leave it where it is.")
        rendered = Rendered((Part("html", "", html=Markup("<p>{}</p>").format(text)),), 0)
        losses = ()
    else:
        addresses = _addresses(site, area, gid, solution.files)
        rendered = render_solution(solution, addresses, gone=_gone(), phrases=_phrases())
        losses = losses_of(solution.files) if area.is_preview else ()
    return {
        "label": item.letter,
        "version": _name(site, gid, item, item.digest),
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


def _statement(site: Site, area: Area, ballot: TaskRow) -> str:
    """The problem's statement as safe HTML."""
    statement = site.solutions.statements.get(ballot.problem)
    files = statement.files if statement else ()
    return _page_text(statement, _addresses(site, area, ballot.public_id, files))


def _addresses(
    site: Site, area: Area, gid: str, files: Sequence[SolutionFile]
) -> Callable[..., str]:
    """Give what makes the address of the n-th of some files, or of a page of it."""

    def address(n: int, page: int | None = None) -> str:
        token = file_token(site, gid, files[n - 1])
        return area.url("file", gid=gid, token=token, page=page)

    return address


def _title(site: Site, ballot: TaskRow) -> str:
    problem = site.problem(ballot.problem)
    if problem is not None and problem.title:
        return problem.title
    return gettext("Practice") if ballot.practice else ballot.problem
