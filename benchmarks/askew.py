#!/usr/bin/env python3
"""Turbulent channels that lie askew in the grid, their walls surfaces that slide by a law, beside the logarithmic law. Needs numpy.

    benchmarks/askew.py LBMC OUT [STEPS] [--re-tau 1000] [--angles ANGLE ...] [--set KEY=VALUE ...]

The channels lie along (1, 0), (3, 1) and (1, 1) in periodic boxes, half of their width is 20 cells. Means are those of the last 60 % of the steps. Writes
OUT/askew.json: for each angle u+ in bins of one cell from the wall on, the same of Lee & Moser, J. Fluid Mech. 774 (2015) 395, and the fluctuation along
the channel.
"""

import argparse
import json
import math
import subprocess
from pathlib import Path

import numpy as np
from channel import image

HALF, FRICTION, OFF = 20.0, 0.004, 0.37
CHANNELS = {"0": ((1, 0), (128, 48, 64)), "18": ((3, 1), (144, 48, 64)), "45": ((1, 1), (64, 64, 64))}


def frame(name):
    """Along the channel, across it, and from one channel to the next."""
    (a, b), size = CHANNELS[name]
    length = math.hypot(a, b)
    along, across = (a / length, b / length), (-b / length, a / length)
    return along, across, size[1] * across[1]


def write_walls(name, path):
    """Slabs that reach beyond the box, as STL."""
    along, across, period = frame(name)
    size, half = CHANNELS[name][1], 0.5 * (period - 2 * HALF)
    reach, triangles = 2 * (size[0] + size[1]), []
    middle = (0.5 * size[0], 0.5 * size[1])
    own = middle[0] * across[0] + middle[1] * across[1]
    for number in range(-6, 8):
        up = OFF + number * period - own

        def corner(forth, side, z):
            return tuple(middle[axis] + forth * reach * along[axis] + (up + side * half) * across[axis] for axis in (0, 1)) + (z,)

        ends = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        low, high = ([corner(*end, z) for end in ends] for z in (-1, size[2] + 1))
        for one, other in ((1, 2), (2, 3)):
            triangles += [(high[0], high[one], high[other]), (low[0], low[other], low[one])]
        for one, other in ((0, 1), (1, 2), (2, 3), (3, 0)):
            triangles += [(low[one], low[other], high[other]), (low[one], high[other], high[one])]
    records = np.zeros(len(triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records["corners"] = np.array(triangles)
    path.write_bytes(b" " * 80 + np.uint32(len(triangles)).tobytes() + records.tobytes())


def case(name, steps, re_tau):
    along, across, period = frame(name)
    size, force = CHANNELS[name][1], FRICTION**2 / HALF
    place = f"acos(cos({2 * math.pi / period:.12g} * ({across[0]:.12g} * x + {across[1]:.12g} * y - {OFF})))"
    # Across the channel from 0 to 1 in its middle.
    part = f"min(max({period / 2 / math.pi:.12g} * {place} - {period / 2 - HALF:.12g}, 0) / {HALF:g}, 1)"
    mean = f"(1 - (1 - {part})^7)"
    forth = f"({FRICTION * (math.log(re_tau) / 0.384 + 4.27):.4g} * {mean} + 0.024 * sin(6*pi*z/lz) * {mean})"
    side = f"(0.02 * cos(6*pi*z/lz) * {mean} * sin(4*pi*x/lx))"
    up = f"0.02 * sin(4*pi*z/lz) * {mean} * sin(2*pi*y/ly + 4*pi*x/lx)"
    of = [f"{along[axis]:.12g} * {forth} + {across[axis]:.12g} * {side}" for axis in (0, 1)]
    return f"""spec = "d3q19_wale"
precision = "f32"
domain.size = {list(size)}
fluid = {{ re = {re_tau:g}, velocity = {FRICTION}, length = {HALF:g} }}
params = {{ wale = 0.325, sigma = 0.95, force = [{force * along[0]:.12g}, {force * along[1]:.12g}, 0] }}
faces.others = "periodic"
stop.steps = {steps}
[[solids]]
shape = "stl"
file = "askew_{name}.stl"
rule = "sliding_wall"
[start]
velocity = ["{of[0]}", "{of[1]}", "{up}"]
[[statistics]]
name = "developed"
fields = ["velocity", "density"]
of = ["mean", "stresses"]
from = {int(0.4 * steps)}
every = 20
"""


def profile(name, out, re_tau):
    along, across, period = frame(name)
    (path,) = out.glob("statistics_*.vti")
    arrays = image(path)
    mean = arrays["mean_velocity"].mean(axis=0)
    own = mean[..., 0] * along[0] + mean[..., 1] * along[1]
    stress = {of: arrays[f"stress_{of}"][..., 0].mean(axis=0) for of in ("xx", "xy", "yy")}
    square = stress["xx"] * along[0] ** 2 + 2 * stress["xy"] * along[0] * along[1] + stress["yy"] * along[1] ** 2
    y, x = (np.arange(count) + 0.5 for count in own.shape)
    place = across[0] * x[None, :] + across[1] * y[:, None] - OFF
    height = np.abs(place - period * np.round(place / period)) - (0.5 * period - HALF)
    rows = []
    for bin in range(int(HALF)):
        cells = (height >= bin) & (height < bin + 1) & np.isfinite(own)
        if not cells.any():
            continue
        of = float(height[cells].mean())
        law = math.log(of / HALF * re_tau) / 0.384 + 4.27
        fluctuation = float(np.sqrt(square[cells].mean()) / FRICTION)
        rows.append({"height": round(of, 2), "u_plus": round(float(own[cells].mean() / FRICTION), 2), "law": round(law, 2), "rms": round(fluctuation, 2)})
    density = arrays["mean_density"]
    return rows, float(density[np.isfinite(density) & (density > 0.5)].mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lbmc")
    parser.add_argument("out", type=Path)
    parser.add_argument("steps", type=int, nargs="?", default=400_000)
    parser.add_argument("--re-tau", type=float, default=1000.0, help="Reynolds number of the friction velocity and half of the width")
    parser.add_argument("--angles", nargs="+", default=list(CHANNELS), choices=list(CHANNELS))
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in args.angles:
        write_walls(name, args.out / f"askew_{name}.stl")
        path, folder = args.out / f"askew_{name}.toml", args.out / f"run_{name}"
        path.write_text(case(name, args.steps, args.re_tau))
        subprocess.run([args.lbmc, "run", path, "--out", folder, "--quiet", *(f"--set={of}" for of in args.set)], check=True, stdout=subprocess.DEVNULL)
        summary = json.loads((folder / "summary.json").read_text())
        rows, density = profile(name, folder, args.re_tau)
        found[name] = {"re_tau": args.re_tau, "profile": rows, "density": density, "mlups": summary["mlups"], "device": summary["device"], "steps": summary["steps"]}
        (args.out / "askew.json").write_text(json.dumps(found, indent=1) + "\n")
        print(name, "degrees", f"{summary['mlups']:.0f} MLUPS, density {density:.5f}")
        for row in rows:
            print("  {height:6.2f} {u_plus:6.2f} {law:6.2f} {rms:6.2f}".format(**row), f"{row['u_plus'] / row['law'] - 1:+.1%}", flush=True)


if __name__ == "__main__":
    main()
