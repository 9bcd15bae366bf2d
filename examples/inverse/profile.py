#!/usr/bin/env python3
"""Recovers the profile of an inlet from velocities at probes behind a cylinder, by derivatives of their misfit by the velocity at each place of the inlet.

usage: profile.py LBMC     LBMC is the program; needs NumPy and SciPy

The velocity that enters is a sum of sines with unknown amplitudes. `gradient_left.csv` of a run has the derivative of its objective by the velocity
at each place of the face, so the chain rule gives those by the amplitudes (`docs/adjoint.md`). L-BFGS-B finds them from 24 probes.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import minimize

CASE = """
spec = "d2q9_trt"
target = "cpu"
precision = "f64"
[domain]
size = [64, 32]
[fluid]
viscosity = 0.08
velocity = 0.05
length = 32
[params]
magic = 0.1875
[faces]
left = {{ rule = "moving_wall", velocity = ["{profile}", 0] }}
right = {{ rule = "anti_bounce_back", density = 1 }}
others = "bounce_back"
[[solids]]
shape = "cylinder"
centre = [20.2, 16.1]
radius = 4.3
rule = "interpolated_bounce_back"
[stop]
steps = 600
[gradient]
objective = "{objective}"
weight = "{weight}"
[output]
directory = "unused"
"""

WIDTH = 32
TRUE = np.array([0.05, 0.012, -0.008, 0.004])
PROBES = [(x, y) for x in (36, 44, 52, 60) for y in (3, 8, 13, 18, 23, 28)]


def sines(y):
    """The sines that the profile is a sum of, at a place of the inlet."""
    return np.sin(np.pi * np.outer(y, np.arange(1, len(TRUE) + 1)) / WIDTH)


def profile(amplitudes):
    return " + ".join(f"({amplitude!r}) * sin({number} * pi * y / {WIDTH})" for number, amplitude in enumerate(map(float, amplitudes), 1))


def at_probes(factors):
    """A formula of position that has these factors in the cells of the probes, and is 0 elsewhere."""
    of = (f"({float(factor)!r}) * (abs(x - {x + 0.5}) < 0.5) * (abs(y - {y + 0.5}) < 0.5)" for (x, y), factor in zip(PROBES, factors))
    return " + ".join(of)


def run(lbmc, amplitudes, objective, factors):
    """The sum over probes of a formula times factors, and its derivatives by the amplitudes."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = CASE.format(profile=profile(amplitudes), objective=objective, weight=at_probes(factors))
        (folder / "channel.toml").write_text(text)
        done = subprocess.run([lbmc, "run", "channel.toml", "--quiet", "--out", "out"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        value = json.loads((folder / "out/gradient.json").read_text())["objective"]["value"]
        with open(folder / "out/gradient_left.csv") as rows:
            places = [(float(row["y"]), float(row["by_velocity_x"])) for row in csv.DictReader(rows)]
    y, by = np.array(places).T
    return value, sines(y).T @ by


def main():
    lbmc = str(pathlib.Path(sys.argv[1]).resolve())
    probes = range(len(PROBES))
    seen = np.array([run(lbmc, TRUE, "ux", [at == probe for at in probes])[0] for probe in probes])
    scale = (seen**2).sum()

    def misfit(of):
        # The sum of (ux - seen)^2 over the probes: squares, and products with what was seen.
        squares, by_squares = run(lbmc, 0.05 * of, "ux^2", np.ones(len(PROBES)))
        products, by_products = run(lbmc, 0.05 * of, "ux", seen)
        value = (squares - 2 * products + scale) / scale
        print(f"  {value:.3e}  {np.array2string(0.05 * of, precision=5)}")
        return value, 0.05 * (by_squares - 2 * by_products) / scale

    found = 0.05 * minimize(misfit, [0.5, 0, 0, 0], jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9}).x
    y = np.arange(WIDTH) + 0.5
    apart = np.abs(sines(y) @ (found - TRUE)).max() / np.abs(sines(y) @ TRUE).max()
    print(f"amplitudes {np.array2string(found, precision=5)}, given {TRUE}: the profile is {100 * apart:.2f} % apart")
    assert apart < 0.01, apart


if __name__ == "__main__":
    main()
