#!/usr/bin/env python3
"""Bodies under turbulent flow beside experiments: the Ahmed body and a cube on a wall. Needs nothing but Python.

    benchmarks/bodies.py ahmed LBMC OUT MINUTES [--slants 25 35] [--resolution 216] [--set KEY=VALUE ...]
    benchmarks/bodies.py cube LBMC OUT MINUTES [--resolution 288] [--channel] [--set KEY=VALUE ...]

Runs the shipped cases `ahmed_body` and `wall_cube` with cells of domain.resolution along x, in all for so many minutes: a few steps first, which
tell how many are possible, then these. Writes OUT/ahmed.json, with the force coefficients of each slant, or OUT/cube.json, with lengths and
profiles. Means are those of the last half of the time; errors are standard errors of them. With the 216 cells that are the default the Ahmed
body is in 14 million cells, 72 of them along its height, and with 288 the cube in 17 million, 48 of them along its side. With --channel the inlet of
the cube is a channel that runs before, `cube_channel.toml`, and not made of synthetic eddies.
"""

import argparse
import csv
import json
import math
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CUBE = HERE / "reference/martinuzzi_tropea.csv"
RESERVE = 20.0  # seconds for what a run does before its steps, beyond what it took the first time, and after them

# Ahmed, Ramm & Faltin, SAE 840300 (1984), Re 4.3 million; Meile et al., Int. J. Aerodyn. 1 (2011), Re 2.8 million. Both on stilts.
DRAG = {25: {"ahmed_1984": 0.285, "meile_2011": 0.299}, 35: {"ahmed_1984": 0.260, "meile_2011": 0.279}}
# The cube: its edge, the middle of its plane of symmetry, its front and the floor, in m; the mean velocity.
H, FRONT, FLOOR, MEAN = 0.025, 0.1, 0.025 / 6, 24.0
# Lengths on the floor, in H: behind the rear face, and before the front face.
LENGTHS = {"reattachment": 1.61, "separation": 1.04}


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def mean_of(values):
    """The mean of samples and its standard error, with the autocorrelation time of Sokal (1997)."""
    count = len(values)
    mean = sum(values) / count
    parts = [value - mean for value in values]
    variance = sum(part * part for part in parts) / count
    if count < 8 or variance == 0:
        return mean, None
    tau = 0.5
    for lag in range(1, count):
        tau += sum(a * b for a, b in zip(parts, parts[lag:])) / count / variance
        if lag >= 5 * tau:
            break
    return mean, math.sqrt(variance * max(2 * tau, 1.0) / count)


def rounded(mean, error):
    return {"mean": round(mean, 5), "standard_error": error and round(error, 5)}


def run(lbmc, name, out, settings):
    case = next(path for path in (HERE.parent / f"cases/{name}.toml", HERE / f"{name}.toml") if path.exists())
    command = [lbmc, "run", case, "--quiet", "--out", out] + [f"--set={setting}" for setting in settings]
    begun = time.time()
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    took = time.time() - begun
    summary = json.loads((Path(out) / "summary.json").read_text()) if (Path(out) / "summary.json").exists() else {}
    if summary.get("status") not in ("completed", "interrupted"):
        sys.exit(f"{name} failed with {done.returncode}: {summary.get('message', 'no summary')}")
    return summary, took


def runs(lbmc, name, out, until, tries, settings):
    """Three runs, of which the last goes on until `until`: its summary, and what can be said of it."""
    # The first run compiles kernels, which are kept.
    for steps in (1, tries):
        tried, took = run(lbmc, name, out / f"{out.name}_tried", ["-output.surfaces", *settings, f"stop.steps={steps}"])
    of_step = tried["seconds"] / tried["steps"]
    left = until - time.time() - (took - tried["seconds"]) - RESERVE
    steps = max(int(left / of_step), 2 * tries)
    guard = f"stop.wall_minutes={max(until - time.time(), 60) / 60:.3f}"
    found, _ = run(lbmc, name, out / "run", ["-output.surfaces", *settings, f"stop.steps={steps}", guard])
    kept = {key: found.get(key) for key in ("status", "steps", "seconds", "mlups", "device", "levels", "time_step", "cell", "version")}
    return found, kept


