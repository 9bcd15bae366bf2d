#!/usr/bin/env python3
"""Flows on one GPU and on two of a host: the same bits, how much faster, how much memory, without an error of memory.

    benchmarks/several-gpus.py LBMC OUT [SECONDS]

LBMC is a release build of lbmc, OUT where the results go: several-gpus.json, log.txt with what each command said. Where there is an mpirun, the
same in two processes with a GPU each. Begins nothing more after so many seconds (200), and goes on where something fails; its exit status is 1 then.
STAGES (environment) names those of bits, sanitize, speed, memory and processes that are wanted, ONLY the flows.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGUN = time.monotonic()
# The list of files with their hashes, those with times in them too, and the page of a run, which has its times.
LEFT_OUT = {".lbmc.files", "report.html"}
# What differs between runs by nature.
OF_DEVICES = {"device", "parts", "device_bytes", "memory", "phases", "mlups", "memory_bandwidth_gb_per_s", "fraction_of_bandwidth"}

WALLS = """
spec = "d3q19_bgk"
precision = "{real}"
[domain]
size = [48, 32, 64]
[fluid]
re = 100
[faces]
left = "periodic"
right = "periodic"
top = {{ rule = "moving_wall", velocity = [0.05, 0, 0] }}
others = "bounce_back"
[start]
velocity = ["0.02 * sin(2*pi*x/lx)", "0.01 * cos(2*pi*z/lz)", 0]
[stop]
steps = 400
steady = 1e-12
check_every = 100
[output]
vtk = true
profiles = true
series = 50
restart = 400
"""

# Parameters that depend on time: steps are not recorded.
UNRECORDED = """
spec = "d2q9_guo"
precision = "f64"
[domain]
size = [128, 96]
[fluid]
viscosity = 0.02
velocity = 0.05
[params]
force = ["1e-5 * sin(2*pi*t/50)", 0]
[faces]
left = "periodic"
right = "periodic"
others = "bounce_back"
[stop]
steps = 200
[output]
series = 50
restart = 200
"""

# Refined around a cylinder and at a wall, with forces, probes and statistics.
REFINED = """
spec = "{spec}"
precision = "{real}"
block = [8, 8]
[domain]
size = [192, 96]
[fluid]
re = 100
velocity = 0.05
length = 16
[faces]
left = {{ rule = "moving_wall", velocity = [0.05, 0] }}
right = {{ rule = "anti_bounce_back", density = 1 }}
others = "bounce_back"
[[solids]]
shape = "cylinder"
centre = [48.3, 47.6]
radius = 8
rule = "interpolated_bounce_back"
[refinement]
finest = 2
boxes = [
    {{ level = 1, from = [16, 16], to = [128, 80] }},
    {{ level = 2, from = [32, 32], to = [80, 64] }},
]
[start]
velocity = ["0.05", "0.005 * sin(2*pi*x/lx)"]
[stop]
steps = 400
[output]
profiles = true
forces = 20
vtk = true
restart = 400
[[probes]]
name = "wake"
at = [[90, 48], [120.3, 40.2]]
fields = ["velocity", "vorticity"]
every = 20
[[statistics]]
name = "mean"
of = ["mean", "stresses"]
from = 100
every = 10
"""


GHOSTS = "[refinement]\ncoupling = \"interpolated\""


def adaptive(real):
    text = (ROOT / "cases/cavity2d_adaptive.toml").read_text()
    text = text[: text.index("[stop]")].replace('precision = "f64"', f'precision = "{real}"')
    return text + "[stop]\nsteps = 600\n[output]\nprofiles = true\nvtk = true\nseries = 100\nrestart = 600\n"


# A grid that follows the flow, with all that goes along: statistics, fields to compare with, restart files.
FOLLOWED = """
spec = "d3q19_bgk"
precision = "f32"
block = [4, 4, 4]
[domain]
size = [32, 32, 64]
[fluid]
re = 400
[faces]
top = { rule = "moving_wall", velocity = [0.05, 0.02, 0] }
left = "periodic"
right = "periodic"
others = "bounce_back"
[refinement]
finest = 2
criterion = "vorticity"
threshold = 3
every = 8
[start]
velocity = ["0.03 * sin(2*pi*z/lz)", "0.02 * cos(2*pi*x/lx)", 0]
[stop]
steps = 240
steady = 1e-12
check_every = 60
[output]
vtk = true
profiles = true
series = 120
restart = 120
[[statistics]]
name = "mean"
of = ["mean", "stresses"]
from = 40
every = 10
"""

BITS = [
    ("walls_f32", WALLS.format(real="f32"), []),
    ("walls_f64", WALLS.format(real="f64"), []),
    ("walls_f16", WALLS.format(real="f16/f32"), []),
    ("unrecorded_f64", UNRECORDED, []),
    ("refined_f64", REFINED.format(spec="d2q9_recursive", real="f64"), []),
    ("refined_f32", REFINED.format(spec="d2q9_bgk", real="f32"), []),
    # In so little memory two GPUs share what lies in blocks.
    ("adaptive_f64", adaptive("f64"), ['refinement.memory="24 MB"']),
    ("adaptive_f32", adaptive("f32"), []),
    ("ghosts_f64", REFINED.format(spec="d2q9_recursive", real="f64").replace("[refinement]", GHOSTS), []),
    ("ghosts_adaptive_f32", adaptive("f32").replace("[refinement]", GHOSTS), []),
    ("followed", FOLLOWED, ['refinement.memory="1 GB"']),
    ("cavity240", (ROOT / "benchmarks/cavity240.toml").read_text(), ["stop.steps=20", "output.restart=20"]),
    ("oscillating", (ROOT / "cases/oscillating_cylinder.toml").read_text(), ["stop.steps=100", "output.restart=100"]),
    (
        "oscillating_shared",
        (ROOT / "cases/oscillating_cylinder.toml").read_text(),
        ["stop.steps=100", "output.restart=100", 'refinement.memory="60 MB"'],
    ),
]

BOX = """
spec = "d3q19_bgk"
precision = "f32"
storage = "populations"
block = [4, 4, 4]
[domain]
size = {size}
[fluid]
omega = 1.6
velocity = 0.05
[faces]
others = "periodic"
[stop]
steps = {steps}
"""

CAVITY = """
spec = "d3q27_bgk"
precision = "f32"
storage = "populations"
block = [4, 4, 4]
[domain]
size = [192, 192, 192]
[fluid]
re = 100
velocity = 0.04
[faces]
top = { rule = "moving_wall", velocity = [0.04, 0, 0] }
others = "bounce_back"
[stop]
steps = 6000
"""

# Name, text, what is set on one GPU and on two.
SPEED = [
    ("cavity512_strong", (ROOT / "benchmarks/cavity512.toml").read_text(), ["stop.steps=150"], ["stop.steps=150"]),
    (
        "cavity3d_agal_strong",
        (ROOT / "benchmarks/cavity3d_agal.toml").read_text().split("[output]")[0],
        ["stop.steps=256"],
        ["stop.steps=256"],
    ),
    (
        "cavity3d_agal_weak",
        (ROOT / "benchmarks/cavity3d_agal.toml").read_text().split("[output]")[0],
        ["stop.steps=128"],
        ["stop.steps=128", "domain.size=[128,64,64]"],
    ),
    ("box_512_weak", BOX.format(size=[512, 512, 512], steps=200), [], ["domain.size=[512,512,1024]"]),
    ("cavity192_d3q27_strong", CAVITY, [], []),
    ("cavity256_d3q27_strong", CAVITY, *[["domain.size=[256,256,256]", "stop.steps=3000"]] * 2),
    ("box_256_strong", BOX.format(size=[256, 256, 256], steps=2000), [], []),
    ("box_256_weak", BOX.format(size=[256, 256, 256], steps=2000), [], ["domain.size=[256,256,512]"]),
]


# A flow in more and in less memory than it may need, and with more cells than fit.
MEMORY = [
    (
        "cavity3d_agal_10gb",
        (ROOT / "benchmarks/cavity3d_agal.toml").read_text().split("[output]")[0],
        ["stop.steps=256", 'refinement.memory="10 GB"'],
    ),
    ("cavity3d_agal", (ROOT / "benchmarks/cavity3d_agal.toml").read_text().split("[output]")[0], ["stop.steps=256"]),
    (
        "cavity3d_agal_2gb",
        (ROOT / "benchmarks/cavity3d_agal.toml").read_text().split("[output]")[0],
        ["stop.steps=256", 'refinement.memory="2 GB"'],
    ),
]


class Failed(Exception):
    """What a command or a comparison says where it fails."""


def run(command, log, limit, **more):
    """What a command writes on standard output; its words go to the log as well."""
    log.write(f"$ {' '.join(map(str, command))}\n")
    began = time.monotonic()
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit, text=True, errors="replace", cwd=ROOT, **more
        )
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        words = [(part or b"").decode(errors="replace") if isinstance(part, bytes) else part or "" for part in (late.stdout, late.stderr)]
        status, out, err = "time is up", *words
    log.write(f"{out}{err}({time.monotonic() - began:.1f} s, status {status})\n\n")
    log.flush()
    if status != 0:
        raise Failed(f"{' '.join(map(str, command))}\nstatus {status}\n{out[-3000:]}{err[-6000:]}")
    return out


def left(limit):
    return max(5.0, min(limit, TOTAL + 15 - (time.monotonic() - BEGUN)))


def flow(folder, text, settings, devices, log, limit, bandwidth=False, processes=1):
    """The summary of a case on so many GPUs, or in so many processes with one each, and how long all of it took."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Both runs have a case of one name.
    case = folder.parent / f"{folder.name.rsplit('_', 1)[0]}.toml"
    case.write_text(text)
    settings = [word for setting in settings for word in ("--set", setting)]
    command = [LBMC, "run", case, "--set", "target=cuda", "--out", folder, *settings]
    if processes > 1:
        command = [*MPIRUN, "-n", str(processes), *command]
    else:
        command += ["--devices", str(devices)]
    began = time.monotonic()
    run(command + (["--bandwidth"] if bandwidth else []), log, left(limit))
    return json.loads((folder / "summary.json").read_text()), time.monotonic() - began


