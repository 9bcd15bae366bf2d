#!/usr/bin/env python3
"""Compares executions of a collision on random states: `agree.py LBMC [VIA ...]`, for example `agree.py ./lbmc c cuda`.

For every shipped spec of one set of populations and both real types, the populations after collision by each VIA are
compared with those of the exact interpreter (where formulas have roots, of the interpreter in f64), element by element.
Prints a table and fails where a bound is passed: 1e-13 (ir, dag) or 1e-12 (c, cuda) in f64, 2e-6 in f32.
"""

import itertools
import json
import random
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

STATES = 64
OMEGA = 1.75


def states(manifest, single):
    """Populations near the equilibrium of a random flow, in a random order of directions."""
    dim = manifest["dim"]
    directions = [(direction["c"][:dim], float(Fraction(direction["weight"]))) for direction in manifest["directions"]]
    random.shuffle(directions)
    rows = []
    for _ in range(STATES):
        rho = random.uniform(0.9, 1.1)
        u = [random.uniform(-0.1, 0.1) for _ in range(dim)]
        row = []
        for c, weight in directions:
            cu = sum(a * b for a, b in zip(c, u))
            f = weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * sum(v * v for v in u))
            f *= 1 + random.uniform(-0.02, 0.02)
            # Every execution is given the same numbers: those that a 32-bit float can hold.
            row.append(round(f * 2**20) / 2**20 if single else f)
        rows.append(row)
    return {"directions": [c for c, _ in directions], "states": rows}


def settings(manifest):
    """A value for each parameter: OMEGA if it is in the parameter's range, else the value at the same place in it."""
    for param in manifest["params"]:
        if param["components"] > 1:
            yield from (f"{param['name']}{axis}={v}" for axis, v in zip("xyz"[: manifest["dim"]], (0.03125, -0.0625, 0.25)))
        else:
            low, high = param["range"] or (0, 2)
            value = OMEGA if low < OMEGA < high else low + (high - low) * OMEGA / 2
            yield f"{param['name']}={round(value * 2**12) / 2**12}"


def main():
    lbmc, vias = sys.argv[1], sys.argv[2:] or ["ir", "dag", "c", "cuda"]
    specs = [line.split()[0] for line in subprocess.check_output([lbmc, "specs"], text=True).splitlines()]
    failed = 0
    print(f"{'spec':<25} {'real':>4} {'via':>5} {'largest relative difference':>28}")
    with tempfile.TemporaryDirectory() as folder:
        given, post = Path(folder, "states.json"), Path(folder, "post.json")
        for spec, real in itertools.product(specs, ("f64", "f32")):
            random.seed(spec)
            subprocess.run([lbmc, "gen", spec, "--target", "c", "--out", folder], check=True, capture_output=True)
            manifest = json.loads(Path(folder, f"{spec}.json").read_text())
            if len(manifest["populations"]) > 1:
                print(f"{spec:<25} passed over: several sets of populations")
                continue
            given.write_text(json.dumps(states(manifest, real == "f32")))
            values = [part for setting in settings(manifest) for part in ("--set", setting)]

            def collide(via, *options):
                command = [lbmc, "eval", spec, *values, "--in", given, "--out", post, "--via", via, *options]
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
                return json.loads(post.read_text())["states"]

            # Roots have no exact values; there the formulas as written are evaluated in f64.
            roots = "sqrt" in Path(folder, f"{spec}.c").read_text()
            exact = collide("ir", "--real", "f64") if roots else collide("exact")
            for via in vias:
                found = collide(via, "--real", real)
                pairs = ((a, b) for one, two in zip(found, exact, strict=True) for a, b in zip(one, two, strict=True))
                worst = max(abs(a - b) / abs(b) if a == a else float("inf") for a, b in pairs)
                bound = 2e-6 if real == "f32" else 1e-13 if via in ("ir", "dag") else 1e-12
                failed += worst > bound
                print(f"{spec:<25} {real:>4} {via:>5} {worst:>28.1e}{'' if worst <= bound else '  too much'}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
