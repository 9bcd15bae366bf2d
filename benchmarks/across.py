#!/usr/bin/env python3
"""Turbulence that decays across refinement interfaces, beside the same on a uniform fine grid. Needs numpy.

    benchmarks/across.py LBMC OUT [--spec d3q27_cumulant] [--cells 64] [--set KEY=VALUE ...]

A periodic box of 2 x 1 x 1 has random, solenoidal velocities with a peak at four waves along each side, the same on both grids. The middle half of
the refined grid is one level finer, all of the uniform grid is as fine; with --cells coarse cells along the short sides. After two turnover times
(l / u of the start) planes of cells are compared with the planes of the uniform grid, coarse ones with means over eight cells of it: root mean
squares of the fluctuation, spectra along y, and the pointwise difference. Writes OUT/across.json; all is over the rms of the uniform grid at that
plane.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
from channel import image

LENGTH, VISCOSITY, MACH = 0.25, 1.25e-3, 0.05  # of the eddies in m, with 1 m/s; m^2/s; of 1 m/s
TIME = 2 * LENGTH


def spectral(cells):
    """Wave numbers of a box of 2 x 1 x 1 with so many cells along its short sides, [z, y, x]."""
    return np.meshgrid(*(2 * np.pi * np.fft.fftfreq(count, 1 / cells) for count in (cells, cells, 2 * cells)), indexing="ij")


def velocity(cells, seed=1):
    """Solenoidal, of rms 1 for each component, and the pressure that balances it."""
    kz, ky, kx = spectral(cells)
    square = kx**2 + ky**2 + kz**2
    square[0, 0, 0] = 1
    peak = 2 * np.pi / LENGTH
    noise = np.random.default_rng(seed).standard_normal((3, cells, cells, 2 * cells))
    shape = np.sqrt(square) * np.exp(-square / peak**2)
    waves = [np.fft.fftn(part) * shape for part in noise]
    along = (kx * waves[0] + ky * waves[1] + kz * waves[2]) / square
    waves = [wave - k * along for wave, k in zip(waves, (kx, ky, kz))]
    for wave in waves:
        wave[0, 0, 0] = 0
    u = np.array([np.fft.ifftn(wave).real for wave in waves])
    u /= np.sqrt((u**2).mean())
    k = (kx, ky, kz)
    source = sum(-k[a] * k[b] * np.fft.fftn(u[a] * u[b]) for a in range(3) for b in range(3))
    source[0, 0, 0] = 0
    pressure = np.fft.ifftn(source / square).real
    return np.moveaxis(u, 0, -1), pressure


# For each part of the box where it begins and ends, in m; so many planes of cells make a file of their own.
PARTS = {"low": (0.0, 0.5), "fine": (0.5, 1.5), "high": (1.5, 2.0)}
PLANES = 8


def probes(cells):
    """Grids of points at the centres of cells."""
    for part, (low, high) in PARTS.items():
        count = 2 * cells if part == "fine" else cells
        width = 1 / count
        planes = round((high - low) * count)
        for first in range(0, planes, PLANES):
            along = [low + (at + 0.5) * width for at in (first, first + PLANES - 1)]
            corners = [f'["{x} m", "{edge} m", "{edge} m"]' for x, edge in zip(along, (0.5 * width, 1 - 0.5 * width))]
            grid = f"from = {corners[0]}, to = {corners[1]}, points = [{PLANES}, {count}, {count}]"
            yield f"{part}_{first:04}", f'{grid}, fields = ["velocity"], every = "{TIME} s"'


def case(spec, cells, of_level, refined, folder):
    box = '{ level = 1, from = ["0.5 m", "0 m", "0 m"], to = ["1.5 m", "1 m", "1 m"] }'
    refinement = f"refinement = {{ finest = 1, boxes = [{box}] }}" if refined else ""
    lines = "\n".join(f'    {{ name = "{name}", {keys} }},' for name, keys in probes(cells))
    return f"""spec = "{spec}"
