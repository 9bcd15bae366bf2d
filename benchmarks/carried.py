#!/usr/bin/env python3
"""Noise of the force on a cylinder that is carried through a fluid at rest, in single steps.

    benchmarks/carried.py LBMC OUT [REYNOLDS ...]

LBMC is a release build of lbmc, OUT where the results go. The cylinder is 16 cells wide and comes 0.0487 cells further in each step, so that
it lies in all ways to the grid. Noise is what the force has beyond its mean over the two cells around a step, in the last third of the way;
it is given over the mean force: rms, and the largest value.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

SPEED, DIAMETER = 0.0487, 16
METHODS = {
    "TRT, magic 3/16": ("d2q9_trt", {"magic": 3 / 16}),
    "TRT, magic 1/12": ("d2q9_trt", {"magic": 1 / 12}),
    "TRT, magic 0.01": ("d2q9_trt", {"magic": 0.01}),
    "BGK": ("d2q9_bgk", {}),
    "recursive": ("d2q9_recursive", {}),
}
STEPS = 3300


def case(spec, params, reynolds):
    lines = [
        f'spec = "{spec}"',
        'precision = "f64"',
        "block = [8, 8]",
        "domain.size = [288, 128]",
        f"fluid = {{ re = {reynolds}, velocity = {SPEED}, length = {DIAMETER} }}",
        'faces.others = { rule = "equilibrium", density = 1, velocity = [0, 0] }',
        f"stop.steps = {STEPS}",
        "output = { directory = 'out/carried', forces = 1 }",
        "[params]",
        *(f"{name} = {value}" for name, value in params.items()),
        "[[solids]]",
        f"shape = 'cylinder'\ncentre = [60.3, 64.13]\nradius = {DIAMETER / 2}",
        "rule = 'interpolated_moving_wall'",
        f"motion = {{ displacement = ['{SPEED} * (t - 300 * (1 - exp(-t/300)))', 0] }}",
    ]
    return "\n".join(lines) + "\n"


def noise(forces):
    around = round(1 / SPEED)
    steps = range(len(forces) * 2 // 3, len(forces) - around)
    smooth = {step: sum(forces[step - around : step + around + 1]) / (2 * around + 1) for step in steps}
    mean = sum(smooth.values()) / len(steps)
    off = [abs(forces[step] - smooth[step]) / abs(mean) for step in steps]
    return {
        "drag_coefficient": -2 * mean / (SPEED**2 * DIAMETER), "rms": (sum(value**2 for value in off) / len(off)) ** 0.5, "largest": max(off),
    }  # fmt: skip


def main(lbmc, out, *numbers):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    results = {}
    for reynolds in [float(number) for number in numbers] or [20.0, 100.0]:
        for name, (spec, params) in METHODS.items():
            (out / "carried.toml").write_text(case(spec, params, reynolds))
            subprocess.run([lbmc, "run", out / "carried.toml", "--out", out / "run"], check=True, capture_output=True)
            with (out / "run/forces.csv").open() as table:
                forces = [float(row["fx"]) for row in csv.DictReader(line for line in table if not line.startswith("#"))]
            results[f"Re {reynolds:g}, {name}"] = noise(forces)
            print(f"Re {reynolds:g}, {name}:", json.dumps(results[f"Re {reynolds:g}, {name}"]), flush=True)
    (out / "carried.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