def compared(path):
    """What two runs must have in common of a file: of a restart file what follows its head, of a summary no times and devices."""
    data = path.read_bytes()
    if path.suffix == ".lbmr" or path.name.startswith("restart"):
        return data[20 + struct.unpack_from("<Q", data, 12)[0] + 32 :]
    if path.name == "case.toml":
        return b"the number of devices"
    if path.name == "summary.json":
        summary = json.loads(data)
        kept = {key: value for key, value in summary.items() if key not in OF_DEVICES and "seconds" not in key}
        kept.get("adaptations", {}).pop("room", None)
        return json.dumps(kept, sort_keys=True).encode()
    return data


def differences(one, other):
    """What differs between the files of two folders, a line each."""
    names = [sorted(str(path.relative_to(at)) for path in at.rglob("*") if path.is_file() and path.name not in LEFT_OUT) for at in (one, other)]
    found = [] if names[0] == names[1] else [f"files {names[0]} and {names[1]}"]
    for name in sorted(set(names[0]) & set(names[1])):
        first, second = compared(one / name), compared(other / name)
        if first != second:
            at = next((at for at, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
            count = sum(a != b for a, b in zip(first, second)) if len(first) < 1 << 24 else -1
            found.append(f"{name}: {len(first)} and {len(second)} bytes, first difference at {at}, {count} in all")
            if name == "summary.json":
                a, b = json.loads(first), json.loads(second)
                found += [f"  {key}: {a.get(key)} and {b.get(key)}" for key in a if a.get(key) != b.get(key)]
    return found


def wanted(flows):
    """Those of some flows that are asked for by name."""
    names = os.environ.get("ONLY", "").split()
    return [flow for flow in flows if not names or flow[0] in names]


class Used:
    """Most memory that each GPU has in use while something runs, in MiB, as nvidia-smi says."""

    def __enter__(self):
        asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-lms", "100"]
        self.sampled, self.process = [], subprocess.Popen(asked, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=lambda: self.sampled.extend(int(line) for line in self.process.stdout))
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.reader.join()

    def most(self, gpus):
        return [max(self.sampled[gpu::gpus], default=0) for gpu in range(gpus)]


def memory(results, log, work):
    gpus = len(run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], log, 20).splitlines())
    for name, text, settings in wanted(MEMORY):
        row = results["memory"].setdefault(name, {})
        for devices in (1, 2):
            if time.monotonic() - BEGUN > TOTAL:
                results["left_out"].append(f"memory {name} on {devices}")
                continue
            try:
                with Used() as used:
                    summary, _ = flow(work / f"memory_{devices}", text, settings, devices, log, 90)
                row[devices] = {key: summary.get(key) for key in ["cells", "steps", "seconds", "mlups", "device_bytes", "adaptations", "phases"]}
                row[devices]["mib_used"] = used.most(gpus)
                adapting = 1e6 * summary["phases"].get("adapt", 0.0)
                at = f"{summary['cells']} cells, {used.most(gpus)} MiB, {summary['mlups']:.0f} MLUPS, changes {adapting:.0f} us a step"
                print(f"memory {name:24} {devices}: {at}; {summary['adaptations']}", flush=True)
            except Exception as error:  # noqa: BLE001
                fail(results, f"memory {name} on {devices}", error)