precision = "f32"
units = {{ system = "si", mach = {MACH}, density = "1 kg/m^3" }}
domain = {{ size = ["2 m", "1 m", "1 m"], resolution = {of_level} }}
fluid = {{ viscosity = "{VISCOSITY} m^2/s", velocity = "1 m/s", length = "{LENGTH} m" }}
faces.others = "periodic"
{refinement}
stop.time = "{TIME} s"
start = {{ velocity = {{ file = "{folder / "velocity.npy"}" }}, density = {{ file = "{folder / "density.npy"}" }} }}
probes = [
{lines}
]
"""


def planes(folder, cells):
    """For each part of the box the velocities at the end, [x, z, y, component]."""
    found = {part: [] for part in PARTS}
    for name, _ in probes(cells):
        last = max(folder.glob(f"probe_{name}_*.vti"))
        found[name.split("_")[0]].append(np.moveaxis(image(last)["velocity"], 2, 0))
    return {part: np.concatenate(values) for part, values in found.items()}


def spectrum(values):
    """Energy of the waves along y, the mean over z and so many planes."""
    waves = np.fft.rfft(values, axis=2) / values.shape[2]
    return (np.abs(waves) ** 2).sum(axis=-1).mean(axis=(0, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lbmc")
    parser.add_argument("out", type=Path)
    parser.add_argument("--spec", default="d3q27_cumulant")
    parser.add_argument("--cells", type=int, default=64)
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    args = parser.parse_args()
    folder = args.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    u, pressure = velocity(2 * args.cells)
    np.save(folder / "velocity.npy", u.astype(np.float32))
    np.save(folder / "density.npy", (1 + MACH**2 * pressure).astype(np.float32))
    found = {}
    for name, refined in (("uniform", False), ("refined", True)):
        path = folder / f"{name}.toml"
        path.write_text(case(args.spec, args.cells, (2 if refined else 4) * args.cells, refined, folder))
        settings = [f"--set={setting}" for setting in args.set]
        subprocess.run([args.lbmc, "run", path, "--out", folder / name, "--quiet", *settings], check=True, stdout=subprocess.DEVNULL)
        found[name] = planes(folder / name, args.cells)
    rows, spectra = [], {}
    for part, (low, high) in PARTS.items():
        one, other = found["uniform"][part], found["refined"][part]
        for at in range(len(one)):
            rms = [np.sqrt(((values[at] - values[at].mean(axis=(0, 1))) ** 2).mean()) for values in (one, other)]
            difference = np.sqrt(((other[at] - one[at]) ** 2).mean())
            rows.append({"x": round(low + (at + 0.5) * (high - low) / len(one), 5), "rms": round(rms[1] / rms[0], 4), "difference": round(difference / rms[0], 4)})
        # Four planes at each side of both interfaces, and as many in the middle.
        places = {"low": {"coarse at the interface": slice(-4, None), "coarse": slice(4, 8)}, "high": {"coarse at the interface": slice(0, 4)}}
        places["fine"] = {"fine at the interface": slice(0, 4), "fine": slice(len(one) // 2, len(one) // 2 + 4)}
        for name, where in places[part].items():
            spectra.setdefault(name, []).append((spectrum(one[where]), spectrum(other[where])))
    ratios = {}
    for name, pairs in spectra.items():
        one, other = (sum(pair[number] for pair in pairs) for number in (0, 1))
        ratios[name] = [round(float(value), 4) for value in (other / one)[1 : args.cells // 2 + 1]]
    u_rms = float(np.sqrt((found["uniform"]["fine"] ** 2).mean()))
    device = json.loads((folder / "refined/summary.json").read_text())["device"]
    written = {"spec": args.spec, "cells": args.cells, "device": device, "rms_at_the_end": round(u_rms, 4), "planes": rows, "spectra_over_uniform": ratios}
    (folder / "across.json").write_text(json.dumps(written, indent=1) + "\n")
    print(f"rms at the end {u_rms:.3f} m/s")
    for row in rows:
        print("x {x:.4f}  rms {rms:.4f}  difference {difference:.4f}".format(**row))
    for name, values in ratios.items():
        print(name, values)


if __name__ == "__main__":
    main()
