#!/usr/bin/env python3
"""Spheres that settle in a periodic box: their mean velocity against the law of Richardson & Zaki (Trans. Inst. Chem. Eng. 32 (1954) 35).

    benchmarks/settling.py LBMC OUT [SPHERES [VOLUME_FRACTION [DIAMETER [DIAMETERS [GALILEO [VISCOSITY]]]]]]

LBMC is a release build of lbmc, OUT where the results go. Spheres of 1.5 times the density of the fluid begin at rest at random places, and
settle for so long as one alone takes for so many of its diameters. GALILEO is sqrt((1.5 - 1) g d^3) over the viscosity; one sphere alone
has the Reynolds number 4 at 10, and 0.12 at 1.5, for which a VISCOSITY of 0.5 takes fewer steps than the default 0.1. The mean and its error
are those of the last three quarters of that time.

The law is for many spheres in a vessel. At a small Reynolds number `benchmarks/settling-stokes.py` says what a box of so many has.

A periodic box has no mean gradient of pressure. In a vessel it balances the excess weight of all spheres, so here a force of that weight
acts on the fluid, and spheres have 1 - VOLUME_FRACTION of their own: what the gradient leaves of it. Forces add up to nothing; spheres and
fluid keep no momentum together (but for what cells that are covered and uncovered take: found, up to 12 % of that of the fluid, 3 % of the
velocity). The velocity is that of the spheres relative to the flux of volume of both, which is nothing in a vessel.
"""

import csv
import json
import math
import random
import subprocess
import sys
from pathlib import Path

DENSITY = 1.5


def terminal(galileo):
    """Reynolds number of one sphere alone, with the drag of Schiller & Naumann."""
    low, high = 1e-3, 1e3
    while high - low > 1e-9 * high:
        re = math.sqrt(low * high)
        drag = 24 / re * (1 + 0.15 * re**0.687)
        low, high = (re, high) if 0.75 * drag * re**2 < galileo**2 else (low, re)
    return low


def places(count, side, apart, seed=1):
    """Random places in a periodic box, so far apart."""
    random.seed(seed)
    found = []
    while len(found) < count:
        new = [random.uniform(0, side) for _ in range(3)]
        square = (sum(((a - b + side / 2) % side - side / 2) ** 2 for a, b in zip(new, other)) for other in found)
        if all(distance > apart**2 for distance in square):
            found.append(new)
    return found


def case(spheres, fraction, diameter, galileo, viscosity, steps):
    volume = math.pi / 6 * diameter**3
    side = 4 * round((spheres * volume / fraction) ** (1 / 3) / 4)
    fraction = spheres * volume / side**3
    gravity = (galileo * viscosity) ** 2 / ((DENSITY - 1) * diameter**3)
    lines = [
        'spec = "d3q19_trt_guo"',
        'precision = "f64"',
        "block = [4, 4, 4]",
        f"domain.size = [{side}, {side}, {side}]",
        f"fluid = {{ viscosity = {viscosity}, velocity = {terminal(galileo) * viscosity / diameter}, length = {diameter} }}",
        f"params = {{ magic = 0.1875, force = [0, 0, {fraction * (DENSITY - 1) * gravity}] }}",
        'faces.others = "periodic"',
        f"stop.steps = {steps}",
        "output = { directory = 'out/settling', forces = 20 }",
    ]
    for centre in places(spheres, side, diameter + 1):
        lines += [
            "[[solids]]",
            f"shape = 'sphere'\ncentre = {centre}\nradius = {diameter / 2}",
            "rule = 'interpolated_moving_wall'",
            f"motion = {{ free = true, density = {DENSITY}, gravity = [0, 0, {-gravity * (1 - fraction)}] }}",
        ]
    return "\n".join(lines) + "\n", fraction


def main(lbmc, out, spheres=64, fraction=0.15, diameter=8, diameters=15, galileo=10, viscosity=0.1):
    spheres, fraction, diameter, galileo, viscosity = int(spheres), float(fraction), float(diameter), float(galileo), float(viscosity)
    re = terminal(galileo)
    alone = re * viscosity / diameter
    steps = round(float(diameters) * diameter / alone)
    text, fraction = case(spheres, fraction, diameter, galileo, viscosity, steps)
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "settling.toml").write_text(text)
    subprocess.run([lbmc, "run", out / "settling.toml", "--out", out / "run"], check=True)
    means = {}
    with (out / "run/forces.csv").open() as table:
        for row in csv.DictReader(line for line in table if not line.startswith("#")):
            means.setdefault(int(row["step"]), []).append(float(row["vz"]))
    # Spheres against the flux of volume: (1 - c) (v - w), and the fluid has the momentum of the spheres: (1 - c) w = -density c v.
    settle = [(step, -(1 - fraction + DENSITY * fraction) * sum(all) / len(all) / alone) for step, all in means.items()]
    parts = [[value for step, value in settle if steps * (2 + at) / 8 <= step < steps * (3 + at) / 8] for at in range(6)]
    parts = [sum(part) / len(part) for part in parts]
    mean = sum(parts) / len(parts)
    error = math.sqrt(sum((part - mean) ** 2 for part in parts) / (len(parts) * (len(parts) - 1)))
    exponent = 4.65 if re < 0.2 else 4.35 * re**-0.03 if re < 1 else 4.45 * re**-0.1
    result = {
        "spheres": spheres, "volume_fraction": fraction, "diameter": diameter, "steps": steps, "re": re, "velocity": mean, "error": error,
        "exponent": exponent, "richardson_zaki": (1 - fraction) ** exponent, "parts": parts,
    }  # fmt: skip
    (out / "settling.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
