#!/usr/bin/env python3
"""Gradients of cases: the time of a step backwards over that of a step of the flow, and gradients on a device beside those of the host.

usage: gradient.py LBMC [cpu | cuda | hip] [small | parts]     prints a JSON object; without a target: cpu; `small`: boxes for a try

`parts`: no times, but the largest differences of gradients on two devices, or in two parts of the host, from those on one: zeros.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

BOXES = {
    "cpu": {"d2q9_bgk": [1024, 1024], "d3q19_bgk": [96, 96, 96], "d3q27_cumulant": [80, 80, 80]},
    "gpu": {"d2q9_bgk": [4096, 2048], "d3q19_bgk": [256, 256, 128], "d3q27_cumulant": [256, 256, 96]},
}
STEPS, STATES, TIMES = 40, 10, 3

# A closed box with a lid, and a body in it if there is one.
BOX = """
spec = "{spec}"
precision = "{real}"
[domain]
size = {size}
[fluid]
viscosity = 0.02
velocity = 0.05
[faces]
{lid} = {{ rule = "moving_wall", velocity = {velocity} }}
others = "{others}"
{body}
[stop]
steps = {steps}
[gradient]
objective = "ux^2"
steps = {mean}
states = {states}
"""

BODY = """
[[solids]]
shape = "{shape}"
centre = {centre}
radius = 5.2
rule = "bounce_back"
"""

# Boxes in the middle, around the body, and at the lid.
REFINED = """
[refinement]
finest = 2
boxes = [{{ level = 2, from = {inner}, to = {outer} }}, {{ level = 1, from = {corner}, to = {size} }}]
"""


def run(lbmc, target, case, *settings):
    """What `gradient.json` and `summary.json` of a run have."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if "\n" in case:
            (folder / "box.toml").write_text(case)
            case = "box.toml"
        command = [lbmc, "run", case, "--quiet", "--out", "out"]
        for setting in (f"target={target}", *settings):
            command += ["--set", setting]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return [json.loads((folder / "out" / f"{name}.json").read_text()) for name in ("gradient", "summary")]


def box(spec, real, size, steps, mean=1, states=STATES, body=False, refined=False, symmetry=False):
    dim = len(size)
    centre = [side / 2 + 0.3 for side in size]
    corner, inner, outer = ([side * share for side in size] for share in (0.75, 0.3, 0.7))
    levels = REFINED.format(inner=inner, outer=outer, corner=corner, size=size) if refined else ""
    shape = "cylinder" if dim == 2 else "sphere"
    return BOX.format(
        spec=spec, real=real, size=size, steps=steps, mean=mean, states=states, lid="top" if dim == 2 else "front",
        velocity=[0.05, 0, 0][:dim], others="free_slip" if symmetry else "bounce_back",
        body=(BODY.format(shape=shape, centre=centre) if body else "") + levels,
    )


def times(lbmc, target, spec, real, size):
    """Milliseconds of a step, of one backwards, and of a whole gradient for each step: the least of some runs."""
    rows = []
    for _ in range(TIMES):
        gradient, summary = run(lbmc, target, box(spec, real, size, STEPS))
        rows.append((summary["seconds"], gradient["seconds_backwards"], gradient["seconds"]))
    step, back, whole = (1e3 * min(column) / STEPS for column in zip(*rows))
    return {
        "method": spec, "real": real, "size": size, "step_ms": step, "backwards_ms": back, "backwards_over_step": back / step,
        "gradient_ms": whole, "device": summary.get("device"),
    }


def numbers(value, at=""):
    """All numbers of a gradient by their path."""
    if isinstance(value, dict):
        return {path: number for key, own in value.items() for path, number in numbers(own, f"{at}/{key}").items()}
    if isinstance(value, list):
        return {path: number for key, own in enumerate(value) for path, number in numbers(own, f"{at}/{key}").items()}
    return {at: value}


def cases():
    """Gradients in f64 that are compared."""
    return {
        "pipe_bend": ("pipe_bend", "stop.steps=300"),
        "d2q9_bgk, body": (box("d2q9_bgk", "f64", [48, 32], 200, mean=5, body=True),),
        "d3q19_bgk, body": (box("d3q19_bgk", "f64", [32, 24, 16], 100, mean=5, body=True),),
        "d3q27_cumulant, body": (box("d3q27_cumulant", "f64", [32, 24, 16], 100, mean=5, body=True),),
        "d2q9_bgk, symmetry": (box("d2q9_bgk", "f64", [48, 32], 200, mean=5, body=True, symmetry=True),),
        "d3q19_bgk, symmetry": (box("d3q19_bgk", "f64", [32, 24, 16], 100, mean=5, body=True, symmetry=True),),
        "d2q9_bgk, refined": (box("d2q9_bgk", "f64", [96, 64], 100, mean=5, body=True, refined=True),),
        "d3q19_bgk, refined": (box("d3q19_bgk", "f64", [32, 32, 32], 50, mean=5, body=True, refined=True),),
    }


def agreement(lbmc, one, other):
    """The largest relative difference of gradients, each on a target with further settings, for each case."""
    found = {}
    for name, flow in cases().items():
        host, device = (
            numbers({key: gradient[key] for key in ("objective", "by")})
            for gradient, _ in (run(lbmc, target, *flow, *settings) for target, *settings in (one, other))
        )
        values = [(host[path], device[path]) for path in host if isinstance(host[path], float)]
        most = max(abs(one) for one, _ in values)
        found[name] = max(abs(one - other) / max(abs(one), 1e-12 * most) for one, other in values)
    return found


def main():
    lbmc, *more = sys.argv[1:]
    lbmc = str(pathlib.Path(lbmc).resolve())
    target = next((word for word in more if word not in ("small", "parts")), "cpu")
    if "parts" in more:
        print(json.dumps({"target": target, "parts": agreement(lbmc, (target, "devices=1"), (target, "devices=2"))}, indent=1))
        return
    boxes = BOXES["cpu" if target == "cpu" else "gpu"]
    if "small" in more:
        boxes = {spec: [32] * len(size) for spec, size in boxes.items()}
    rows = [times(lbmc, target, spec, real, size) for spec, size in boxes.items() for real in ("f64", "f32")]
    found = {"target": target, "times": rows}
    if target != "cpu":
        found["agreement"] = agreement(lbmc, ("cpu",), (target,))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
