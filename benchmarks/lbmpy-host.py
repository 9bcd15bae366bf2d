#!/usr/bin/env python3
"""D3Q19 and D3Q27 BGK on all cores: lbmc beside the C kernels that lbmpy generates, in one go.

    benchmarks/lbmpy-host.py LBMC OUT.json [FOLDER]

LBMC is the program, FOLDER (target/lbmpy unless given) is where virtual environments with lbmpy go. Needs g++ with OpenMP.
Both sides take the same real type and the same number of cells: once two arrays (pull), once a single one, in which a step
replaces populations in place (lbmc: AA; lbmpy: AA, esoteric twist and esoteric pull). lbmpy is tried with every
option below and its best counts. Its kernels run over the inner cells of arrays with a ghost layer; the copies that
would make them periodic are not made and not timed. lbmc's boxes are periodic.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# 2.0 is the current one; 1.3.7 is the last of the generator before it, which can store past the caches and split loops.
VERSIONS = {
    "2.0": ["lbmpy==2.0", "pystencils==2.0"],
    "1.3.7": ["lbmpy==1.3.7", "pystencils==1.3.7", "py-cpuinfo==9.0.0"],
}
# Streaming patterns of lbmpy for so many arrays.
PATTERNS = {2: ["pull"], 1: ["aa", "esotwist", "esopull"]}
ROUNDS, REPEATS, SECONDS, GIB = 1, 5, 0.3, 1.0


def flags():
    """What the processor can do, as Linux says it."""
    return Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()


def kernels_2(stencil, real, threads, arrays):
    """Kernels of lbmpy 2.0 with their options: vector width. Its option for non-temporal stores has no effect."""
    import pystencils as ps

    targets = [ps.Target.X86_AVX] + [ps.Target.X86_AVX512] * ("avx512f" in flags())
    for target, pattern in itertools.product(targets, PATTERNS[arrays]):
        def compiled(data, step, target=target, pattern=pattern):
            config = ps.CreateKernelConfig(target=target, default_dtype=real, ghost_layers=1)
            config.cpu.openmp.enable = True
            config.cpu.openmp.num_threads = threads
            config.cpu.vectorize.enable = True
            config.cpu.vectorize.assume_inner_stride_one = True
            config.cpu.vectorize.assume_aligned = True
            return ps.create_kernel(rule(data, stencil, pattern, step), config).compile()
        yield f"{pattern}, {target.name}", compiled


def kernels_1(stencil, real, threads, arrays):
    """Kernels of lbmpy 1.3.7 with their options: vector width, non-temporal stores, split loops."""
    import pystencils as ps

    widths = ["avx"] + ["avx512"] * ("avx512f" in flags())
    options = itertools.product(PATTERNS[arrays], widths, (False, True)[:arrays], (False, True)[:arrays])
    for pattern, width, streaming, split in options:
        def compiled(data, step, pattern=pattern, width=width, streaming=streaming, split=split):
            vectors = dict(instruction_set=width, assume_aligned=True, nontemporal=streaming,
                           assume_inner_stride_one=True)
            config = ps.CreateKernelConfig(target=ps.Target.CPU, data_type=real, cpu_openmp=threads, ghost_layers=1,
                                           cpu_vectorize_info=vectors)
            return ps.create_kernel(rule(data, stencil, pattern, step, split=split), config=config).compile()
        yield f"{pattern}, {width}{', non-temporal' * streaming}{', split' * split}", compiled


def rule(data, stencil, pattern, step, **options):
    """A step of lbmpy: the even (0) or the odd one (1) of a pattern with one array."""
    from lbmpy import LBMConfig, LBMOptimisation, Method, create_lb_update_rule
    from lbmpy.advanced_streaming import Timestep

    of_step = {} if pattern == "pull" else {"timestep": [Timestep.EVEN, Timestep.ODD][step]}
    config = LBMConfig(stencil=stencil, method=Method.SRT, relaxation_rate=1.7, compressible=True, equilibrium_order=2,
                       zero_centered=False, streaming_pattern=pattern, **of_step)
    target = "dst" if pattern == "pull" else "src"
    fields = LBMOptimisation(symbolic_field=data.fields["src"], symbolic_temporary_field=data.fields[target], **options)
    return create_lb_update_rule(lbm_config=config, lbm_optimisation=fields)


def worker(version, name, real, size, arrays):
    """Prints the speed of lbmpy's best kernel: runs inside its virtual environment."""
    import numpy as np
    import pystencils as ps
    from lbmpy import LBStencil, Stencil
    from lbmpy.maxwellian_equilibrium import get_weights

    stencil, best = LBStencil(Stencil[name]), {"mlups": 0.0}
    weights = [float(w) for w in get_weights(stencil)]
    kernels = kernels_2 if version.startswith("2") else kernels_1
    for options, compiled in kernels(stencil, real, os.cpu_count(), arrays):
        data = ps.create_data_handling(tuple(size), periodicity=True, default_layout="fzyx")
        for array in ("src", "dst"):
            data.add_array(array, values_per_cell=stencil.Q, dtype=np.dtype(real), alignment=64)
        steps = [compiled(data, step) for step in range(3 - arrays)]
        src, dst = data.cpu_arrays["src"], data.cpu_arrays["dst"]
        of_step = [{"src": src, "dst": dst}, {"src": dst, "dst": src}] if arrays == 2 else [{"src": src}] * 2
        for i, weight in enumerate(weights):
            src[..., i] = dst[..., i] = weight

        def run(pairs):
            start = time.perf_counter()
            for _ in range(pairs):
                steps[0](**of_step[0])
                steps[-1](**of_step[1])
            return time.perf_counter() - start

        run(1)
        pairs = max(1, round(SECONDS / run(1)))
        seconds = statistics.median(run(pairs) for _ in range(REPEATS))
        mlups = float(np.prod(size)) * 2 * pairs / seconds / 1e6
        if mlups > best["mlups"]:
            best = {"mlups": mlups, "options": options}
    print(json.dumps(best))


