#!/usr/bin/env python3
"""The velocity around a cylinder that swings in a fluid at rest, at three phases, beside the measured one.

    benchmarks/oscillating.py LBMC OUT [FINEST ...]

LBMC is a release build of lbmc, OUT where the results go. The case is `oscillating_cylinder` with periods of 1200 steps, of which the phases
180, 210 and 330 degrees are whole numbers, and 8 cells across the cylinder times two for each level, for the finest levels given (1 and 2).
Printed is how far the velocity along four lines in the last of five periods is from the measured one, of points outside of the cylinder: mean
and rms over the largest velocity of the cylinder; and how far that of one grid is from that of the next.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

PERIOD, PERIODS, DIAMETER, SPEED = 1200, 5, 8, 0.04 * 1000 / 1200
CENTRE = (128, 96)
LINES = (-0.6, 0.0, 0.6, 1.2)
POINTS = 89


def measured():
    path = Path(__file__).parent / "reference/oscillating_cylinder.csv"
    with path.open() as table:
        rows = csv.DictReader(line for line in table if not line.startswith("#"))
        return [tuple(float(row[name]) for name in ("phase", "x", "y", "u")) for row in rows]


def run(lbmc, out, finest):
    text = subprocess.run([lbmc, "cases", "oscillating_cylinder"], check=True, capture_output=True, text=True).stdout
    text = text.replace("2*pi*t/1000", f"2*pi*t/{PERIOD}").split("[[pictures]]")[0]
    for number, line in enumerate(LINES):
        x = CENTRE[0] + line * DIAMETER
        low, high = (CENTRE[1] + sign * 1.1 * DIAMETER for sign in (-1, 1))
        text += f"[[probes]]\nname = 'line{number}'\nfrom = [{x}, {low}]\nto = [{x}, {high}]\npoints = {POINTS}\nfields = ['ux']\nevery = 100\n"
    (out / "oscillating.toml").write_text(text)
    sets = [f"fluid.velocity={SPEED}", f"refinement.finest={finest}", f"stop.steps={PERIOD * PERIODS}"]
    command = [lbmc, "run", out / "oscillating.toml", "--out", out / f"run{finest}"]
    subprocess.run(command + [part for value in sets for part in ("--set", value)], check=True, capture_output=True)
    found = {}
    for number, line in enumerate(LINES):
        with (out / f"run{finest}/probe_line{number}.csv").open() as table:
            for row in csv.DictReader(line for line in table if not line.startswith("#")):
                phase = (int(row["step"]) - PERIOD * (PERIODS - 1)) * 360 // PERIOD
                found.setdefault((phase, line), []).append(((float(row["y"]) - CENTRE[1]) / DIAMETER, float(row["ux"]) / SPEED))
    return found


def at(line, y):
    """Linear between the points of a line; NaN in the cylinder."""
    for (low, one), (high, other) in zip(line, line[1:]):
        if low <= y <= high:
            return one + (other - one) * (y - low) / (high - low)
    return float("nan")


def differences(pairs):
    off = [one - other for one, other in pairs if one == one and other == other]
    return {"points": len(off), "mean": sum(off) / len(off), "rms": (sum(value**2 for value in off) / len(off)) ** 0.5}


def main(lbmc, out, *finest):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    results, before = {}, None
    for level in [int(level) for level in finest] or [1, 2]:
        found = run(lbmc, out, level)
        for phase in (180, 210, 330):
            pairs = [(at(found[phase, x], y), u) for of, x, y, u in measured() if of == phase]
            results[f"{DIAMETER << level} cells, phase {phase}, against the measured one"] = differences(pairs)
            if before:
                pairs = [(u, at(before[phase, x], y)) for x in LINES for y, u in found[phase, x]]
                results[f"{DIAMETER << level} cells, phase {phase}, against half as many"] = differences(pairs)
        before = found
    (out / "oscillating.json").write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
