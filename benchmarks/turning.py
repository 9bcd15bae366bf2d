#!/usr/bin/env python3
"""Speed of a flow around a surface of 100 000 triangles that turns, beside the same surface at rest. Needs numpy.

    benchmarks/turning.py OUT LBMC [DEVICES]

An ellipsoid of 272 x 136 x 88 cells of the finest level turns about its short axis in D3Q19 with f32 on a GPU, on three levels: 19 million
cells, of which those near the way of the surface are finest; at rest 17 million. Printed are MLUPS, cells of each level and seconds of a step
of level 0 for each phase, on one GPU and on DEVICES of them.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

AXES = 34, 17, 11  # half axes, cells of level 0
ROUND = 224  # triangles around the axis, and along a meridian


def write_ellipsoid(path):
    """Writes the surface as binary STL; returns the number of triangles."""
    around, down = np.linspace(0, 2 * np.pi, ROUND, endpoint=False), np.linspace(0, np.pi, ROUND + 1)

    def corner(i, j):
        u, v = around[i % ROUND], np.full(len(i), down[j])
        return np.stack([AXES[0] * np.sin(v) * np.cos(u), AXES[1] * np.sin(v) * np.sin(u), AXES[2] * np.cos(v)], -1)

    i, triangles = np.arange(ROUND), []
    for j in range(ROUND):
        one, next_, below, across = corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1)
        if j < ROUND - 1:
            triangles.append(np.stack([one, below, across], 1))
        if j > 0:
            triangles.append(np.stack([one, across, next_], 1))
    corners = np.concatenate(triangles).astype("<f4")
    records = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records["corners"] = corners
    path.write_bytes(b" " * 80 + np.uint32(len(corners)).tobytes() + records.tobytes())
    return len(corners)


def case(turns, devices):
    lines = [
        'spec = "d3q19_bgk"',
        'precision = "f32"',
        f"devices = {devices}",
        "domain.size = [208, 208, 208]",
        f"fluid = {{ re = 100, velocity = 0.03, length = {AXES[0]} }}",
        'faces.others = "periodic"',
        "stop.steps = 400",
        "[[solids]]",
        "shape = 'stl'\nfile = 'ellipsoid.stl'\nscale = 1\ncentre = [104, 104, 104]\nrule = 'interpolated_moving_wall'",
        "motion = { angle = '0.0008 * t', axis = [0, 0, 1], pivot = [104, 104, 104] }" if turns else "velocity = [0, 0, 0]",
        "shells = [{ level = 2, within = 4 }, { level = 1, within = 20 }]",
        "[refinement]\nfinest = 2",
    ]
    return "\n".join(lines) + "\n"


def main(out, lbmc, devices="1"):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    print(write_ellipsoid(out / "ellipsoid.stl"), "triangles")
    for turns in (False, True):
        for count in sorted({1, int(devices)}):
            (out / "turning.toml").write_text(case(turns, count))
            command = [lbmc, "run", out / "turning.toml", "--set", "target=cuda", "--out", out / "run", "--quiet"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found = json.loads((out / "run/summary.json").read_text())
            phases = {name: seconds for name, seconds in found["phases"].items() if seconds > 0}
            print(f"{'turns' if turns else 'at rest'}, {count} GPUs: {found['mlups']:.0f} MLUPS, cells {found['levels']}, {json.dumps(phases)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
