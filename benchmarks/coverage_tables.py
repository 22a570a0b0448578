"""What the coverage study found, as a table of cells, as text, and in docs/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from quem.report.drawing import INK, LINE, MUTED, SYSTEMS, svg_text, tidy, with_style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

CASE = ["truth", "difference", "taste", "noise", "subjects", "judges", "problems"]
TRUTHS = {
    "peer": "a peer",
    "typical": "typical, 6.5 years",
    "outside": "typical, 14 years",
    "missing": "a peer, a fifth absent",
    "few problems": "a peer, a third of the problems",
    "blocks": "a peer, in blocks of 8",
    "two studies": "two peers of two studies",
}
INTERVALS = {
    "prediction": "`prediction`",
    "prediction, inside": "`prediction`, where inside the range",
    "at least": "one-sided bound above the range",
    "at most": "one-sided bound below the range",
    "mean": "`mean`: the paper's band",
    "calibration": "`calibration`",
    "bootstrap": "bootstrap of judges × problems × subjects",
    "prediction by worths": "prediction, by worths",
    "calibration by worths": "calibration, by worths",
}
TASTES = {
    "none": "no taste",
    "all": "a taste for each solver",
    "systems": "a taste for systems only",
}
ERRORS = [
    ("difference", 2.0, "difference by regression", "2 years, by regression"),
    ("difference", 4.0, "difference by regression", "4 years, by regression"),
    ("difference", 2.0, "difference by calibration", "2 years, by calibration"),
    ("difference", 4.0, "difference by calibration", "4 years, by calibration"),
    ("difference", 2.0, "difference", "2 years, by worths"),
    ("difference", 4.0, "difference", "4 years, by worths"),
    ("outside", 0.0, "prediction", "a system of 14 years, by regression"),
    ("outside", 0.0, "calibration", "a system of 14 years, by calibration"),
    ("outside", 0.0, "calibration by worths", "a system of 14 years, by calibration on worths"),
]
NOMINAL = 95
FEWEST_SUBJECTS = 7
# Which tables stand in which page of docs/explanation.
PAGES = {"intervals.md": ("estimates",), "differences.md": ("errors", "differences")}
_BEGIN, _END = "<!-- {} begin -->", "<!-- {} end -->"


def collect(parts: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Add the parts of each case up: a row for each case and interval, in a fixed order."""
    rows = [{**part["case"], "part": part["part"], **row} for part in parts for row in part["rows"]]
    frame = pd.DataFrame(rows).sort_values([*CASE, "interval", "part"])
    groups = frame.groupby([*CASE, "interval"], sort=True)
    table = groups[["studies", "defined", "covered"]].sum()
    # The means over parts of their medians.
    table[["width", "error"]] = groups[["width", "error"]].mean()
    return table.reset_index()


def text(table: pd.DataFrame) -> str:
    """All tables as Markdown."""
    return "\n\n".join(make(table) for make in TABLES.values())


def write_docs(table: pd.DataFrame, docs: Path) -> None:
    """Write docs/coverage.csv, the figure, and the tables in docs/explanation."""
    table.to_csv(docs / "coverage.csv", index=False, float_format="%.4g", lineterminator="\n")
    with with_style():
        svg = svg_text(figure(table), "coverage")
    (docs / "images" / "coverage.svg").write_text(svg, encoding="utf-8")
    for name, tables in PAGES.items():
        page = docs / "explanation" / name
        page.write_text(filled(page.read_text(encoding="utf-8"), table, tables), encoding="utf-8")


def filled(page: str, table: pd.DataFrame, names: Sequence[str]) -> str:
    """Put the named tables between their marks."""
    for name in names:
        page = between(page, name, TABLES[name](table))
    return page


