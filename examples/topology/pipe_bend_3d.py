"""Topology optimisation in three dimensions: the pipe of least pressure loss from the left to the bottom of a porous cube.

usage: pipe_bend_3d.py FOLDER [ITERATIONS]     draws FOLDER/pipe_bend_3d.png if matplotlib is there

As in `pipe_bend.py`, the design is the share of fluid S, from 0 to 1, at points and linear between them; the drag of a cell falls from MOST to 0 as S
rises (Borrvall & Petersson, Int. J. Numer. Methods Fluids 41 (2003) 77, equation 25), and the design moves by the optimality criteria method. Here
the package `lbmc` gives the flow the drag of each cell as an array (`set_places`), and derivatives by it (`gradient.places`).
At the end cells of little fluid become solid, and this pipe runs by itself, beside a quarter of a ring of as many cells: FOLDER/pipe has a view of it.
"""

import json
import pathlib
import sys

import numpy as np

import lbmc

CELLS, APART, SHARE = 24, 2, 0.12
MOST, BEND, MOVE = 0.3, 0.1, 0.2
WIDTH, VELOCITY, VISCOSITY = 8, 0.03, 0.1
STEPS = 400                             # steps in which the flow follows a change of the design
POINTS = np.arange(0, CELLS + 1, APART)
BESIDE, ACROSS = 17, CELLS / 2          # the axes of inlet and outlet: so far from the other face, and half-way along z

centres = np.arange(CELLS) + 0.5
HATS = np.maximum(0, 1 - np.abs(centres[None, :] - POINTS[:, None]) / APART)  # [point][cell]
z, y, x = np.meshgrid(centres, centres, centres, indexing="ij")
INLET = (x < 1) & (abs(y - BESIDE) < WIDTH / 2) & (abs(z - ACROSS) < WIDTH / 2)


def case(**more):
    """Fluid enters in a square at the left and leaves in one at the bottom."""
    low, high, before, behind = (round(at + side) for at in (BESIDE, ACROSS) for side in (-WIDTH / 2, WIDTH / 2))
    profile = f"{VELOCITY} * (1 - ((y - {BESIDE}) / {WIDTH / 2})^2) * (1 - ((z - {ACROSS}) / {WIDTH / 2})^2)"
    return {
        "target": "cpu",
        "precision": "f64",
        "domain": {"size": [CELLS] * 3},
        "fluid": {"viscosity": VISCOSITY, "velocity": VELOCITY, "length": WIDTH},
        "faces": {
            "left": {"rule": "bounce_back", "patches": [{
                "rule": "moving_wall", "velocity": [profile, 0, 0],
                "box": {"from": [0, low, before], "to": [0, high, behind]},
            }]},
            "bottom": {"rule": "bounce_back", "patches": [{
                "rule": "anti_bounce_back", "density": 1,
                "box": {"from": [low, 0, before], "to": [high, 0, behind]},
            }]},
            "others": "bounce_back",
        },
        **more,
    }


def porous():
    return lbmc.Case(case(
        spec=str(pathlib.Path(__file__).with_name("d3q19_porous.lbm")),
        params={"drag": "0.1 + 0 * x", "force": [0, 0, 0]},
        stop={"steps": STEPS},
        gradient={"objective": "rho - 1", "states": 100},
    )).start()


def share(design):
    """S of every cell, [z][y][x]."""
    return np.einsum("abc,az,by,cx->zyx", design, HATS, HATS, HATS, optimize=True)


def derived(flow, design):
    """The loss in the steady flow through a design, and its derivatives by the design."""
    of_cells = share(design)
    flow.set_places(drag_place_0=MOST * BEND * ((1 + BEND) / (BEND + of_cells) - 1))
    flow.step(STEPS)
    gradient = flow.gradient(STEPS, lambda at: ((at["rho"] - 1)[INLET].sum(), {"rho": np.where(INLET, 1.0, 0.0)}))
    by_share = -MOST * BEND * (1 + BEND) / (BEND + of_cells) ** 2 * gradient.places["drag_place_0"]
    return gradient.value, np.einsum("zyx,az,by,cx->abc", by_share, HATS, HATS, HATS, optimize=True)


def moved(design, by_design):
    """The next design: each point by its gain over its volume, and the volume as given."""
    volume = np.einsum("a,b,c->abc", *[HATS.sum(axis=1)] * 3)
    low, high = 1e-12, 1e3
    while high / low > 1 + 1e-9:
        price = np.sqrt(low * high)
        factor = np.sqrt(np.maximum(-by_design, 0) / (price * volume))
        found = np.clip(np.clip(design * factor, design - MOVE, design + MOVE), 0, 1)
        low, high = (price, high) if share(found).mean() > SHARE else (low, price)
    return found


def pipe(folder, fluid):
    """The loss in a pipe of these cells, all others solid; `lbmc` draws it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fluid.raw").write_bytes(np.where(fluid, 255, 0).astype(np.uint8).tobytes())
    image = {"shape": "image", "file": str((folder / "fluid.raw").resolve()), "voxels": [CELLS] * 3, "scale": 1, "inverted": True}
    lines = {"from": [1, BESIDE - 3, ACROSS - 3], "to": [1, BESIDE + 3, ACROSS + 3], "points": [1, 4, 4]}
    view = {"name": "pipe", "streamlines": lines, "colour": "density", "from": [0.3, -0.4, 1], "size": 600}
    whole = lbmc.Case(case(spec="d3q19_bgk", solids=[{**image, "rule": "bounce_back"}], stop={"steps": 4 * STEPS}, views=[view]))
    whole.run(folder, progress=False)
    flow = whole.start()
    flow.step(4 * STEPS)
    return (flow.own_fields["rho"] - 1)[INLET].sum()


def ring(count):
    """So many cells of a quarter of a ring from inlet to outlet."""
    from_axis = np.hypot(np.hypot(x, y) - BESIDE, z - ACROSS)
    return from_axis < np.sort(from_axis, axis=None)[count]


def draw(folder):
    """The views of both, side by side."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    for axis, (title, name) in zip(axes, [("the design of least loss", "pipe"), ("a quarter of a ring", "ring")]):
        axis.imshow(pyplot.imread(folder / name / "pipe.png"))
        axis.set(title=title)
        axis.set_axis_off()
    figure.savefig(folder / "pipe_bend_3d.png", dpi=90)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    flow, design, losses = porous(), np.full((len(POINTS),) * 3, SHARE), []
    for iteration in range(iterations):
        loss, by_design = derived(flow, design)
        losses.append(loss)
        print(json.dumps({"iteration": iteration, "loss": round(loss, 5), "share": round(share(design).mean(), 4)}), flush=True)
        last, design = design, moved(design, by_design)
    if not losses[-1] < 0.5 * losses[0]:
        sys.exit("the loss has not fallen by half")
    np.save(folder / "design.npy", last)
    fluid = share(last) > 0.5
    of_pipe, of_ring = pipe(folder / "pipe", fluid), pipe(folder / "ring", ring(fluid.sum()))
    print(json.dumps({"loss of the pipe": round(of_pipe, 4), "of a ring": round(of_ring, 4)}))
    draw(folder)


if __name__ == "__main__":
    main()
