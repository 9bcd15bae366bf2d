#!/usr/bin/env python3
"""Compares executions of a collision on random states: `agree.py LBMC [VIA ...]`, for example `agree.py ./lbmc c cuda`.

For every shipped spec and both real types, the populations after collision by each VIA are compared with those of the
exact interpreter, element by element. Prints a table and fails where a bound is passed: 1e-13 (ir, dag) or 1e-12 (c,
cuda) in f64, 2e-6 in f32.
"""

import itertools
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

STATES = 64
LATTICES = {"d2q9": (2, 2), "d3q19": (3, 2), "d3q27": (3, 3)}


def states(lattice, single):
    """Populations near the equilibrium of a random flow, in a random order of directions."""
    dim, longest = LATTICES[lattice]
    directions = [c for c in itertools.product((-1, 0, 1), repeat=dim) if sum(map(abs, c)) <= longest]
    random.shuffle(directions)
    rows = []
    for _ in range(STATES):
        rho = random.uniform(0.9, 1.1)
        u = [random.uniform(-0.1, 0.1) for _ in range(dim)]
        row = []
        for c in directions:
            weight = 1.0
            for v in c:
                weight *= 2 / 3 if v == 0 else 1 / 6
            cu = sum(a * b for a, b in zip(c, u))
            f = weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * sum(v * v for v in u))
            f *= 1 + random.uniform(-0.02, 0.02)
            # Every execution is given the same numbers: those that a 32-bit float can hold.
            row.append(round(f * 2**20) / 2**20 if single else f)
        rows.append(row)
    return {"directions": directions, "states": rows}


def main():
    lbmc, vias = sys.argv[1], sys.argv[2:] or ["ir", "dag", "c", "cuda"]
    specs = [line.split()[0] for line in subprocess.check_output([lbmc, "specs"], text=True).splitlines()]
    failed = 0
    print(f"{'spec':<16} {'real':>4} {'via':>5} {'largest relative difference':>28}")
    with tempfile.TemporaryDirectory() as folder:
        given, post = Path(folder, "states.json"), Path(folder, "post.json")
        for spec, real in itertools.product(specs, ("f64", "f32")):
            random.seed(spec)
            given.write_text(json.dumps(states(spec.split("_")[0], real == "f32")))

            def collide(via):
                command = [lbmc, "eval", spec, "--set", "omega=1.75", "--in", given, "--out", post, "--via", via]
                subprocess.run(command + ([] if via == "exact" else ["--real", real]), check=True, stderr=subprocess.DEVNULL)
                return json.loads(post.read_text())["states"]

            exact = collide("exact")
            for via in vias:
                found = collide(via)
                pairs = ((a, b) for one, two in zip(found, exact, strict=True) for a, b in zip(one, two, strict=True))
                worst = max(abs(a - b) / abs(b) if a == a else float("inf") for a, b in pairs)
                bound = 2e-6 if real == "f32" else 1e-13 if via in ("ir", "dag") else 1e-12
                failed += worst > bound
                print(f"{spec:<16} {real:>4} {via:>5} {worst:>28.1e}{'' if worst <= bound else '  too much'}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
