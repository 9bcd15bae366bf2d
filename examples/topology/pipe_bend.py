"""Topology optimisation: where a pipe from the left to the bottom of a porous block has the least pressure loss, at a given volume.

usage: pipe_bend.py LBMC FOLDER [ITERATIONS]     needs numpy; draws FOLDER/pipe_bend.png if matplotlib is there

The design is the share of fluid S, from 0 to 1, at points four cells apart, and linear between them. The drag of a cell falls from
MOST to 0 as S rises (Borrvall & Petersson, Int. J. Numer. Methods Fluids 41 (2003) 77, equation 25). Each iteration runs the shipped case
`pipe_bend` with that drag, reads derivatives by the drag of each cell, and moves the design by the optimality criteria method (Bendsoe &
Sigmund, Topology Optimization, 2003, section 1.2).
"""

import json
import pathlib
import re
import struct
import subprocess
import sys

import numpy as np

CELLS, APART, SHARE = 48, 4, 0.3
MOST, BEND, MOVE = 0.3, 0.1, 0.2
POINTS = np.arange(0, CELLS + 1, APART)

centres = np.arange(CELLS) + 0.5
HATS = np.maximum(0, 1 - np.abs(centres[None, :] - POINTS[:, None]) / APART)  # [point][cell]


def share(design):
    """S of every cell, [y][x]."""
    return HATS.T @ design @ HATS


def drag(design):
    """The drag as a formula of a case, and by how much it changes with S in every cell."""
    hat = lambda axis, at: f"max(0, 1 - abs({axis} - {at}) / {APART})"
    terms = (
        f"{design[row, column]:.6f} * {hat('y', POINTS[row])} * {hat('x', POINTS[column])}"
        for row, column in np.ndindex(design.shape)
    )
    slope = -MOST * BEND * (1 + BEND) / (BEND + share(design)) ** 2
    return f"{MOST * BEND} * ({1 + BEND} / ({BEND} + {' + '.join(terms)}) - 1)", slope


def field(path, name):
    """An array of a `.vti` with raw appended data, [y][x]."""
    data = path.read_bytes()
    begin = data.index(b'<AppendedData encoding="raw">_') + len(b'<AppendedData encoding="raw">_')
    at = begin + int(re.search(rf'Name="{name}"[^>]*offset="(\d+)"', data[:begin].decode())[1])
    (count,) = struct.unpack_from("<Q", data, at)
    return np.frombuffer(data, "<f8", count // 8, at + 8).reshape(CELLS, -1)


def run(lbmc, out, design):
    """The loss, and its derivatives by the design."""
    formula, slope = drag(design)
    command = [lbmc, "run", "pipe_bend", "--quiet", "--out", str(out), "--set", f'params.drag="{formula}"']
    subprocess.run(command + ["--set", "stop.steps=2000"], check=True, stdout=subprocess.DEVNULL)
    loss = json.loads((out / "gradient.json").read_text())["objective"]["value"]
    return loss, HATS @ (slope * field(out / "gradient.vti", "by_drag")) @ HATS.T


def moved(design, by_design):
    """The next design: each point by its gain over its volume, and the volume as given."""
    volume = HATS.sum(axis=1)[:, None] * HATS.sum(axis=1)[None, :]
    low, high = 1e-12, 1e3
    while high / low > 1 + 1e-9:
        price = np.sqrt(low * high)
        factor = np.sqrt(np.maximum(-by_design, 0) / (price * volume))
        found = np.clip(np.clip(design * factor, design - MOVE, design + MOVE), 0, 1)
        low, high = (price, high) if share(found).mean() > SHARE else (low, price)
    return found


def draw(folder, first, last):
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.9), layout="constrained", sharey=True)
    for axis, (title, design, name) in zip(axes, [("first", *first), ("last", *last)]):
        speed = field(folder / name / "fields_00002000.vti", "velocity").reshape(CELLS, CELLS, -1)
        axis.imshow(share(design), origin="lower", extent=(0, CELLS, 0, CELLS), cmap="Greys_r", vmin=-0.3, vmax=1)
        axis.streamplot(centres, centres, speed[..., 0], speed[..., 1], color="C0", linewidth=0.8, density=0.9, arrowsize=0.7)
        axis.set(title=f"{title} design", xlabel="x", xlim=(0, CELLS), ylim=(0, CELLS))
    axes[0].set_ylabel("y")
    figure.savefig(folder / "pipe_bend.png", dpi=110)


def main():
    lbmc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    iterations = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    design = first = np.full((len(POINTS), len(POINTS)), SHARE)
    losses = []
    for iteration in range(iterations):
        loss, by_design = run(lbmc, folder / ("last" if iteration else "first"), design)
        losses.append(loss)
        last, design = design, moved(design, by_design)
        print(json.dumps({"iteration": iteration, "loss": loss, "share": share(last).mean()}), flush=True)
    draw(folder, (first, "first"), (last, "last"))
    if not losses[-1] < 0.5 * losses[0]:
        sys.exit("the loss has not fallen by half")


if __name__ == "__main__":
    main()