def between(page: str, name: str, table: str) -> str:
    """Put a table between the marks of its name."""
    before, begin, rest = page.partition(_BEGIN.format(name))
    _, end, after = rest.partition(_END.format(name))
    if not begin or not end:
        raise ValueError(f"the page has no marks for the table {name!r}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def estimates_table(table: pd.DataFrame) -> str:
    """Coverage and width of each interval for the experience of a system, low / high noise."""
    header = ["interval", *TRUTHS.values(), "width for a peer"]
    lines = [_row(header), _row(["---"] * len(header))]
    for interval, name in INTERVALS.items():
        of = table[table["interval"] == interval]
        cells = [_pair(of[of["truth"] == truth], _percent) for truth in TRUTHS]
        width = _pair(of[of["truth"] == "peer"], _width)
        lines.append(_row([name, *cells, width]))
    return "\n".join(lines)


def differences_table(table: pd.DataFrame) -> str:
    """Coverage of the interval for differences: mean, lowest and highest cell."""
    header = ["judges", "problems", *TASTES.values(), "defined", "width, low / high noise"]
    lines = [_row(header), _row(["---"] * len(header))]
    every = table[table["interval"] == "difference"]
    enough = every["subjects"] >= FEWEST_SUBJECTS
    of_designs = every[enough].groupby(["judges", "problems"])
    rows = [([f"{judges}", f"{problems}"], of) for (judges, problems), of in of_designs]
    few = every[~enough & ((every["judges"] > 2) | (every["problems"] <= 6))]  # noqa: PLR2004
    if len(few):
        rows.append((["any", "any, but 5 subjects"], few))
    for design, of in rows:
        cells = [_spread(of[of["taste"] == taste]) for taste in TASTES]
        defined = f"{100 * of['defined'].sum() / of['studies'].sum():.0f}%"
        lines.append(_row([*design, *cells, defined, _pair(of, _width)]))
    return "\n".join(lines)


def errors_table(table: pd.DataFrame) -> str:
    """The median error of each estimate, low / high noise."""
    header = ["estimate", "7 subjects", "12 subjects", "20 subjects"]
    lines = [_row(header), _row(["---"] * len(header))]
    for truth, difference, interval, name in ERRORS:
        of = table[(table["truth"] == truth) & (table["interval"] == interval)]
        of = of[(of["difference"] == difference) & (of["taste"] == "all")]
        cells = [_pair(of[of["subjects"] == n], _error) for n in (7, 12, 20)]
        lines.append(_row([name, *cells]))
    return "\n".join(lines)


TABLES = {
    "estimates": estimates_table,
    "differences": differences_table,
    "errors": errors_table,
}


def figure(table: pd.DataFrame) -> Figure:
    """Every cell as a dot: the coverage of each interval in each situation."""
    drawn = Figure(figsize=(9.2, 4.6))
    shown = [name for name in INTERVALS if name != "prediction, inside"]
    truths = ["peer", "typical", "outside", "difference"]
    every = drawn.subplots(1, 4, sharex=True)
    drawn.subplots_adjust(left=0.2, right=0.985, bottom=0.11, top=0.9, wspace=0.08)
    titles = {**TRUTHS, "difference": "a difference"}
    rng = np.random.default_rng(0)
    for axes, truth in zip(every, truths, strict=True):
        of = table[(table["truth"] == truth) & (table["defined"] >= 20)]  # noqa: PLR2004
        names = shown if truth != "difference" else [f"difference, {t}" for t in TASTES]
        label = of["interval"]
        if truth == "difference":
            label = label + ", " + of["taste"]
        for at, name in enumerate(names):
            cells = of[label == name]
            y = at + rng.uniform(-0.28, 0.28, len(cells))
            x = 100 * cells["covered"] / cells["defined"]
            for noise, color in (("low", LINE), ("high", SYSTEMS[0])):
                of_noise = cells["noise"] == noise
                axes.plot(
                    x[of_noise], y[of_noise.to_numpy()], "o", ms=2.6, mew=0, c=color, alpha=0.55
                )
        axes.axvline(NOMINAL, color=INK, linewidth=0.8)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_title(titles[truth])
        tidy(axes, x="covered, %", grid="x")
        if axes is every[0]:
            axes.set_yticks(range(len(names)), [_plain(INTERVALS[name]) for name in names])
        elif truth == "difference":
            axes.set_yticks([])
            for at, taste in enumerate(TASTES.values()):
                axes.annotate(taste, (2, at - 0.36), color=MUTED, fontsize=8)
        else:
            axes.set_yticks(range(len(names)), [""] * len(names))
        axes.set_xlim(0, 103)
        axes.set_xticks([0, 50, NOMINAL])
    return drawn


def _plain(name: str) -> str:
    name = name.replace("`", "").replace("bootstrap of judges × problems × subjects", "bootstrap")
    return name.replace("mean: the paper's band", "mean (the paper's)").replace(
        "one-sided bound", "bound"
    )


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pair(of: pd.DataFrame, show: Any) -> str:  # noqa: ANN401  a function of a table
    if not len(of):
        return ""
    return " / ".join(show(of[of["noise"] == noise]) for noise in ("low", "high"))


def _percent(of: pd.DataFrame) -> str:
    defined = of["defined"].sum()
    # Below a thousandth of the studies there is nothing to say.
    if defined < of["studies"].sum() / 1000 or not defined:
        return "–"
    return f"{100 * of['covered'].sum() / defined:.0f}"


def _width(of: pd.DataFrame) -> str:
    width = of["width"].mean()
    return f"{width:.1f}" if np.isfinite(width) else "–"


def _error(of: pd.DataFrame) -> str:
    error = of["error"].mean()
    return f"{error:+.1f}".replace("-", "−") if np.isfinite(error) else "–"


def _spread(of: pd.DataFrame) -> str:
    share = 100 * of["covered"] / of["defined"]
    total = 100 * of["covered"].sum() / of["defined"].sum()
    return f"{total:.1f} ({share.min():.1f}–{share.max():.1f})"
