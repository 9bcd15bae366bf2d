#!/usr/bin/env python3
"""A D3Q27 cavity in slabs on several GPUs of a host, by the layout of populations and by how halos are exchanged: layouts.cu beside this file.

    benchmarks/layouts.py OUT [SECONDS]

OUT is where layouts.json and log.txt go. Compiles with nvcc, compares small cavities with the host, then measures cubes on 1, 2, 4 and 8 GPUs, as many
as there are, and prints MLUPS and the speed-up over one GPU with the same layout. Begins nothing more after so many seconds (120). Its exit status
is 1 where populations differ between layouts or counts of GPUs, or something failed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().with_suffix(".cu")
BEGUN = time.monotonic()
SIZES = [192, 256, 384, 512]
# A cell reads and writes 27 populations of four bytes.
BYTES = 2 * 27 * 4


def said(command, log, limit):
    """What a command writes, also on standard error."""
    log.write(f"$ {' '.join(map(str, command))}\n")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, text=True, errors="replace")
        status, out = done.returncode, done.stdout
    except (subprocess.TimeoutExpired, OSError) as error:
        status, out = str(error), ""
    log.write(f"{out}(status {status})\n\n")
    log.flush()
    if status != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {status}\n{out[-4000:]}")
    return out


def compiler():
    folders = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + ["/usr/local/cuda"]
    found = shutil.which("nvcc") or next((path for path in (f"{folder}/bin/nvcc" for folder in folders) if Path(path).is_file()), None)
    if not found:
        raise RuntimeError("there is no nvcc in PATH, CUDA_HOME or /usr/local/cuda")
    return found


def build(program, log):
    """The options that the program was compiled with."""
    nvcc, errors = compiler(), []
    for arch in ("native", "sm_90"):
        options = ["-O3", f"-arch={arch}", "-std=c++17", "-Xcompiler", "-ffp-contract=off"]
        try:
            said([nvcc, *options, SOURCE, "-o", program], log, 90)
            return " ".join(options)
        except RuntimeError as error:
            errors.append(str(error))
    raise RuntimeError("\n".join(errors))


def measure(command, results, log, limit):
    """Runs the program and keeps its lines as they come, so that those before a failure are there."""
    log.write(f"$ {' '.join(map(str, command))}\n")
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    late = threading.Timer(limit, process.kill)
    late.start()
    words = []
    try:
        for line in process.stdout:
            log.write(line)
            log.flush()
            try:
                row = json.loads(line)
                results[row["kind"]].append(row)
            except (ValueError, KeyError, TypeError):
                words.append(line.strip())
                continue
            if row["kind"] == "flow":
                differs = "" if row["agrees"] else "  OTHER POPULATIONS"
                print(f"{label(row)} {row['gpus']} GPUs {row['mlups']:10.0f} MLUPS, {row['steps']} steps in {row['seconds']:.3f} s{differs}", flush=True)
            elif row["kind"] == "failure":
                print(f"FAILED {label(row)} {row['gpus']} GPUs: {row['error']}", flush=True)
        status = process.wait()
    finally:
        late.cancel()
    log.write(f"(status {status})\n\n")
    if words:
        print("\n".join(words[-10:]), flush=True)
    if status != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {status}\n" + "\n".join(words[-20:]))


def label(row):
    return f"{row['n']:4} {row['layout']:13} {row['halo']:6} {row['order']:13} {row.get('issued', ''):7}"


def table(results):
    """A row for each size and way of going about it: MLUPS by GPUs, and what that is over one GPU with the same layout."""
    what = ("n", "issued", "order", "halo", "layout")
    # On one GPU nothing is exchanged.
    alone = {(flow["n"], flow["layout"], flow["issued"]): flow for flow in results["flow"] if flow["gpus"] == 1}
    together = [flow for flow in results["flow"] if flow["gpus"] > 1] or list(alone.values())
    copies = {(row["n"], row["gpus"]): row["gb_per_s"] for row in results["copy"]}
    rows = {}
    for flow in together:
        row = rows.setdefault(tuple(flow[name] for name in what), {name: flow[name] for name in what} | {"gpus": {}})
        one = alone.get((flow["n"], flow["layout"], flow["issued"])) or alone.get((flow["n"], flow["layout"], "graph"))
        for each in (one, flow):
            if each:
                cell = row["gpus"].setdefault(each["gpus"], {"mlups": each["mlups"], "agrees": each["agrees"]})
                if one:
                    cell["speed_up"] = cell["mlups"] / one["mlups"]
                if (each["n"], each["gpus"]) in copies:
                    cell["fraction_of_copy"] = cell["mlups"] * BYTES / copies[each["n"], each["gpus"]] / 1e3
    return list(rows.values())


def gains(rows):
    """MLUPS of the disaggregated layout over those of the structure of arrays, where all else is the same."""
    by = {(row["n"], row["issued"], row["order"], row["layout"]): row for row in rows if row["halo"] == "copies"}
    found = []
    for (n, issued, order, layout), row in by.items():
        other = by.get((n, issued, order, "soa"))
        if layout == "disaggregated" and other:
            ratios = {gpus: cell["mlups"] / other["gpus"][gpus]["mlups"] for gpus, cell in row["gpus"].items() if gpus in other["gpus"]}
            found.append({"n": n, "issued": issued, "order": order, "ratio": ratios})
    return found


def show(results):
    counts = sorted({gpus for row in results["table"] for gpus in row["gpus"]})
    print("\nMLUPS, and speed-up over one GPU with the same layout")
    print(f"{'N':>4} {'layout':13} {'halo':6} {'order':13} {'issued':7}" + "".join(f"{gpus:>9} GPU{'s' if gpus > 1 else ' '}      " for gpus in counts))
    for row in results["table"]:
        cells = [row["gpus"].get(gpus) for gpus in counts]
        texts = [f"{cell['mlups']:13.0f}" + (f" {cell['speed_up']:5.3f}" if "speed_up" in cell else "      ") if cell else " " * 19 for cell in cells]
        print(label(row) + "".join(texts))
    for row in results["gains"]:
        ratios = ", ".join(f"{ratio:.3f} on {gpus}" for gpus, ratio in row["ratio"].items())
        print(f"{row['n']:4} disaggregated over soa, {row['order']}, {row['issued']}: {ratios}")
    for row in results["copy"]:
        print(f"{row['n']:4} copy: {row['gb_per_s']:.0f} GB/s on {row['gpus']}")
    for row in results["link"]:
        print(
            f"{row['n']:4} {row['bytes'] / 1e6:.2f} MB to the other GPU: one copy {row['one_copy_us']:.1f} us ({row['gb_per_s']:.0f} GB/s), "
            f"nine copies {row['nine_copies_us']:.1f} us"
        )


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1]).resolve()
    total = float(sys.argv[2]) if len(sys.argv) > 2 else 120.0
    out.mkdir(parents=True, exist_ok=True)
    results = {"machine": {}, "options": "", "check": [], "copy": [], "link": [], "flow": [], "failure": [], "left_out": [], "errors": {}}

    def left():
        return total - (time.monotonic() - BEGUN)

    def attempt(name, work):
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - whatever it is, what comes after is still wanted
            results["errors"][name] = str(error)
            print(f"FAILED {name}: {error}\n", flush=True)
            return None

    def keep():
        results["table"] = table(results)
        results["gains"] = gains(results["table"])
        results["seconds"] = time.monotonic() - BEGUN
        (out / "layouts.json").write_text(json.dumps(results, indent=1) + "\n")

    with open(out / "log.txt", "w") as log, tempfile.TemporaryDirectory() as work:
        program = Path(work) / "layouts"
        asked = ["--query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.memory", "--format=csv,noheader"]
        for name, command in (("gpus", ["nvidia-smi", *asked]), ("topology", ["nvidia-smi", "topo", "-m"])):
            results["machine"][name] = attempt(name, lambda command=command: said(command, log, 20))
        results["machine"]["compiler"] = attempt("compiler", lambda: said([compiler(), "--version"], log, 20).strip().splitlines()[-1])
        print("\n".join(str(text).strip() for text in results["machine"].values()), flush=True)
        results["options"] = attempt("build", lambda: build(program, log))
        if results["options"]:
            attempt("check", lambda: measure([program, "check"], results, log, max(20, left())))
            same = sum("false" not in json.dumps(row) for row in results["check"])
            print(f"{same} of {len(results['check'])} small cavities have the bits of the host", flush=True)
            keep()
            # Issued to streams by the host, step by step, what is recorded otherwise: last, where there is time.
            for n, issued in [(n, "graph") for n in SIZES] + [(SIZES[0], "streams")]:
                if left() <= 0:
                    results["left_out"].append({"n": n, "issued": issued})
                    continue
                attempt(f"{n} {issued}", lambda n=n, issued=issued: measure([program, n, f"{left():.0f}", issued], results, log, left() + 25))
                keep()
        keep()
        show(results)
    print(f"{time.monotonic() - BEGUN:.0f} s in all; {len(results['errors'])} errors; left out: {len(results['left_out'])}")
    return 1 if results["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