def last_half(table, of_time=lambda row: float(row["time"])):
    end = max(of_time(row) for row in table)
    return [row for row in table if of_time(row) > end / 2], end


def ahmed(args):
    path = args.out / "ahmed.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    begun = time.time()
    for number, slant in enumerate(args.slants):
        until = begun + 60 * args.minutes * (number + 1) / len(args.slants)
        surface = args.out / f"ahmed_{slant}.stl"
        subprocess.run([sys.executable, HERE.parent / "scripts/ahmed.py", str(slant), surface], check=True, stdout=subprocess.DEVNULL)
        settings = [f"solids.0.file={surface.resolve()}", f"domain.resolution={args.resolution}", *args.set]
        folder = args.out / f"ahmed_{slant}"
        _, kept = runs(args.lbmc, "ahmed_body", folder, until, args.tried, settings)
        table = [row for row in rows(folder / "run/forces.csv") if row["solid"] == "1"]
        half, end = last_half(table)
        means = {name: rounded(*mean_of([float(row[name]) for row in half])) for name in ("cd", "cy", "cz")}
        ends = {"lengths_of_the_body": end, "rows": len(half), "reference_drag": DRAG.get(slant)}
        found[str(slant)] = {**means, **ends, "run": kept}
        path.write_text(json.dumps(found, indent=1) + "\n")
        print(slant, json.dumps({**means, **ends}))


def crossings(at, values):
    return [
        (a + (b - a) * u / (u - v), v > u) for a, b, u, v in zip(at, at[1:], values, values[1:]) if u * v < 0
    ]  # fmt: skip


def lengths(at, values):
    """Of velocities along the floor: where the flow comes back behind the cube, and where it separates before it, in H; None where it does not."""
    found = crossings(at, values)
    behind = [x - 1 for x, up in found if up and x > 1]
    before = [-x for x, up in found if not up and x < 0]
    return {"reattachment": behind[0] if behind else None, "separation": before[0] if before else None}


def columns(table, name):
    """Of rows of a probe: samples of each point."""
    points = {}
    for row in table:
        points.setdefault((float(row["x"]), float(row["z"])), []).append(float(row[name]))
    return points


