#!/usr/bin/env python3
"""Compares flows between walls of every rule on the host and on the GPU: `agree_walls.py LBMC`.

A duct of 32x16x16 cells (64x32 in two dimensions) in f64, between walls and an inlet and an outlet of each kind that the
prelude has, for 200 steps. The velocities along the centre lines must agree to 1e-12 of the inlet's. Prints a table.
"""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

SPECS = {"d2q9_bgk": [64, 32], "d3q19_bgk": [32, 16, 16], "d3q27_bgk": [32, 16, 16]}
SPEED = 0.05
BOUND = 1e-12
INLETS = ["zou_he_velocity", "regularized_velocity", "moving_wall"]
OUTLETS = {
    "zou_he_pressure": "density = 1.0",
    "regularized_pressure": "density = 1.0",
    "anti_bounce_back": "density = 1.0",
    "extrapolation_outflow": "",
    "convective_outflow": "speed = 0.05",
    "equilibrium": "density = 1.0, velocity = {velocity}",
}
SIDES = {"bounce_back": "", "free_slip": "", "interpolated_bounce_back": "distance = 0.3"}


def rule(name, params, velocity):
    params = params.format(velocity=velocity)
    return f'{{ rule = "{name}"{", " if params else ""}{params} }}'


def case(spec, size, inlet, outlet, side):
    velocity = [SPEED] + [0.0] * (len(size) - 1)
    start = f"velocity = {velocity}"
    return f"""
spec = "{spec}"
precision = "f64"
[domain]
size = {size}
[fluid]
omega = 1.5
[faces]
left = {rule(inlet, start, velocity)}
right = {rule(outlet, OUTLETS[outlet], velocity)}
others = {rule(side, SIDES[side], velocity)}
[start]
{start}
[stop]
steps = 200
[output]
profiles = true
"""


def numbers(folder):
    """All numbers of the tables in a folder; a table has lines of comment, a line of names, then numbers."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        found += [float(number) for line in lines[1:] for number in line.split(",") if number]
    return found


def main():
    lbmc, failed = sys.argv[1], 0
    sides = itertools.cycle(SIDES)
    with tempfile.TemporaryDirectory() as temporary:
        for spec, size in SPECS.items():
            for inlet, outlet in itertools.product(INLETS, OUTLETS):
                side = next(sides)
                path = Path(temporary, "case.toml")
                path.write_text(case(spec, size, inlet, outlet, side))
                runs = []
                for target in ("cpu", "cuda"):
                    out = Path(temporary, f"{spec}-{inlet}-{outlet}-{target}")
                    command = [lbmc, "run", path, "--set", f"target={target}", "--out", out]
                    ran = subprocess.run(command, capture_output=True, text=True)
                    if ran.returncode:
                        sys.exit(f"{spec} {inlet} {outlet} {side} {target}\n{ran.stdout}{ran.stderr}")
                    runs.append(numbers(out))
                worst = max(abs(a - b) for a, b in zip(*runs, strict=True))
                moved = max(map(abs, runs[0]))
                failed += not (worst <= BOUND and moved > 0)
                print(f"{spec:<10} {inlet:<22} {outlet:<24} {side:<26} {worst:.1e}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
