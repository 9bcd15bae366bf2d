#!/usr/bin/env python3
"""Times `lbmc gen` of every shipped spec, alone and with each shipped coupling: `compile-times.py LBMC CSV [ROUNDS] [ONLY]`.

A row holds the wall time and the time of all processors together, each the least of ROUNDS (2). Pairs that are refused, since the
coupling leaves a set of populations out, are left out. ONLY takes specs whose name contains it.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time

COUPLINGS = ["volumetric", "volumetric_shifted", "volumetric_timed", "interpolated", "interpolated_linear", "interpolated_means"]


def once(lbmc, spec, coupling):
    """Seconds on the wall and of processors, or nothing if the pair is refused."""
    with tempfile.TemporaryDirectory() as folder:
        command = [lbmc, "gen", spec, "--out", folder, "--report", os.path.join(folder, "report.json")]
        command += ["--coupling", coupling] if coupling else []
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode and "E0503" in done.stderr:
        return None
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    lbmc, path = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    listed = subprocess.run([lbmc, "specs"], capture_output=True, text=True, check=True).stdout
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["spec", "coupling", "seconds", "processor_seconds"])
        for spec in [line.split()[0] for line in listed.splitlines()]:
            for coupling in ["", *COUPLINGS] if only in spec else []:
                times = [once(lbmc, spec, coupling) for _ in range(rounds)]
                if None not in times:
                    out.writerow([spec, coupling, *(f"{min(both):.2f}" for both in zip(*times))])
                    file.flush()


if __name__ == "__main__":
    main()