def cube(args):
    until = time.time() + 60 * args.minutes
    folder = args.out / "cube"
    settings = [f"domain.resolution={args.resolution}", *args.set]
    if args.channel:
        # Cells as those of the coarsest level behind the inlet.
        channel = args.out / "channel"
        run(args.lbmc, "cube_channel", channel, [f"domain.resolution={args.resolution // 2}", *(key for key in args.set if key.startswith("target="))])
        plane = (channel / "plane.lbmplane").resolve()
        settings += [f'faces.left.velocity={{ recording = "{plane}", repeat = true }}', "-faces.left.turbulence"]
    _, kept = runs(args.lbmc, "wall_cube", folder, until, args.tried, settings)
    half, end = last_half(rows(folder / "run/probe_ground.csv"))
    ground = columns(half, "ux")
    along = [(x - FRONT) / H for x, _ in ground]
    means = [mean_of(samples)[0] / MEAN for samples in ground.values()]
    # The inside of the cube is left out.
    outside = [number for number, mean in enumerate(means) if math.isfinite(mean)]

    def of(values):
        front = [number for number in outside if along[number] < 0]
        rear = [number for number in outside if along[number] > 1]
        parts = [lengths([along[at] for at in part], [values[at] for at in part]) for part in (front, rear)]
        return {"reattachment": parts[1]["reattachment"], "separation": parts[0]["separation"]}

    whole, count, batches = of(means), len(next(iter(ground.values()))), 8
    parts = [
        of([sum(samples[count * at // batches : count * (at + 1) // batches]) / (count // batches or 1) for samples in ground.values()])
        for at in range(batches if count >= 4 * batches else 0)
    ]
    found = {}
    for name, published in LENGTHS.items():
        several = [part[name] for part in parts if part[name] is not None]
        spread = None
        if len(several) == batches:
            mean = sum(several) / batches
            spread = math.sqrt(sum((value - mean) ** 2 for value in several) / (batches - 1) / batches)
        found[name] = {"length": whole[name], "standard_error": spread, "published": published}
    found["ground"] = [{"x_over_h": round(x, 4), "u": round(mean, 5)} for x, mean in zip(along, means) if math.isfinite(mean)]
    drag, _ = last_half([row for row in rows(folder / "run/forces.csv") if row["solid"] == "1"])
    found["cd"] = rounded(*mean_of([float(row["cd"]) for row in drag]))
    found["profiles"] = profiles(folder)
    found.update(cubes_passed=end * MEAN / H, rows=count, run=kept)
    (args.out / "cube.json").write_text(json.dumps(found, indent=1) + "\n")
    short = {name: found[name] for name in ("reattachment", "separation", "cd", "cubes_passed")}
    print(json.dumps({**short, "rms_of_u": {name: profile["rms_of_u"] for name, profile in found["profiles"].items()}}))


def profiles(folder):
    """At each station means of u and w over the mean velocity, beside measured ones; the rms of differences of u, in the same unit."""
    measured, found = {}, {}
    for row in rows(CUBE):
        if row["u"]:
            measured.setdefault(float(row["x_over_h"]), []).append((float(row["y_over_h"]), float(row["u"]), float(row["v"])))
    # The measured mean 3 H before the cube.
    curve = [(0.0, 0.0), *((y, u) for y, u, _ in measured[-3.0]), (2.0, 0.0)]
    scale = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(curve, curve[1:])) / 2
    for station, points in measured.items():
        path = folder / f"run/probe_x{f'{station:g}'.replace('-', 'm').replace('.', '_')}.csv"
        if not path.exists():
            continue
        half, _ = last_half(rows(path))
        velocities = [
            ((z - FLOOR) / H, *(sum(samples) / len(samples) / MEAN for samples in (u, w)))
            for ((_, z), u), w in zip(columns(half, "ux").items(), columns(half, "uz").values())
        ]
        velocities = [point for point in velocities if math.isfinite(point[1])]
        differences = []
        for y, u, _ in points:
            pair = next(((a, b) for a, b in zip(velocities, velocities[1:]) if a[0] <= y <= b[0]), None)
            if pair:
                (low, at_low, _), (high, at_high, _) = pair
                differences.append(at_low + (at_high - at_low) * (y - low) / (high - low) - u / scale)
        rms = math.sqrt(sum(value**2 for value in differences) / len(differences)) if differences else None
        found[f"{station:g}"] = {
            "rms_of_u": rms and round(rms, 4),
            "computed": [{"y_over_h": round(y, 4), "u": round(u, 5), "v": round(v, 5)} for y, u, v in velocities],
            "measured": [{"y_over_h": y, "u": round(u / scale, 5), "v": round(v / scale, 5)} for y, u, v in points],
        }
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("body", choices=["ahmed", "cube"])
    parser.add_argument("lbmc")
    parser.add_argument("out", type=Path)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--slants", type=int, nargs="+", default=[25, 35])
    parser.add_argument("--resolution", type=int)
    parser.add_argument("--channel", action="store_true", help="of the cube: its inlet is a channel that runs before")
    parser.add_argument("--tried", type=int, default=60, help="steps of the first run")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.resolution = args.resolution or {"ahmed": 216, "cube": 288}[args.body]
    {"ahmed": ahmed, "cube": cube}[args.body](args)


if __name__ == "__main__":
    main()
