"""Draws the bicycles and the wishes of this study: invented, and always the same."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
HEADER = ["id", "type", "frame", "brakes", "gears", "drive", "height", "weight", "age", "price"]
TYPES = {
    # share, gears, height in cm, weight in kg, price new, brakes, drives
    "city": (0.30, (1, 3, 7, 8), 174, 17.5, 750, ("rim", "coaster"), ("chain", "belt")),
    "touring": (0.22, (21, 24, 27), 177, 15.5, 1200, ("rim", "disc"), ("chain", "belt")),
    "road": (0.16, (16, 20, 22), 179, 9.0, 1900, ("rim", "disc"), ("chain",)),
    "mountain": (0.20, (12, 24, 27), 178, 13.5, 1500, ("disc",), ("chain",)),
    "cargo": (0.12, (8, 10, 27), 176, 31.0, 2600, ("disc", "coaster"), ("chain", "belt")),
}
FRAMES = ("steel", "aluminium", "carbon")
CASES, WISHES, SEED = 240, 40, 5


def bicycle(rng: np.random.Generator, name: str) -> list[object]:
    """Draw one bicycle."""
    kinds = list(TYPES)
    kind = str(rng.choice(kinds, p=[TYPES[k][0] for k in kinds]))
    _, gears, height, weight, price, brakes, drives = TYPES[kind]
    age = int(min(rng.exponential(5.0), 25))
    frame = str(rng.choice(FRAMES, p=(0.1, 0.5, 0.4) if kind == "road" else (0.35, 0.62, 0.03)))
    heavier = {"steel": 1.5, "aluminium": 0.0, "carbon": -1.5}[frame]
    worth = price * {"steel": 0.9, "aluminium": 1.0, "carbon": 1.7}[frame] * 0.87**age
    return [
        name,
        kind,
        frame,
        str(rng.choice(brakes)),
        int(rng.choice(gears)),
        str(rng.choice(drives)),
        int(rng.normal(height, 7)),
        round(float(rng.normal(weight + heavier, 1.2)), 1),
        age,
        int(max(40, round(worth * rng.lognormal(0, 0.25) / 10) * 10)),
    ]


def write(name: str, rows: list[list[object]]) -> None:
    """Write a table beside this script."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([HEADER, *rows])


def main() -> None:
    """Write the case base and the queries."""
    rng = np.random.default_rng(SEED)
    write("bicycles.csv", [bicycle(rng, f"b{number:03}") for number in range(1, CASES + 1)])
    wishes = [bicycle(rng, f"w{number:02}") for number in range(1, WISHES + 1)]
    for wish in wishes:
        # People say some of what they want, and not all of it.
        for place in range(2, len(HEADER)):
            if rng.random() < 0.2:  # noqa: PLR2004
                wish[place] = ""
    write("wishes.csv", wishes)


if __name__ == "__main__":
    main()
