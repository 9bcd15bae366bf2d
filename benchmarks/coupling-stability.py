#!/usr/bin/env python3
"""Which methods are stable with which couplings at a refinement interface.

    benchmarks/coupling-stability.py LBMC OUT [--dim 2|3] [--only TEXT] [--jobs N] [--target cpu|cuda]

LBMC is the program, OUT a folder for coupling-stability.csv, a row for each run, and coupling-stability.md, the table of the
documentation. Runs that stand in the CSV are not repeated, so an interrupted sweep goes on where it stopped.

The flow: a periodic box of 64 x 64 cells of the coarse level in blocks of 8 x 8 (32 x 32 x 8 in blocks of 4 x 4 x 4), a uniform
stream at Mach 0.1 with two shear waves of 1/60 of it, half-way along an axis and in 2-D and 3-D on the same grids:

- strip:     refined where x < lx/2;
- L:         a refined square of lx/2 without one of its quarters;
- staircase: refined where x/lx + y/ly < 1, in steps of one block.

A run is stable if all is finite and the kinetic energy stays within a tenth of that at the start. A pair that lbmc refuses is
written down as refused.
Parameters other than `omega` are those of the tests: magic 1/4, free rates 1, Smagorinsky's constant 0.1, the limiter of
K17 0.01, no force.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import re
import subprocess
import tempfile

STREAM = 0.0577
OMEGAS = [1.9, 1.98, 1.996]
COUPLINGS = ["volumetric", "volumetric_shifted", "volumetric_timed", "interpolated", "interpolated_linear", "interpolated_means"]
INSIDE = "0.25 - max(abs(x/lx - 0.5), abs(y/ly - 0.5))"
GRIDS = {
    "strip": "0.5 - x/lx",
    "L": f"min({INSIDE}, max(0.5 - x/lx, 0.5 - y/ly))",
    "staircase": "1 - x/lx - y/ly",
}
BOX = {2: dict(size=[64, 64], block=[8, 8], steps=2000), 3: dict(size=[32, 32, 8], block=[4, 4, 4], steps=1500)}
PARAMS = {"magic": 0.25, "smagorinsky": 0.1, "limiter": 0.01}
COLUMNS = ["method", "coupling", "grid", "omega", "steps", "stable", "found_at", "mass_drift"]


def methods(lbmc):
    """Shipped methods with a velocity, and for each its parameters but `omega` with their numbers of components."""
    listed = subprocess.run([lbmc, "specs"], capture_output=True, text=True, check=True).stdout
    found = {}
    for name in re.findall(r"^(d[23]q\d+_\w+) ", listed, re.MULTILINE):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([lbmc, "gen", name, "--target", "c", "--out", folder], capture_output=True, check=True)
            manifest = json.loads((pathlib.Path(folder) / f"{name}.json").read_text())
        if any(field["components"] > 1 for field in manifest["fields"]):
            found[name] = {each["name"]: each["components"] for each in manifest["params"] if each["name"] != "omega"}
    return found


def case(method, params, coupling, grid, omega, target):
    """The text of a case file."""
    dim = int(method[1])
    box = BOX[dim]
    values = {name: PARAMS.get(name, 1.0) if count == 1 else [0.0] * count for name, count in params.items()}
    still = [0] if dim == 3 else []
    start = [f"{STREAM} + 0.001*sin(2*pi*y/ly)", "0.001*sin(2*pi*x/lx)"] + still
    lines = [f'spec = "{method}"', f'target = "{target}"', 'precision = "f64"', f'block = {box["block"]}']
    lines += ["[domain]", f'size = {box["size"]}', "[fluid]", f"omega = {omega}"]
    lines += ["[params]"] * bool(values) + [f"{name} = {value}" for name, value in values.items()]
    lines += ["[faces]", 'others = "periodic"', "[start]", f"velocity = {json.dumps(start)}"]
    lines += ["[refinement]", "finest = 1", f'level = "max(0, min(1, 1e6 * ({GRIDS[grid]})))"', f'coupling = "{coupling}"']
    lines += ["[stop]", f'steps = {box["steps"]}', "[output]", "series = 100"]
    return "\n".join(lines) + "\n"


def run(lbmc, target, method, params, coupling, grid, omega):
    """A row of the CSV."""
    row = dict(method=method, coupling=coupling, grid=grid, omega=omega, steps=BOX[int(method[1])]["steps"])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.toml"
        path.write_text(case(method, params, coupling, grid, omega, target))
        done = subprocess.run([lbmc, "run", str(path), "--out", f"{folder}/out"], capture_output=True, text=True)
        said = done.stdout + done.stderr
        at = re.search(r"found\s+│?\s*at\s+step\s+(\d+)|at step (\d+)", said)
        summary = pathlib.Path(folder) / "out" / "summary.json"
        if done.returncode == 0:
            told = json.loads(summary.read_text())
            row["mass_drift"] = f'{told["mass_end"] / told["mass_start"] - 1:.1e}'
            energy = list(csv.reader(line for line in open(f"{folder}/out/series.csv") if not line.startswith("#")))
            row["stable"] = "yes" if calm(energy) else "no"
        elif at:
            row["stable"], row["found_at"] = "no", at.group(1) or at.group(2)
        elif re.search(r"^Error: E\d{4}", said, re.MULTILINE):
            row["stable"] = "refused"
        else:
            raise SystemExit(f"{method} {coupling} {grid} {omega} did not run:\n{said}")
    return row


def calm(energy):
    """Whether the kinetic energy of a series stays within a tenth of what it was at the start."""
    at = next(column for column, name in enumerate(energy[0]) if "energy" in name)
    values = [float(row[at]) for row in energy[1:]]
    return all(abs(value / values[0] - 1) < 0.1 for value in values)


def table(rows):
    """The table of the documentation: for each method and coupling the largest omega up to which all grids are stable."""
    unstable = collections.defaultdict(set)
    for row in rows:
        if row["stable"] == "no":
            unstable[row["method"], row["coupling"], float(row["omega"])].add(row["grid"])
    lines = ["| method | " + " | ".join(f"`{coupling}`" for coupling in COUPLINGS) + " |", "| --- |" + " --- |" * len(COUPLINGS)]
    for method in sorted({row["method"] for row in rows}):
        cells = []
        for coupling in COUPLINGS:
            ran = {float(row["omega"]) for row in rows if (row["method"], row["coupling"]) == (method, coupling)}
            bad = [(omega, sorted(unstable[method, coupling, omega])) for omega in sorted(ran) if unstable[method, coupling, omega]]
            if any(row["stable"] == "refused" for row in rows if (row["method"], row["coupling"]) == (method, coupling)):
                cells.append("refused")
                continue
            words = [f"{omega:g}" + ("" if len(grids) == len(GRIDS) else f" ({', '.join(grids)})") for omega, grids in bad]
            cells.append("unstable at " + ", ".join(words) if bad else "stable" if ran else "-")
        lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lbmc")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--dim", type=int, choices=[2, 3], help="methods of so many dimensions only")
    parser.add_argument("--only", default="", help="methods whose name contains this")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "coupling-stability.csv"
    rows = list(csv.DictReader(path.open())) if path.exists() else []
    done = {(row["method"], row["coupling"], row["grid"], float(row["omega"])) for row in rows}
    chosen = {name: params for name, params in methods(args.lbmc).items() if args.only in name}
    chosen = {name: params for name, params in chosen.items() if args.dim in (None, int(name[1]))}
    # Methods innermost: runs at the same time then need different kernels, which each is compiled once.
    due = [(name, params, coupling, grid, omega) for omega in OMEGAS for grid in GRIDS for coupling in COUPLINGS
           for name, params in chosen.items() if (name, coupling, grid, omega) not in done]
    with path.open("a", newline="") as file, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not rows:
            writer.writeheader()
        for row in pool.map(lambda each: run(args.lbmc, args.target, *each), due):
            rows.append(row)
            writer.writerow(row)
            file.flush()
            print(*(row.get(column, "") for column in COLUMNS), flush=True)
    (args.out / "coupling-stability.md").write_text(table(rows))


if __name__ == "__main__":
    main()
