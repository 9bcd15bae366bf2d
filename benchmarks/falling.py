#!/usr/bin/env python3
"""A sphere that falls in a box of oil: the largest velocity beside that which was measured, for four oils.

    benchmarks/falling.py LBMC OUT [CELLS ...]

LBMC is a release build of lbmc, OUT where the results go, CELLS how many cells lie across the sphere (9). The case is
`sedimenting_sphere`; oils and velocities are those of ten Cate, Nieuwstad, Derksen & van den Akker, Phys. Fluids 14 (2002) 4012, tables 1
and 2. They give velocities over that in an infinite fluid, which follows from Abraham's correlation of the drag.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

# Name, Reynolds number, density in kg/m^3, viscosity in Pa s, velocity in an infinite fluid in m/s, and what was measured over that; the
# step in ms with 9 cells across the sphere, and the time in s at which it is near the floor. Steps are in proportion to cells, where the
# viscosity of the lattice then stays small: at the least Reynolds number to their squares.
OILS = [
    ("E1", 1.5, 970, 0.373, 0.038, 0.947, 1.2, 2, 3.2),
    ("E2", 4.1, 965, 0.212, 0.060, 0.953, 0.8, 1, 2.2),
    ("E3", 11.6, 962, 0.113, 0.091, 0.959, 0.6, 1, 1.6),
    ("E4", 31.9, 960, 0.058, 0.128, 0.955, 0.4, 1, 1.2),
]


def fall(lbmc, out, cells, oil):
    name, re, density, viscosity, alone, measured, step, power, time = oil
    folder = out / f"{name}_{cells}"
    settings = {
        "units.density": f'"{density} kg/m^3"',
        "fluid.viscosity": f'"{1e6 * viscosity / density:.5g} mm^2/s"',
        "fluid.velocity": f'"{alone} m/s"',
        "units.step": f'"{step * (9 / cells) ** power:.5g} ms"',
        "stop.time": f'"{time} s"',
        "domain.resolution": str(round(cells * 100 / 15)),
    }
    arguments = [f"{key}={value}" for key, value in settings.items()]
    subprocess.run([lbmc, "run", "sedimenting_sphere", *(word for at in arguments for word in ("--set", at)), "--out", folder], check=True)
    with (folder / "forces.csv").open() as table:
        rows = list(csv.DictReader(line for line in table if not line.startswith("#")))
    largest = max(-float(row["vz"]) for row in rows)
    summary = json.loads((folder / "summary.json").read_text())
    return {
        "case": name, "re": re, "cells_across": cells, "steps": summary["steps"], "device": summary["device"], "velocity": round(largest, 5),
        "measured": round(measured * alone, 5), "of_the_measured": round(largest / (measured * alone), 3),
    }  # fmt: skip


def main(lbmc, out, *cells):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    rows = [fall(lbmc, out, int(across), oil) for across in cells or (9,) for oil in OILS]
    (out / "falling.json").write_text(json.dumps({"velocities": "m/s", "rows": rows}, indent=1) + "\n")
    for row in rows:
        print(f"{row['case']}  Re {row['re']:4}  {row['cells_across']} cells  {row['velocity']:.4f} m/s  {row['of_the_measured']:.3f} of the measured")


if __name__ == "__main__":
    main(*sys.argv[1:])
