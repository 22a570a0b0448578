"""What is measured in processes of their own, with imports: ``work.py NAME ARGUMENT...``.

Each function prints what it gives as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def analyze_warm(study: str) -> list[float]:
    """Load and analyze, once all is imported: seconds, and MB by which the peak grows."""
    from statsmodels.regression.linear_model import OLS

    import quem.commands.analyze
    import quem.kinds
    import quem.parts
    import quem.rankings.loading

    assert OLS([1.0, 2.0, 4.0], [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]).fit().f_pvalue  # noqa: S101
    return _grown(lambda: quem.kinds.analyze(quem.rankings.loading.load_study(Path(study))))


def read_csv(table: str) -> list[float]:
    """The same of pandas, which only reads the file."""
    import pandas as pd

    return _grown(lambda: pd.read_csv(table))


def _grown(call: Callable[[], object]) -> list[float]:
    before, start = _peak(), time.perf_counter()
    call()
    return [time.perf_counter() - start, _peak() - before]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def plain_numpy(table: str, skill: str) -> float:
    """Average the ranks of a long table, fit a line through people's years, and place a system."""
    import numpy as np

    columns = [("judge", "U8"), ("problem", "U8"), ("solver", "U8"), ("rank", "f8")]
    ranks = np.loadtxt(table, dtype=columns, delimiter=",", skiprows=1)
    solvers, codes = np.unique(ranks["solver"], return_inverse=True)
    averages = np.bincount(codes, ranks["rank"]) / np.bincount(codes)
    years = json.loads(skill)
    people = np.array([name in years for name in solvers])
    known = [years[name] for name in solvers[people]]
    slope, intercept = np.polyfit(averages[people], known, 1)
    return float(intercept + slope * averages[~people][0])


def score(folder: str) -> list[list[float]]:
    """Read and score two runs with quem: the means."""
    from quem.lists import measure
    from quem.scores.scoring import score_runs

    at = Path(folder)
    measures = [measure(name) for name in ("nDCG@10", "AP", "RR", "P@10", "R@100")]
    runs = {name: str(at / f"{name}.run") for name in "ab"}
    means: list[list[float]] = score_runs(runs, str(at / "qrels"), measures).values.mean(1).tolist()
    return means


def score_by_ir_measures(folder: str) -> list[list[float]]:
    """The same as the manual of ir_measures shows."""
    import ir_measures
    from ir_measures import AP, RR, P, R, nDCG

    measures, means = [nDCG @ 10, AP, RR, P @ 10, R @ 100], []
    for name in "ab":
        qrels = ir_measures.read_trec_qrels(f"{folder}/qrels")
        run = ir_measures.read_trec_run(f"{folder}/{name}.run")
        found = ir_measures.calc_aggregate(measures, qrels, run)
        means.append([found[one] for one in measures])
    return means


def worths(study: str) -> float:
    """From a file of decisions to worths with errors: the log-likelihood."""
    import quem

    result: Any = quem.analyze(quem.load_study(study))
    averages = result.core.averages
    assert averages.errors is not None  # noqa: S101  errors are part of what is measured
    return float(averages.scale.model.log_likelihood)


def worths_by_evalica(file: str) -> None:
    """From the file to worths without errors; a tie counts one half."""
    import evalica
    import pandas as pd

    frame = pd.read_parquet(file)
    verdict = frame["tie"].map({"": evalica.Winner.X, "1": evalica.Winner.Draw})
    evalica.bradley_terry(frame["winner"], frame["loser"], verdict)


def worths_by_choix(file: str, decisions: str) -> None:
    """From the file to worths without errors, of the first decisions, without ties."""
    import choix
    import pandas as pd

    frame = pd.read_parquet(file).iloc[: int(decisions)]
    frame = frame[frame["tie"] == ""]
    codes, _ = pd.factorize(pd.concat([frame["winner"], frame["loser"]]))
    pairs = list(zip(codes[: len(frame)].tolist(), codes[len(frame) :].tolist(), strict=True))
    choix.ilsr_pairwise(codes.max() + 1, pairs, alpha=0.01)


def overview(study: str, database: str, token: str) -> list[float]:
    """Open the dashboard's first page six times, in a process that has not shown it before.

    Seconds of the median but the first, kB, and MiB by which the process grows.
    """
    from statistics import median

    from webjudge import create_app, open_site

    site = open_site(Path(study), database)
    client = create_app(site).test_client()
    client.get(f"/d/{token}")
    client.get("/dashboard/events")  # what any page of the dashboard loads
    before, times = _resident(), []
    for _ in range(6):
        start = time.perf_counter()
        answer = client.get("/dashboard")
        times.append(time.perf_counter() - start)
    assert answer.status_code == 200, answer.status  # noqa: PLR2004, S101
    grown = _resident() - before
    site.store.close()
    return [median(times[1:]), len(answer.data) / 1e3, grown]


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1024 / 1024


def serve_as_before(study: str, port: str) -> None:
    """Serve with waitress's own limits and four threads, as quem once did."""
    from waitress import serve

    from quem.store.people import issue_link, people_of
    from webjudge import create_app, open_site

    site = open_site(Path(study))
    with site.store.write() as c:
        for judge in people_of(c, site.id, "judge"):
            print(f"/j/{issue_link(c, judge, 'shell')}", flush=True)
    serve(create_app(site), host="127.0.0.1", port=int(port), threads=4, ident=None)


if __name__ == "__main__":
    _, chosen, *arguments = sys.argv
    print(json.dumps(globals()[chosen](*arguments)))
