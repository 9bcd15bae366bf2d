#!/usr/bin/env python3
"""Methods that read values of neighbours on a GPU: the flow of the host, and how fast. Needs numpy.

    benchmarks/neighbours.py LBMC OUT [METHOD ...]

LBMC is a release build of lbmc, OUT where neighbours.json goes. A small flow of each method, or of those that are named, is run in 64 bits on host and GPU
and all fields compared; then a periodic box in 32 bits, and the bytes of all passes, which `lbmc gen --report` states, are compared with what a copy moves
in the same run. Its exit status is 1 where something failed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from channel import image

# Parameters, and how the flow begins.
WAVES_2D = 'velocity = ["0.03 * sin(2*pi*y/ly)", "0.02 * sin(4*pi*x/lx)"]'
WAVES_3D = 'velocity = ["0.03 * sin(2*pi*y/ly)", "0.02 * sin(4*pi*x/lx)", "0.01 * cos(2*pi*x/lx)"]'
DROP = "0.5 - 0.5 * tanh((sqrt((x - lx/2)^2 + (y - ly/2)^2) - lx/4) / 2)"
METHODS = {
    "d2q9_shan_chen": ("omega = 1\nstrength = -4.5", f'density = "0.23 + 1.24 * ({DROP})"'),
    "d2q9_two_fluids": ("omega = 1\nomega_g = 1.2\nstrength = 3\ndrive = [1e-6, 0]", f'density = "0.02 + 0.96 * ({DROP})"\nsigma = "0.98 - 0.96 * ({DROP})"'),
    "d2q9_phase_field": (
        "omega = 1\nomega_heavy = 1.4\nomega_g = 1.7\nheavy = 10\ntension = 1e-3\nwidth = 4\nlightest = 1\ngravity = [0, -1e-6]",
        f'pressure = 1\nphase = "{DROP}"',
    ),
    "d2q9_hybrid": ("omega = 1.8\nsigma = 0.95", WAVES_2D),
    "d3q19_hybrid": ("omega = 1.8\nsigma = 0.95", WAVES_3D),
    "d3q27_hybrid": ("omega = 1.8\nsigma = 0.95", WAVES_3D),
    "d3q19_wale": ("omega = 1.9\nwale = 0.325\nsigma = 0.99\nforce = [1e-6, 0, 0]", WAVES_3D),
    "d3q19_vreman": ("omega = 1.9\nvreman = 0.025\nsigma = 0.99\nforce = [1e-6, 0, 0]", WAVES_3D),
    "d2q9_bgk": ("omega = 1.8", WAVES_2D),
    "d3q19_bgk": ("omega = 1.8", WAVES_3D),
    "d3q27_recursive": ("omega = 1.8", WAVES_3D),
}


def case(spec, real, size, steps, walls, vtk):
    params, start = METHODS[spec]
    faces = 'bottom = "bounce_back"\ntop = "bounce_back"\n' if walls else ""
    return (
        f'spec = "{spec}"\nprecision = "{real}"\nstorage = "populations"\n[domain]\nsize = {size}\n[fluid]\nvelocity = 0.05\n[params]\n{params}\n'
        f'[faces]\n{faces}others = "periodic"\n[start]\n{start}\n[stop]\nsteps = {steps}\n[output]\nvtk = {str(vtk).lower()}\n'
    )


def run(folder, text, target, *more):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "case.in.toml"
    file.write_text(text)
    done = subprocess.run(
        [LBMC, "run", file, "--set", f"target={target}", "--devices", "1", "--out", folder / target, "--quiet", *more], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-3000:])
    return json.loads((folder / target / "summary.json").read_text())


def agree(work):
    found = {}
    for spec in METHODS:
        size = [64, 48] if spec.startswith("d2") else [32, 24, 16]
        try:
            text = case(spec, "f64", size, 200, True, True)
            for target in ("cpu", "cuda"):
                run(work / spec, text, target)
            (host,), (gpu,) = ([*(work / spec / target).glob("fields*.vti")][-1:] for target in ("cpu", "cuda"))
            host, gpu = image(host), image(gpu)
            most = {name: float(abs(host[name] - gpu[name]).max()) for name in host}
            finite = all(np.isfinite(gpu[name]).all() for name in gpu)
            moved = max(float(np.ptp(host[name])) for name in host)
            found[spec] = {"largest_difference": max(most.values()), "range": moved, "finite": finite}
        except Exception as error:  # noqa: BLE001 - the others are still wanted
            found[spec] = {"error": str(error)}
        print("agree", spec, found[spec], flush=True)
    return found


def speed(work):
    found = {}
    for spec in METHODS:
        size = [8192, 4096] if spec.startswith("d2") else [320, 320, 320]
        try:
            report = work / spec / "report.json"
            (work / spec).mkdir(parents=True, exist_ok=True)
            summary = run(work / spec / "fast", case(spec, "f32", size, 400, False, False), "cuda", "--bandwidth")
            block = "x".join(map(str, summary["block"][: len(size)]))
            options = ["--real", "f32", "--target", "cuda", "--block", block, "--out", work / spec / "gen", "--report", report]
            subprocess.run([LBMC, "gen", spec, *options], check=True, capture_output=True)
            kernels = {kernel["name"]: kernel["simplified"]["bytes"] for kernel in json.loads(report.read_text())["kernels"]}
            one = "expose_stream_collide"
            passes = {name: kernels[name] for name in ([one] if one in kernels else ["expose", "stream_collide"]) if name in kernels}
            row = {key: summary[key] for key in ("mlups", "memory_bandwidth_gb_per_s", "fraction_of_bandwidth", "cells", "device", "block")}
            of_passes = summary["mlups"] * 1e6 * sum(passes.values()) / (summary["memory_bandwidth_gb_per_s"] * 1e9)
            found[spec] = {**row, "bytes_of_passes": passes, "fraction_of_passes": of_passes}
        except Exception as error:  # noqa: BLE001
            found[spec] = {"error": str(error)}
        print("speed", spec, json.dumps(found[spec]), flush=True)
    return found


if __name__ == "__main__":
    LBMC = Path(sys.argv[1]).resolve()
    out = Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    results = {}
    METHODS = {name: METHODS[name] for name in sys.argv[3:]} or METHODS
    with tempfile.TemporaryDirectory() as work:
        for stage in (agree, speed):
            results[stage.__name__] = stage(Path(work))
            (out / "neighbours.json").write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(any("error" in row for stage in results.values() for row in stage.values()))