def environment(version, folder):
    """The Python of a virtual environment with that lbmpy."""
    place = folder / version
    if not (place / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin/pip", "install", "--quiet", *VERSIONS[version]], check=True)
        (place / "ready").touch()
    return place / "bin/python"


def ours(lbmc, name, real, arrays):
    with tempfile.TemporaryDirectory() as folder:
        real, block = {"float32": ("f32", "64x4x4"), "float64": ("f64", "32x4x4")}[real]
        subprocess.run([lbmc, "bench", "uniform", f"{name.lower()}_bgk", "--target", "cpu", "--real", real, "--block", block,
                        "--buffers", str(arrays), "--gib", str(GIB), "--out", folder], check=True, stdout=subprocess.DEVNULL)
        row = json.loads((Path(folder) / "uniform.json").read_text())["rows"][0]
    return row["device"], row


def main(lbmc, out, folder="target/lbmpy"):
    pythons = {version: environment(version, Path(folder)) for version in VERSIONS}
    info = Path("/proc/cpuinfo").read_text()
    result = {
        "command": "benchmarks/lbmpy-host.py LBMC OUT.json",
        "cpu": info.partition("model name\t: ")[2].partition("\n")[0],
        "rounds": ROUNDS,
        "rows": [],
    }
    columns = "{:<6} {:<8} {:>6} {:>8} {:>7}   {:>9} {:>9}   {}"
    print(columns.format("", "", "arrays", "lbmc", "fraction", "lbmpy", "ratio", "best options"))
    for name, real, arrays in itertools.product(("D3Q19", "D3Q27"), ("float32", "float64"), PATTERNS):
        lbmc_runs, lbmpy_runs = [], {version: [] for version in VERSIONS}
        for _ in range(ROUNDS):
            result["device"], row = ours(lbmc, name, real, arrays)
            lbmc_runs.append(row)
            for version, python in pythons.items():
                command = [python, __file__, "--worker", version, name, real, json.dumps(row["size"]), str(arrays)]
                output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                lbmpy_runs[version].append(json.loads(output.stdout.splitlines()[-1]))
        mine = max(lbmc_runs, key=lambda row: row["mlups"])
        row = {"stencil": name, "real": real, "arrays": arrays, "size": mine["size"], "mlups": mine["mlups"],
               "memory_bandwidth_gb_per_s": max(row["memory_bandwidth_gb_per_s"] for row in lbmc_runs)}
        row["fraction_of_bandwidth"] = (mine["fraction_of_bandwidth"] * mine["memory_bandwidth_gb_per_s"]
                                        / row["memory_bandwidth_gb_per_s"])
        for version, runs in lbmpy_runs.items():
            best = max(runs, key=lambda run: run["mlups"])
            row[f"lbmpy {version}"] = best | {"lbmc_over_lbmpy": mine["mlups"] / best["mlups"]}
            print(columns.format(name, real, arrays, f"{mine['mlups']:.1f}", f"{row['fraction_of_bandwidth']:.2f}", f"{best['mlups']:.1f}",
                                 f"{mine['mlups'] / best['mlups']:.2f}", f"lbmpy {version}: {best['options']}"), flush=True)
        result["rows"].append(row)
    Path(out).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:5], json.loads(sys.argv[5]), int(sys.argv[6]))
    elif len(sys.argv) in (3, 4):
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
