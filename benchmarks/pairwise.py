"""How fast decisions on pairs become worths with errors, beside evalica and choix.

10,000,000 decisions by 1,000 judges on pairs of 200 solvers, 10 problems, ids as texts. Whole
processes, from the file to the result, are measured: CPU seconds of all threads and the most
memory. evalica gives worths without errors; choix, which takes much longer, gets a tenth of the
decisions, without ties. Run with ``nox -s bench -- pairwise``. Prints a table, and exits with 1
where a demand is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

DECISIONS, JUDGES, PROBLEMS, SOLVERS = 10_000_000, 1_000, 10, 200
# One thread: waiting threads would count as CPU seconds.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
MOST_CPU = {"parquet": 10.0, "csv": 15.0}
MOST_MEMORY, OF_EVALICA_CPU, OF_EVALICA_MEMORY = 1024.0, 0.5, 0.25
SAME = 1e-9

_MEASURED = """
import json, resource, sys
{work}
used = resource.getrusage(resource.RUSAGE_SELF)
spent = used.ru_utime + used.ru_stime
print(json.dumps([spent, used.ru_maxrss / 1024, value]))
"""
OURS = """
import quem
averages = quem.analyze(quem.load_study(sys.argv[1])).core.averages
assert averages.errors is not None
value = averages.scale.model.log_likelihood
"""
# Columns of texts, as pandas reads them; a tie counts one half.
EVALICA = """
import evalica, pandas
frame = pandas.read_parquet(sys.argv[1])
verdict = frame["tie"].map({"": evalica.Winner.X, "1": evalica.Winner.Draw})
evalica.bradley_terry(frame["winner"], frame["loser"], verdict)
value = 0
"""
CHOIX = """
import choix, pandas
frame = pandas.read_parquet(sys.argv[1]).iloc[: int(sys.argv[2])]
frame = frame[frame["tie"] == ""]
codes, _ = pandas.factorize(pandas.concat([frame["winner"], frame["loser"]]))
pairs = list(zip(codes[: len(frame)].tolist(), codes[len(frame) :].tolist()))
choix.ilsr_pairwise(codes.max() + 1, pairs, alpha=0.01)
value = 0
"""


def main() -> int:
    """Measure each in turn and print a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of itself: the memory of the parent counts as that of what it starts.
        subprocess.run([sys.executable, __file__, name], check=True)
        file = str(folder / "decisions.parquet")
        rows = {f"quem, {kind}": measured(OURS, str(folder / f"{kind}.yaml")) for kind in MOST_CPU}
        value = rows["quem, parquet"][2]
        rows["evalica"] = measured(EVALICA, file)
        rows["choix, a tenth"] = measured(CHOIX, file, str(DECISIONS // 10))
        plain = uncounted(folder, value)
    print(f"{DECISIONS:,} decisions on {SOLVERS} solvers, from the file to worths, with imports")
    for what, (spent, memory, _) in rows.items():
        print(f"{what:<16}  {spent:>7.1f} CPU s  {memory:>7,.0f} MiB")
    demands = [
        *(
            (f"CPU seconds, {kind}", rows[f"quem, {kind}"][0], most)
            for kind, most in MOST_CPU.items()
        ),
        ("MiB, parquet", rows["quem, parquet"][1], MOST_MEMORY),
        ("CPU / evalica", rows["quem, parquet"][0] / rows["evalica"][0], OF_EVALICA_CPU),
        ("memory / evalica", rows["quem, parquet"][1] / rows["evalica"][1], OF_EVALICA_MEMORY),
        ("log-likelihood, counted and not, relative difference", plain, SAME),
    ]
    for what, found, most in demands:
        print(f"{what}: {found:.3g} (at most {most:g}{'' if found <= most else ': MISSED'})")
    return 0 if all(found <= most for _, found, most in demands) else 1


def measured(work: str, *arguments: str) -> tuple[float, float, float]:
    """CPU seconds, MiB, and the value that a process finds."""
    command = [sys.executable, "-c", _MEASURED.format(work=work), *arguments]
    output = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **ALONE}
    )
    spent, memory, value = json.loads(output.stdout)
    return float(spent), float(memory), float(value)


def write(folder: Path) -> None:
    """Draw decisions by the model with ties, and write them with their study files."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=SOLVERS)
    first = rng.integers(SOLVERS, size=DECISIONS)
    second = (first + 1 + rng.integers(SOLVERS - 1, size=DECISIONS)) % SOLVERS
    other = np.exp((theta[second] - theta[first]) / 2)
    tie = other / 2
    drawn = rng.random(DECISIONS) * (1 + other**2 + tie)
    wins, ties = drawn < 1, (drawn >= 1) & (drawn < 1 + tie)
    columns = {
        "judge": texts("J", rng.integers(JUDGES, size=DECISIONS), JUDGES),
        "problem": texts("P", rng.integers(PROBLEMS, size=DECISIONS), PROBLEMS),
        "winner": texts("S", np.where(wins | ties, first, second), SOLVERS),
        "loser": texts("S", np.where(wins | ties, second, first), SOLVERS),
        "tie": pa.DictionaryArray.from_arrays(pa.array(ties.astype(np.int8)), ["", "1"]),
    }
    table = pa.table({name: column.cast(pa.string()) for name, column in columns.items()})
    parquet.write_table(table, folder / "decisions.parquet")
    csv.write_csv(table, folder / "decisions.csv")
    lines = ["problems:", *(f"  - {{id: P{at}}}" for at in range(PROBLEMS))]
    lines += ["judges:", *(f"  - {{id: J{at}}}" for at in range(JUDGES))]
    years = theta.argsort().argsort() / 10
    lines += ["subjects:"]
    lines += [f"  - {{id: S{at}, experience: {years[at]}}}" for at in range(SOLVERS - 1)]
    lines += ["systems:", f"  - {{id: S{SOLVERS - 1}}}"]
    for kind in MOST_CPU:
        text = "\n".join([*lines, f"rankings: {{from: decisions, file: decisions.{kind}}}", ""])
        (folder / f"{kind}.yaml").write_text(text, encoding="utf-8")


def texts(letter: str, codes: np.ndarray, n: int) -> pa.DictionaryArray:
    """Ids made of a letter and a number."""
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int16)), [f"{letter}{at}" for at in range(n)]
    )


def uncounted(folder: Path, value: float) -> float:
    """The relative difference to the log-likelihood of each decision for itself."""
    import quem

    study = quem.load_study(folder / "parquet.yaml", kind="experience")
    model = quem.analyze(study).core.averages.scale.model  # type: ignore[attr-defined]
    frame = parquet.read_table(folder / "decisions.parquet")
    codes = [
        np.array([int(word[1:]) for word in column.dictionary.to_pylist()])[column.indices]
        for name in ("winner", "loser")
        for column in [frame[name].combine_chunks().dictionary_encode()]
    ]
    tied = np.asarray(frame["tie"]) == "1"
    # Solvers are numbered in the order of the study file, which is that of their ids.
    lead = model.log_worth[codes[0]] - model.log_worth[codes[1]]
    tie = model.ties[2] * np.exp(-lead / 2)
    total = 1 + np.exp(-lead) + tie
    plain = float(np.log(np.where(tied, tie, 1.0) / total).sum())
    return abs(plain - value) / abs(value)


if __name__ == "__main__":
    if sys.argv[1:]:
        write(Path(sys.argv[1]))
    else:
        sys.exit(main())
