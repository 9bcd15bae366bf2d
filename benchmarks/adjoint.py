#!/usr/bin/env python3
"""Speed of tangents and adjoints on a GPU, beside that of a step, and <A x, y> = <x, A^T y>.

usage: adjoint.py LBMC FOLDER     (needs cupy; writes kernels into FOLDER, prints a JSON object a line)
"""

import json
import re
import subprocess
import sys

import cupy as cp
import numpy as np

BOXES = {"d2q9_bgk": (4096, 2048), "d3q19_bgk": (256, 256, 128), "d3q27_cumulant": (256, 256, 96)}
BLOCK = (128, 2, 1)
STEP, TANGENT, ADJOINT = "stream_collide", "stream_collide_tangent", "stream_collide_adjoint"


def milliseconds(launch, launches=10):
    """The least time of a launch, of three times ten."""
    launch()
    events = [cp.cuda.Event() for _ in range(2)]
    times = []
    for _ in range(3):
        events[0].record()
        for _ in range(launches):
            launch()
        events[1].record()
        events[1].synchronize()
        times.append(cp.cuda.get_elapsed_time(*events) / launches)
    return min(times)


def copy_bandwidth():
    """Bytes read and written a second by a copy of a gigabyte, in GB/s."""
    source = cp.zeros(2**28, cp.float32)
    there = cp.empty_like(source)
    return 2 * source.nbytes / milliseconds(lambda: cp.copyto(there, source)) / 1e6


def measure(lbmc, folder, spec, real):
    """A row: the method, its times over that of a step, parts of the copy, and how well the adjoint is the transpose."""
    command = [lbmc, "gen", spec, "--layout", "soa", "--real", real, "--adjoint", "--target", "cuda", "--out", folder, "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/{spec}.h", encoding="utf-8") as header:
        weights = re.search(r"_weights\[\w+\] = \{(.*?)\}", header.read(), re.DOTALL).group(1)
    weights = np.array([float(a) / float(b) for a, b in (one.split("/") for one in weights.split(","))])
    with open(f"{folder}/{spec}.cu", encoding="utf-8") as source:
        module = cp.RawModule(code=source.read(), options=("-std=c++17",))
    kernels = {name: module.get_function(f"{spec}_{name}") for name in (STEP, TANGENT, ADJOINT, f"{ADJOINT}_parameters")}

    # A layer of ghost cells; rows begin with a line of 128 bytes.
    size, value = BOXES[spec], np.float64 if real == "f64" else np.float32
    lead, q = 32, len(weights)
    strides = [size[0] + 2 * lead]
    for cells in size[1:]:
        strides.append(strides[-1] * (cells + 2))
    first = lead + sum(strides[:-1])
    arguments = tuple(map(np.int32, size)) + tuple(map(np.int64, strides))
    count, stride = q * strides[-1], strides[-1]
    random = lambda: cp.random.standard_normal(count).astype(value)
    f = cp.repeat(cp.asarray(weights), stride).astype(value) * (1 + value(0.02) * random())
    change, derivative = random(), random()
    after, changed, adjoint, by_all = (cp.zeros(count, value) for _ in range(4))
    by_rate = cp.zeros(stride, value)
    at = lambda array: array[first:]
    rate, its_change = value(1.6), value(0.3)
    given = {
        STEP: (at(f), at(after), rate),
        TANGENT: (at(f), at(change), at(changed), its_change, rate),
        ADJOINT: (at(f), at(derivative), at(adjoint), rate),
        f"{ADJOINT}_parameters": (at(f), at(derivative), at(by_all), at(by_rate), rate),
    }
    grid = tuple(-(-cells // side) for cells, side in zip((*size, 1)[:3], BLOCK))
    launch = lambda name: kernels[name](grid, BLOCK, arguments + given[name])

    for name in given:
        launch(name)
    inside = np.zeros((q, *(cells + 2 for cells in reversed(size[1:])), strides[0]), bool)
    inside[(slice(None), *(slice(1, -1) for _ in size[1:]), slice(lead, lead + size[0]))] = True
    inside = cp.asarray(inside.ravel())
    product = lambda a, b: float((a.astype(cp.float64) * b.astype(cp.float64)).sum())
    forward = product(changed[inside], derivative[inside])
    back = product(by_all, change) + float(its_change) * float(by_rate.astype(cp.float64).sum())

    times = {name: milliseconds(lambda name=name: launch(name)) for name in given}
    copy, cells = copy_bandwidth(), np.prod(size)
    part = lambda name, values: round(float(cells) * values * q * np.dtype(value).itemsize / times[name] / 1e6 / copy, 3)
    return {
        "method": spec,
        "real": real,
        "copy_gb_per_s": round(copy),
        "mlups_of_a_step": round(float(cells) / times[STEP] / 1e3),
        "time_over_a_step": {name: round(times[name] / times[STEP], 2) for name in given if name != STEP},
        "of_the_copy": {STEP: part(STEP, 2), ADJOINT: part(ADJOINT, 3)},
        "transpose": abs(forward - back) / abs(forward),
    }


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for name in BOXES:
        for precision in ("f64", "f32"):
            print(json.dumps(measure(sys.argv[1], sys.argv[2], name, precision)), flush=True)
