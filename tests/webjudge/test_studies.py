"""One server for a folder of studies: each for itself, opened when it is needed."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from werkzeug.test import Client

from quem.errors import QuemError
from quem.store.ballots import ballots_of
from quem.store.judges import issue_link, judge_named
from quem.store.organizers import issue_organizer_link
from tests.served import all_ranked
from tests.webjudge.sites import write_site
from webjudge.studies import StudiesFolder

Result = TypeVar("Result")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from webjudge import Site

_GROUP = re.compile(r"/judge/g/([\w-]+)")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """A file for each study, or one database for all."""
    if request.param == "sqlite":
        return None
    new_postgres: Callable[[], str] = request.getfixturevalue("new_postgres")
    return new_postgres()


def write_studies(folder: Path, *names: str) -> None:
    """Write studies whose ids are their names."""
    for name in names:
        (folder / name).mkdir(parents=True)
        path = write_site(folder / name, problems=1, judging="{}")
        path.write_text(path.read_text().replace("id: site", f"id: {name}", 1))


@pytest.fixture
def studies(tmp_path: Path, database: str | None) -> Iterator[StudiesFolder]:
    """Two studies."""
    write_studies(tmp_path, "one", "two")
    served = StudiesFolder(tmp_path, database)
    yield served
    served.close()


class Browser(Client):
    """A browser that reads each answer to its end, which then is closed."""

    def open(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  as werkzeug has it
        """Send a request."""
        return super().open(*args, **{**kwargs, "buffered": True})


def with_site(
    studies: StudiesFolder, name: str, work: Callable[[Site], Result]
) -> tuple[str, Result]:
    """Do something with the site of a study while it is open; gives its key and what came of it."""
    for key, site in studies.opened():
        if site.id == name:
            return key, work(site)
    pytest.fail(f"no study {name}")


def link_of(site: Site) -> str:
    """Make a link of the first judge."""
    with site.store.write() as c:
        return issue_link(c, judge_named(c, site.id, "J1"), "shell")


def judge_of(studies: StudiesFolder, name: str) -> tuple[Client, str, str]:
    """Enter as the first judge of a study; gives the browser, its prefix, and the cookie."""
    key, token = with_site(studies, name, link_of)
    client = Browser(studies)
    entered = client.get(f"/s/{key}/j/{token}")
    assert entered.status_code == 303
    assert entered.headers["Location"] == f"/s/{key}/judge"
    return client, f"/s/{key}", entered.headers["Set-Cookie"]


def rank(client: Client, prefix: str) -> dict[str, Any]:
    """Submit the first task."""
    gid = _GROUP.findall(client.get(f"{prefix}/judge").text)[0]
    page = client.get(f"{prefix}/judge/g/{gid}").text
    layout = re.search(r'"layout":\s*"([^"]+)"', page)
    assert layout
    labels = sorted(set(re.findall(r'data-solution="([A-Z])"', page)))
    body = {"base": 0, "client": "tab-12345678", "change": 1, "layout": layout[1]}
    body |= {"state": all_ranked(labels), "seconds": 1, "submit": True}
    answer = client.put(f"{prefix}/judge/g/{gid}/state", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json or {})


def test_each_study_for_itself(studies: StudiesFolder) -> None:
    """Cookies, pages, and rankings of one are of no use for the other."""
    one, prefix, cookie = judge_of(studies, "one")
    other, theirs, _ = judge_of(studies, "two")
    assert f"Path={prefix}" in cookie
    answer = rank(one, prefix)
    assert answer["next"].startswith(f"{prefix}/judge")
    assert one.get(f"{theirs}/judge").status_code == 401
    # Under the other's name and path, too.
    value = cookie.partition("=")[2].partition(";")[0]
    stranger = Browser(studies)
    sent = other.get(f"{theirs}/judge").request.headers["Cookie"]
    for name in re.findall(r"(quem-judge-\w+)=", sent):
        stranger.set_cookie(name, value, path=theirs)
    assert stranger.get(f"{theirs}/judge").status_code == 401
    done = [with_site(studies, name, submitted)[1] for name in ("one", "two")]
    assert done == [1, 0]


def submitted(site: Site) -> int:
    """Count what the first judge submitted."""
    with site.store.read() as c:
        judge = judge_named(c, site.id, "J1")
        return sum(ballot.is_submitted for ballot in ballots_of(c, judge.key))


def organizer_link(site: Site) -> str:
    """Make a link of the dashboard."""
    with site.store.write() as c:
        return issue_organizer_link(c, site.id)


def test_organizers_see_their_own_study(studies: StudiesFolder) -> None:
    """Links that a dashboard makes lead to its study; no page lists studies."""
    key, token = with_site(studies, "one", organizer_link)
    theirs, _ = with_site(studies, "two", organizer_link)
    client = Browser(studies)
    client.get(f"/s/{key}/d/{token}")
    page = client.post(f"/s/{key}/dashboard/judges/links").text
    assert f"http://localhost/s/{key}/j/" in page
    assert client.get(f"/s/{theirs}/dashboard").status_code == 401
    for path in ("/", "/s/", "/s", "/dashboard", "/s/nothing/judge", f"/s/{key}x/judge"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert key not in answer.text
    assert client.get("/healthz").text == "ok"
    assert client.get(f"/s/{key}/healthz").text == "ok"
    script = re.search(r'src="([^"]+\.js)"', client.get(f"/s/{key}/dashboard").text)
    assert script
    assert client.get(script[1]).status_code == 200


def test_a_broken_study_keeps_no_other_from_being_served(tmp_path: Path) -> None:
    """Its address says that it is not to be shown, until it is mended."""
    write_studies(tmp_path, "one", "two")
    study = tmp_path / "two" / "study.yaml"
    whole = study.read_text()
    study.write_text(whole.replace("experience: 5", "experience: five"))
    studies = StudiesFolder(tmp_path)
    assert list(studies.broken) == [study]
    assert "'five' is not a number" in studies.broken[study]
    client, prefix, _ = judge_of(studies, "one")
    assert client.get(f"{prefix}/judge").status_code == 200
    study.write_text(whole)
    (tmp_path / "two" / "solutions").rename(tmp_path / "two" / "away")
    key = hashlib.sha256(b"two").hexdigest()[:10]
    answer = client.get(f"/s/{key}/judge")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    (tmp_path / "two" / "away").rename(tmp_path / "two" / "solutions")
    assert client.get(f"/s/{key}/judge").status_code == 401
    studies.close()


def test_what_is_refused(tmp_path: Path) -> None:
    """What cannot be served is refused, with the places; also a folder without a study."""
    write_studies(tmp_path, "one", "two")
    study = tmp_path / "two" / "study.yaml"
    study.write_text(study.read_text().replace("id: two", "id: one", 1))
    with pytest.raises(QuemError, match=r"two/study\.yaml: id: has the same id as .*one/study"):
        StudiesFolder(tmp_path)
    write_studies(tmp_path / "folder", "three", "four")
    with pytest.raises(QuemError, match="one SQLite file cannot hold several studies"):
        StudiesFolder(tmp_path / "folder", str(tmp_path / "all.sqlite3"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(QuemError, match=r"holds no folder with a study\.yaml"):
        StudiesFolder(tmp_path / "empty")


def test_only_some_are_open(tmp_path: Path, database: str | None) -> None:
    """Those that were not used for longest are closed; their work is there when somebody comes."""
    names = [f"study-{n}" for n in range(5)]
    write_studies(tmp_path, *names)
    studies = StudiesFolder(tmp_path, database, most_open=2)
    browsers = [judge_of(studies, name) for name in names]
    for client, prefix, _ in browsers:
        rank(client, prefix)
        assert len(studies._open) <= 2  # noqa: SLF001  what this is about
    for client, prefix, _ in browsers:
        assert "Submitted" in client.get(f"{prefix}/judge").text
    studies.close()


def test_health_is_that_of_the_shared_database(tmp_path: Path) -> None:
    """Whoever watches the server learns that it does not answer; so do the studies' addresses."""
    write_studies(tmp_path, "one")
    studies = StudiesFolder(tmp_path, "postgresql://nobody@127.0.0.1:1/none")
    client = Browser(studies)
    assert client.get("/healthz").status_code == 503
    assert client.get(f"/s/{next(iter(studies.paths))}/judge").status_code == 503
    studies.close()