def bits(results, log, work):
    for name, text, settings in wanted(BITS):
        if time.monotonic() - BEGUN > TOTAL:
            results["left_out"].append(name)
            continue
        try:
            settings = settings + ['output.directory="unused"']
            took = {}
            for devices in (1, 2):
                summary, took[devices] = flow(work / f"{name}_{devices}", text, settings, devices, log, 60)
            found = differences(work / f"{name}_1", work / f"{name}_2")
            files = sorted(str(path.relative_to(work / f"{name}_1")) for path in (work / f"{name}_1").rglob("*") if path.is_file())
            if found:
                raise Failed("other bits on two GPUs:\n" + "\n".join(found))
            results["bits"][name] = {"same": True, "files": files, "steps": summary["steps"], "seconds": took}
            print(f"bits {name:24} the same in {len(files)} files ({took[1]:.1f} s, {took[2]:.1f} s)", flush=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, what comes after is still wanted
            fail(results, f"bits {name}", error)


def speed(results, log, work):
    for name, text, *settings in wanted(SPEED):
        if time.monotonic() - BEGUN > TOTAL:
            results["left_out"].append(name)
            continue
        row = results["speed"].setdefault(name, {})
        for devices in (1, 2):
            try:
                summary, took = flow(work / f"{name}_{devices}", text, settings[devices - 1], devices, log, 90, True)
                shutil.rmtree(work / f"{name}_{devices}", ignore_errors=True)
                keys = ["mlups", "cells", "steps", "seconds", "first_step_seconds", "memory_bandwidth_gb_per_s", "fraction_of_bandwidth"]
                row[devices] = {key: summary.get(key) for key in keys + ["phases", "device_bytes", "adaptations", "device"]}
                row[devices]["wall_seconds"] = took
                at = f"{summary['mlups']:10.0f} MLUPS, {summary['cells']} cells, {summary['steps']} steps in {summary['seconds']:.2f} s"
                copy = f"copy {summary['memory_bandwidth_gb_per_s']:.0f} GB/s, fraction {summary['fraction_of_bandwidth']:.3f}"
                print(f"speed {name:24} {devices}: {at}; {copy}; {took:.1f} s in all", flush=True)
            except Exception as error:  # noqa: BLE001
                fail(results, f"speed {name} on {devices}", error)
        if 1 in row and 2 in row:
            row["ratio"] = row[2]["mlups"] / row[1]["mlups"]
            print(f"speed {name:24} two GPUs over one: {row['ratio']:.3f}, efficiency {row['ratio'] / 2:.3f}", flush=True)


# Flows whose bits and speed are compared in two processes.
IN_PROCESSES = ["walls_f32", "walls_f16", "unrecorded_f64", "refined_f64", "adaptive_f64", "ghosts_f64", "ghosts_adaptive_f32", "followed", "oscillating"]
FAST_IN_PROCESSES = ["box_512_weak", "cavity512_strong", "cavity192_d3q27_strong", "cavity3d_agal_strong"]


def processes(results, log, work):
    if not shutil.which(MPIRUN[0]):
        results["left_out"].append("processes")
        print("there is no mpirun", flush=True)
        return
    cases = [(name, text, settings + ['output.directory="unused"']) for name, text, settings in wanted(BITS) if name in IN_PROCESSES]
    for name, text, settings in cases:
        try:
            flow(work / f"{name}_1", text, settings, 1, log, 60)
            summary, took = flow(work / f"{name}_2", text, settings, 1, log, 60, processes=2)
            found = differences(work / f"{name}_1", work / f"{name}_2")
            if found:
                raise Failed("other bits in two processes:\n" + "\n".join(found))
            results["processes"][name] = {"same": True, "steps": summary["steps"], "seconds": took}
            print(f"two processes {name:24} the same bits ({took:.1f} s)", flush=True)
        except Exception as error:  # noqa: BLE001
            fail(results, f"two processes {name}", error)
    for name, text, _, settings in wanted(SPEED):
        if name not in FAST_IN_PROCESSES or time.monotonic() - BEGUN > TOTAL:
            continue
        try:
            summary, took = flow(work / f"{name}_2", text, settings, 1, log, 90, True, processes=2)
            shutil.rmtree(work / f"{name}_2", ignore_errors=True)
            results["processes"][name] = {key: summary.get(key) for key in ["mlups", "cells", "steps", "seconds", "fraction_of_bandwidth", "phases"]}
            print(f"two processes {name:24} {summary['mlups']:10.0f} MLUPS; {took:.1f} s in all", flush=True)
        except Exception as error:  # noqa: BLE001
            fail(results, f"two processes {name}", error)


def sanitize(results, log, work):
    if not shutil.which("compute-sanitizer"):
        results["left_out"].append("compute-sanitizer")
        print("there is no compute-sanitizer", flush=True)
        return
    small = REFINED.format(spec="d2q9_bgk", real="f32").replace("steps = 400", "steps = 60").replace("restart = 400", "restart = 60")
    small = small.replace("from = 100", "from = 10")
    followed = FOLLOWED.replace("steps = 240", "steps = 48").replace("= 120", "= 24").replace("from = 40", "from = 4")
    followed = followed.replace("every = 8", 'every = 8\nmemory = "1 GB"')
    for tool, name, text in [("memcheck", "small", small), ("memcheck", "small_followed", followed)]:
        try:
            case = work / f"{name}.toml"
            case.write_text(text)
            command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", LBMC, "run", case, "--set", "target=cuda"]
            run(command + ["--devices", "2", "--out", work / name], log, left(60))
            results["sanitizer"][f"{tool} {name}"] = "no error"
            print(f"{tool} {name}: no error", flush=True)
        except Exception as error:  # noqa: BLE001
            fail(results, f"{tool} {name}", error)


def fail(results, name, error):
    results["failures"][name] = str(error)
    print(f"FAILED {name}: {error}\n", flush=True)


def main():
    out = Path(sys.argv[2]).resolve()
    work = Path(os.environ.get("TMPDIR", "/tmp")) / f"several-gpus-{os.getpid()}"
    out.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True)
    results = {"machine": {}, "bits": {}, "speed": {}, "memory": {}, "processes": {}, "sanitizer": {}, "failures": {}, "left_out": []}
    with open(out / "log.txt", "w") as log:
        try:
            asked = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
            results["machine"] = {"gpus": run(["nvidia-smi", *asked], log, 20), "topology": run(["nvidia-smi", "topo", "-m"], log, 20)}
            print(results["machine"]["gpus"] + results["machine"]["topology"], flush=True)
        except Exception as error:  # noqa: BLE001
            fail(results, "nvidia-smi", error)
        stages = os.environ.get("STAGES", "bits sanitize speed memory processes").split()
        for stage in (bits, sanitize, speed, memory, processes):
            if stage.__name__ not in stages:
                continue
            stage(results, log, work)
            results["seconds"] = time.monotonic() - BEGUN
            (out / "several-gpus.json").write_text(json.dumps(results, indent=1) + "\n")
    shutil.rmtree(work, ignore_errors=True)
    print(f"{time.monotonic() - BEGUN:.0f} s in all; {len(results['failures'])} failures; left out: {results['left_out']}")
    return 1 if results["failures"] else 0


if __name__ == "__main__":
    LBMC = Path(sys.argv[1]).resolve()
    MPIRUN = os.environ.get("MPIRUN", "mpirun").split()
    TOTAL = float(sys.argv[3]) if len(sys.argv) > 3 else 200.0
    sys.exit(main())
