#!/usr/bin/env python3
"""Speed of flows with a solid that moves, beside the same solid at rest.

    benchmarks/moving.py OUT LBMC [LBMC ...]

Each LBMC is a build, OUT where the results go. A sphere 16 cells across swings in D3Q19 with f32, on two levels and on a uniform grid: at rest,
moving, and moving with its force, which is then summed in every step; on the uniform grid also with the fluid, which turns it and pushes it
aside, as fast along x as at the start. Builds and cases run in turn, three times; printed are the medians:
MLUPS, their ratio to those of the sphere at rest, and seconds of a step of level 0 for each phase: `move` places shapes, cuts links and fills
cells, `exchange` sums forces. The last row of forces must have the same bytes for all builds.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

TURNS = 3
WAYS = ("rests", "moves", "moves, with forces", "moves with the fluid")


def case(levels, way, steps):
    # The same sphere and way in cells of the finest level.
    size, radius = ("[96, 96, 96]", 4) if levels == 2 else ("[128, 128, 128]", 8)
    centre = "[48, 48, 48]" if levels == 2 else "[64, 64, 64]"
    motion = {
        WAYS[0]: "velocity = [0, 0, 0]",
        WAYS[3]: "motion = { free = true, density = 1.5, velocity = [0.02, 0, 0], hold = ['x'] }",
    }.get(way, f"motion = {{ displacement = ['{-1.2 * radius} * sin(2*pi*t/{250 * radius})', 0, 0] }}")
    lines = [
        'spec = "d3q19_bgk"',
        'precision = "f32"',
        f"domain.size = {size}",
        f"fluid = {{ re = 20, velocity = 0.03, length = {2 * radius} }}",
        'faces.others = "periodic"',
        f"stop.steps = {steps}",
        f"output = {{ directory = 'out/moving'{f', forces = {steps}' if way in WAYS[2:] else ''} }}",
        "[[solids]]",
        f"shape = 'sphere'\ncentre = {centre}\nradius = {radius}\nrule = 'interpolated_moving_wall'",
        motion,
        *(["shells = [{ level = 1, within = 4 }]", "[refinement]", "finest = 1"] if levels == 2 else []),
    ]
    return "\n".join(lines) + "\n"


def run(lbmc, folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "moving.toml").write_text(text)
    subprocess.run([lbmc, "run", folder / "moving.toml", "--out", folder / "run"], check=True, capture_output=True)
    summary = json.loads((folder / "run/summary.json").read_text())
    forces = folder / "run/forces.csv"
    return summary["mlups"], summary["phases"], forces.read_bytes().splitlines()[-1] if forces.exists() else None


def main(out, *builds, steps=4000):
    out, results, rows = Path(out), {}, {}
    for _ in range(TURNS):
        for levels in (2, 1):
            for way in WAYS[: 5 - levels]:
                for build in builds:
                    mlups, phases, row = run(build, out / "case", case(levels, way, steps))
                    results.setdefault((levels, way, build), []).append((mlups, phases))
                    assert rows.setdefault((levels, way), row) == row, f"{build}: other forces, {levels} levels"
    speed = {key: statistics.median(mlups for mlups, _ in values) for key, values in results.items()}
    found = {}
    for (levels, way, build), values in results.items():
        phases = {name: statistics.median(phases[name] for _, phases in values) for name in values[0][1]}
        of = speed[levels, way, build]
        found[f"{build}, {levels} levels, {way}"] = {"mlups": of, "over the sphere at rest": of / speed[levels, WAYS[0], build], "phases": phases}
    (out / "moving.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
