#!/usr/bin/env python3
"""Profiles of a turbulent channel between walls across y, in wall units, beside those of a direct simulation. Needs numpy; of refined grids, h5py.

    benchmarks/channel.py OUT

OUT is what `lbmc run turbulent_channel`, `turbulent_channel_refined` or `coarse_channel` left: its statistics are averaged over planes and both halves. Writes
OUT/channel.csv, prints a table and, as JSON, the differences: of the mean velocity from y+ 30 to 0.3 of the half height (the logarithmic layer) the
largest and the rms over the reference, of the peak of each fluctuation its height and its place.
"""

import json
import re
import struct
import sys
import tomllib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def image(path):
    """Arrays of cells or points of a `.vti` with raw appended data, `[z, y, x, component]`."""
    data = path.read_bytes()
    mark = data.index(b'<AppendedData encoding="raw">')
    begin = data.index(b"_", mark) + 1
    head = data[:mark].decode()
    extent = [int(word) for word in re.search(r'WholeExtent="([^"]+)"', head)[1].split()]
    size = [extent[2 * axis + 1] - extent[2 * axis] for axis in (2, 1, 0)]
    size = [count + 1 if "<PointData" in head else max(count, 1) for count in size]
    arrays = {}
    for tag in re.findall(r"<DataArray[^>]*>", head):
        of = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if "offset" not in of:  # the time
            continue
        at = begin + int(of["offset"])
        (count,) = struct.unpack_from("<Q", data, at)
        kind = np.dtype({"Float32": "<f4", "Float64": "<f8"}.get(of["type"], "u1"))
        values = np.frombuffer(data, kind, count // kind.itemsize, at + 8)
        arrays[of["Name"]] = values.reshape(*size, int(of.get("NumberOfComponents", 1))).astype(float)
    return arrays


def boxes(path):
    """For each box of cells of a `.vtkhdf`: its lower edge across y, the width of its cells, arrays `[z, y, x, component]`. Covered planes are left out."""
    import h5py

    found = []
    with h5py.File(path) as file:
        levels = [file["VTKHDF"][f"Level{level}"] for level in range(len(file["VTKHDF"]))]
        lists = [level["AMRBox"][:] for level in levels]
        for number, level in enumerate(levels):
            width, begin = float(level.attrs["Spacing"][1]), 0
            for box in lists[number]:
                size = [int(box[2 * axis + 1] - box[2 * axis] + 1) for axis in (2, 1, 0)]
                cells = size[0] * size[1] * size[2]
                arrays = {name: values[begin : begin + cells].reshape(*size, -1) for name, values in level["CellData"].items()}
                begin += cells
                finer = lists[number + 1] if number + 1 < len(lists) else []
                covered = {at // 2 for other in finer for at in range(other[2], other[3] + 1)}
                planes = [at for at in range(size[1]) if at + box[2] not in covered]
                if planes:
                    first = planes[0]
                    assert planes == list(range(first, first + len(planes))), "the middle of the channel is coarser than its sides"
                    arrays = {name: values[:, first : first + len(planes)].astype(float) for name, values in arrays.items()}
                    found.append(((box[2] + first) * width, width, arrays))
    return found


def profiles(out):
    """Heights of planes, in cells of level 0, and what they have: mean velocity, stresses xx, yy, zz, xy, width of their cells."""
    found = [(0.0, 1.0, image(path)) for path in out.glob("statistics_*.vti")] or [
        box for path in out.glob("statistics_*.vtkhdf") for box in boxes(path)
    ]
    rows = []
    for begin, width, arrays in found:
        mean = arrays["mean_velocity"]
        planes = mean.mean(axis=(0, 2))
        # Fluctuations about the mean of a plane: those in time, and means in time that are not the same all over it.
        def stress(name, a, b):
            apart = (mean[..., a] - planes[None, :, None, a]) * (mean[..., b] - planes[None, :, None, b])
            return (arrays[name][..., 0] + apart).mean(axis=(0, 2))

        y = begin + (np.arange(len(planes)) + 0.5) * width
        stresses = [stress(f"stress_{name}", a, b) for name, a, b in [("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1)]]
        rows.append(np.column_stack([y, planes[:, 0], *stresses, np.full(len(y), width)]))
    rows = np.concatenate(rows)
    return rows[rows[:, 0].argsort()]


def main():
    out = Path(sys.argv[1])
    case = tomllib.loads((out / "case.toml").read_text())
    re_tau, friction, half = case["fluid"]["re"], case["fluid"]["velocity"], case["fluid"]["length"]
    planes = profiles(out)
    count = len(planes)
    lower = slice(0, count // 2)
    fold = lambda values, sign=1: (values[lower] + sign * values[::-1][lower]) / 2
    u = fold(planes[:, 1]) / friction
    rms = [np.sqrt(fold(planes[:, 2 + at])) / friction for at in range(3)]
    shear = -fold(planes[:, 5], -1) / friction**2
    y = planes[lower, 0] / half * re_tau
    table = np.column_stack([y, u, *rms, shear])
    names = "y_plus,u_plus,u_rms,v_rms,w_rms,uv"
    np.savetxt(out / "channel.csv", table, delimiter=",", header=names, comments="", fmt="%.5f")

    reference = HERE / "reference" / f"channel_{re_tau:.0f}.csv"
    names, *rows = [line for line in reference.read_text().splitlines() if not line.startswith("#")]
    there = dict(zip(names.split(","), np.array([[float(word) for word in row.split(",")] for row in rows]).T))
    result = {"re_tau": re_tau, "cells": half, "u_bulk": float(np.average(u, weights=planes[lower, 6])), "u_centre": float(u[-1])}
    of = lambda name: np.interp(y, there["y_plus"], there[name])
    inner = (y > 30) & (y < 0.3 * re_tau)
    part = u[inner] / of("u_plus")[inner] - 1
    result["log_layer"] = {"points": int(inner.sum()), "largest": float(abs(part).max()), "mean": float(part.mean()), "rms": float(np.sqrt((part**2).mean()))}
    whole = u / of("u_plus") - 1
    result["beyond_y_5"] = {"largest": float(abs(whole[y > 5]).max()), "rms": float(np.sqrt((whole[y > 5] ** 2).mean()))}
    for at, name in enumerate(["u_rms", "v_rms", "w_rms"]):
        if name not in there:
            continue
        peak, theirs = int(rms[at].argmax()), int(np.nanargmax(there[name]))
        result[name] = {"peak": float(rms[at][peak]), "at": float(y[peak]), "published": float(there[name][theirs]), "published_at": float(there["y_plus"][theirs])}
    # What both walls take is what the force gives: total stress (u_tau^2)(1 - y / half) in the steady state.
    total = shear + np.gradient(u, y)
    result["stress_balance"] = float(abs(total - (1 - y / re_tau))[2:].max())
    for row in table[:: max(1, len(table) // 24)]:
        print("  ".join(f"{value:9.3f}" for value in row), f"{np.interp(row[0], there['y_plus'], there['u_plus']):9.3f}")
    print(json.dumps(result, indent=1))
    (out / "channel.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
