#!/usr/bin/env python3
"""`wind_tunnel` on one GPU, and with four times the cells on two: speed, memory of each GPU, drag and lift at the same times, pictures.

    benchmarks/wind_tunnel.py LBMC OUT [LENGTHS]

LBMC is a release build of lbmc, OUT where the results go: wind_tunnel.json, log.txt, a folder for each flow. Both go as far as the flow goes in so many lengths of the
aeroplane (.4); GPUS (environment, 2) is how many GPUs have the large one. Cells of that are 1.6 times finer on every level, Reynolds number, criterion and
box in lengths of the aeroplane as before. Needs numpy, for `scripts/aeroplane.py`.
"""

import csv
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Used = runpy.run_path(str(ROOT / "benchmarks/several-gpus.py"))["Used"]
CASE = ROOT / "benchmarks/wind_tunnel.toml"
LENGTH, VELOCITY, EVERY, FINER = 120, 0.04, 64, 1.6

LARGE = [
    "domain.size=[640, 336, 336]",
    "fluid.length=192",
    "solids.0.scale=192",
    "solids.0.centre=[208, 168, 168]",
    "solids.0.area=6144",
    "refinement.boxes=[{ level = 1, from = [64, 32, 96], to = [576, 304, 240] }]",
    f"refinement.every={round(EVERY * FINER)}",
    'refinement.memory="66 GB"',
    "output.slice.at=168",
    "output.forces=80",
]


def flow(name, length, gpus, settings, log):
    """What a run says of itself, and of the forces on the aeroplane in time."""
    folder = OUT / name
    steps = round(LENGTHS * length / VELOCITY)
    settings = [*settings, f"stop.steps={steps}", "target=cuda"]
    command = [LBMC, "run", CASE, "--devices", str(gpus), "--out", folder, "--bandwidth"]
    command += [word for setting in settings for word in ("--set", setting)]
    log.write(f"$ {' '.join(map(str, command))}\n")
    log.flush()
    count = len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.splitlines())
    with Used() as used:
        subprocess.run(command, stdout=log, stderr=log, check=True, cwd=ROOT)
    summary = json.loads((folder / "summary.json").read_text())
    keys = ["cells", "levels", "steps", "seconds", "first_step_seconds", "mlups", "memory_bandwidth_gb_per_s", "fraction_of_bandwidth"]
    row = {key: summary.get(key) for key in keys + ["device", "device_bytes", "memory", "adaptations", "phases", "forces"]}
    row["mib_used"] = used.most(count)
    tables = sorted(folder.glob("forces*.csv"))
    if tables:
        with tables[0].open() as table:
            rows = [line for line in csv.DictReader(line for line in table if not line.startswith("#"))]
        row["forces_over_time"] = rows[:: max(1, len(rows) // 40)]
    print(f"{name}: {summary['cells']} cells, {summary['mlups']:.0f} MLUPS, {row['mib_used']} MiB", flush=True)
    return row


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    surface = ROOT / "benchmarks/aeroplane.stl"
    if not surface.exists():
        subprocess.run([sys.executable, ROOT / "scripts/aeroplane.py", surface], check=True)
    results = {"lengths": LENGTHS}
    gpus = int(os.environ.get("GPUS", "2"))
    for name, length, on, settings in [("small", LENGTH, 1, []), ("large", LENGTH * FINER, gpus, LARGE)]:
        with open(OUT / "log.txt", "a") as log:
            try:
                results[name] = flow(name, length, on, settings, log)
            except Exception as error:  # noqa: BLE001 - the other one is still wanted
                results[name] = {"failed": str(error)}
                print(f"FAILED {name}: {error}", flush=True)
        (OUT / "wind_tunnel.json").write_text(json.dumps(results, indent=1) + "\n")
    return 1 if any("failed" in row for row in results.values() if isinstance(row, dict)) else 0


if __name__ == "__main__":
    LBMC, OUT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    LENGTHS = float(sys.argv[3]) if len(sys.argv) > 3 else 0.4
    sys.exit(main())
