#!/usr/bin/env python3
"""Forces and pressures on bodies beside experiments: a sphere, an aerofoil, a building in the wind. Needs nothing but Python.

    benchmarks/loads.py sphere LBMC OUT [--set KEY=VALUE ...]
    benchmarks/loads.py aerofoil LBMC OUT [--angles 4.04 10.12] [--finest 4] [--set KEY=VALUE ...]
    benchmarks/loads.py building LBMC OUT [--set KEY=VALUE ...]

Runs the cases `subcritical_sphere`, `aerofoil` and `wind_on_building` beside this file. Means are those of the last half of the time; errors are standard
errors of them. Writes OUT/sphere.json, OUT/aerofoil.json, with lift and drag of each angle and finest level, or OUT/building.json, with the mean pressure
coefficient of each face and along the middle of the cube. An aerofoil that starts at once has its lift only after a while: `steady` is the mean lift
over Wagner's part of it in the same time.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

from bodies import HERE, last_half, mean_of, rounded, rows, run

# Clift, Grace & Weber, Bubbles, Drops and Particles (1978); Constantinescu & Squires, Phys. Fluids 16 (2004) 1449.
SPHERE = {"clift_1978": 0.41, "constantinescu_squires_2004": 0.393}
# Ladson, NASA TM 4074 (1988): Re 6 million, Mach 0.15, layers tripped with grit of 80.
AEROFOIL = {4.04: {"cl": 0.4316, "cd": 0.00823}, 10.12: {"cl": 1.0707, "cd": 0.01201}}
# Swami & Chandra, ASHRAE Trans. 94 (1988) 243; the roof: Liddament, AIVC (1986), flat roofs of exposed low buildings as long as wide.
BUILDING = {"front": 0.60, "side": -0.44, "other": -0.44, "rear": -0.36, "roof": -0.6}
LEVELS = {4: [(3, 0.04), (2, 0.2), (1, 0.6)], 5: [(4, 0.02), (3, 0.07), (2, 0.2), (1, 0.6)]}
KEPT = ("status", "steps", "seconds", "mlups", "device", "levels", "cell", "version", "y_plus")


def flow(args, name, folder, settings):
    summary, _ = run(args.lbmc, name, folder, [*settings, *args.set])
    return {key: summary[key] for key in KEPT if key in summary}


def sphere(args):
    folder = args.out / "sphere"
    kept = flow(args, "subcritical_sphere", folder, [])
    half, end = last_half(rows(folder / "forces.csv"))
    return {"cd": rounded(*mean_of([float(row["cd"]) for row in half])), "published": SPHERE, "diameters_passed": end, "run": kept}


def aerofoil(args):
    surface = args.out / "naca0012.stl"
    subprocess.run([sys.executable, HERE.parent / "scripts/naca.py", "12", surface, "0.5"], check=True, stdout=subprocess.DEVNULL)
    found = []
    for finest in args.finest:
        shells = ", ".join(f'{{ level = {level}, within = "{within} m" }}' for level, within in LEVELS[finest])
        for angle in args.angles:
            along, across = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            stream = f'["{along:.6f} m/s", "{across:.6f} m/s", 0]'
            settings = [f"{key}.velocity={stream}" for key in ("faces.left", "faces.right", "faces.bottom", "faces.top", "start")]
            settings += [f"solids.0.file={surface.resolve()}", f"solids.0.shells=[{shells}]", f"refinement.finest={finest}"]
            folder = args.out / f"aerofoil_{finest}_{angle:g}"
            kept = flow(args, "aerofoil", folder, settings)
            half, end = last_half(rows(folder / "forces.csv"))
            forces = [(float(row["time"]), float(row["cd"]), float(row["cy"])) for row in half]
            lift = mean_of([y * along - x * across for _, x, y in forces])
            drag = mean_of([x * along + y * across for _, x, y in forces])
            # The time is in chords; Wagner's function as Garrick approximates it, of half-chords.
            part = sum(1 - 2 / (4 + 2 * time) for time, _, _ in forces) / len(forces)
            measured = AEROFOIL.get(angle)
            found.append(
                {"angle": angle, "cells_along_the_chord": 16 << finest, "cl": rounded(*lift), "steady": round(lift[0] / part, 4)}
                | {"cd": rounded(*drag), "measured": measured, "chords_passed": end, "run": kept}
            )
            print(json.dumps({key: value for key, value in found[-1].items() if key != "run"}), flush=True)
    return found


def building(args):
    folder = args.out / "building"
    kept = flow(args, "wind_on_building", folder, [])

    def of_probe(name, *fields):
        half, _ = last_half(rows(folder / f"probe_{name}.csv"))
        points = {}
        for row in half:
            place = tuple(float(row[axis]) for axis in ("x", "y", "z"))
            points.setdefault(place, []).append([float(row[field]) for field in fields])
        return {place: [sum(of) / len(samples) for of in zip(*samples)] for place, samples in points.items()}

    ((still, *velocity),) = of_probe("free", "pressure", "ux", "uy", "uz").values()
    dynamic = 0.5 * 1.2 * sum(of**2 for of in velocity)
    faces, middle = {}, {}
    for face, published in BUILDING.items():
        lines = [of_probe(f"{face}_{number}", "pressure") for number in (1, 2, 3)]
        all_of = [(pressure - still) / dynamic for line in lines for (pressure,) in line.values()]
        faces[face] = {"mean": round(sum(all_of) / len(all_of), 3), "published": published}
        middle[face] = [[*(round(at, 3) for at in place), round((pressure - still) / dynamic, 3)] for place, (pressure,) in lines[1].items()]
    drag, end = last_half([row for row in rows(folder / "forces.csv") if row["solid"] == "1"])
    cd = rounded(*mean_of([float(row["cd"]) for row in drag]))
    return {"faces": faces, "middle": middle, "wind_at_the_roof": [round(of, 3) for of in velocity], "cd": cd, "heights_passed": end, "run": kept}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("body", choices=["sphere", "aerofoil", "building"])
    parser.add_argument("lbmc")
    parser.add_argument("out", type=Path)
    parser.add_argument("--angles", type=float, nargs="+", default=[4.04, 10.12])
    parser.add_argument("--finest", type=int, nargs="+", default=[4], choices=list(LEVELS))
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    found = {"sphere": sphere, "aerofoil": aerofoil, "building": building}[args.body](args)
    (args.out / f"{args.body}.json").write_text(json.dumps(found, indent=1) + "\n")
    if args.body != "aerofoil":
        print(json.dumps({key: value for key, value in found.items() if key not in ("run", "middle")}))


if __name__ == "__main__":
    main()
