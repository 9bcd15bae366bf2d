#!/usr/bin/env python3
"""An aeroplane as a closed surface of triangles, for `benchmarks/wind_tunnel.toml`: python3 scripts/aeroplane.py aeroplane.stl

A signed distance (negative inside) is made of rounded bodies that blend into each other; its zero surface is cut out of a
grid by marching tetrahedra, six to a cube, so that it is closed by construction. x goes from nose to tail, z is up; the
length is about 1. Needs numpy.
"""

import struct
import sys

import numpy as np


def blend(a, b, width):
    """The union of two bodies, with a fillet of that width."""
    h = np.clip(0.5 + 0.5 * (b - a) / width, 0, 1)
    return b + (a - b) * h - width * h * (1 - h)


def ellipsoid(p, centre, radii):
    q = (p - centre) / radii
    length = np.sqrt((q**2).sum(-1))
    return (length - 1) * np.min(radii)


def wing(p, root, tip, root_chord, tip_chord, thickness):
    """From root to tip: leading edge from `root` to `tip`, chords along x, the section an ellipse with a sharp end."""
    span = np.linalg.norm(tip[1:] - root[1:])
    along = (tip[1:] - root[1:]) / span
    s = ((p[..., 1:] - root[1:]) * along).sum(-1) / span
    t = np.clip(s, 0, 1)
    chord = root_chord + (tip_chord - root_chord) * t
    lead = root[0] + (tip[0] - root[0]) * t
    across = (p[..., 1:] - root[1:]) @ np.array([-along[1], along[0]])
    u = (p[..., 0] - lead) / chord
    half = thickness * chord * np.sqrt(np.clip(u, 0, 1)) * (1.02 - np.clip(u, 0, 1)) * 1.3
    out_of_chord = np.maximum(-u, u - 1) * chord
    return np.maximum(np.maximum(np.abs(across) - np.maximum(half, 0.004), out_of_chord), np.maximum(-s, s - 1) * span)


def distance(p):
    mirrored = p.copy()
    mirrored[..., 1] = np.abs(p[..., 1])
    a = np.array
    body = ellipsoid(p, a([0.47, 0, 0]), a([0.5, 0.058, 0.058]))
    body = blend(body, ellipsoid(p, a([0.22, 0, 0.035]), a([0.12, 0.04, 0.04])), 0.02)  # cockpit
    main = wing(mirrored, a([0.36, 0.0, -0.02]), a([0.56, 0.5, 0.01]), 0.24, 0.09, 0.09)
    tail = wing(mirrored, a([0.82, 0.0, 0.02]), a([0.91, 0.19, 0.03]), 0.13, 0.06, 0.09)
    fin = wing(p, a([0.78, 0.0, 0.0]), a([0.92, 0.0, 0.2]), 0.18, 0.07, 0.08)
    engine = ellipsoid(mirrored, a([0.45, 0.17, -0.045]), a([0.075, 0.026, 0.026]))
    return blend(blend(blend(blend(body, main, 0.02), tail, 0.012), fin, 0.012), engine, 0.012)


# The six tetrahedra of a cube, all around the diagonal from corner 0 to corner 7; bit a of a corner is its side along axis a.
TETRAHEDRA = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]


def triangles(values, low, step):
    shape = np.array(values.shape)
    cubes = np.stack(np.meshgrid(*(np.arange(n - 1) for n in shape), indexing="ij"), -1).reshape(-1, 3)
    offsets = np.array([[c & 1, c >> 1 & 1, c >> 2 & 1] for c in range(8)])
    corners = cubes[:, None, :] + offsets
    index = (corners[..., 0] * shape[1] + corners[..., 1]) * shape[2] + corners[..., 2]
    at = values.reshape(-1)[index]
    crossed = (at < 0).any(1) & (at >= 0).any(1)
    index, at = index[crossed], at[crossed]
    flat = values.reshape(-1)

    def position(i):
        return low + step * np.stack([i // (shape[1] * shape[2]), i // shape[2] % shape[1], i % shape[2]], -1)

    def cut(i, j):
        """Where the surface crosses an edge; the same from both ends."""
        i, j = np.minimum(i, j), np.maximum(i, j)
        t = np.clip(flat[i] / (flat[i] - flat[j]), 0.05, 0.95)[:, None]
        return position(i) * (1 - t) + position(j) * t

    found = []
    for tetrahedron in TETRAHEDRA:
        corner = index[:, tetrahedron]
        inside = flat[corner] < 0
        code = (inside * (1, 2, 4, 8)).sum(1)
        for mask in range(1, 15):
            ids = corner[code == mask]
            if len(ids) == 0:
                continue
            ins = [k for k in range(4) if mask >> k & 1]
            outs = [k for k in range(4) if not mask >> k & 1]
            if len(ins) == 1:
                parts = [[(ins[0], k) for k in outs]]
            elif len(ins) == 3:
                parts = [[(k, outs[0]) for k in ins]]
            else:
                (a, b), (c, d) = ins, outs
                parts = [[(a, c), (a, d), (b, d)], [(a, c), (b, d), (b, c)]]
            outward = position(ids[:, outs]).mean(1) - position(ids[:, ins]).mean(1)
            for part in parts:
                mesh = np.stack([cut(ids[:, i], ids[:, j]) for i, j in part], 1)
                normal = np.cross(mesh[:, 1] - mesh[:, 0], mesh[:, 2] - mesh[:, 0])
                turned = (normal * outward).sum(1) < 0
                mesh[turned] = mesh[turned][:, ::-1]
                found.append(mesh)
    return np.concatenate(found)


def main(path):
    step = 0.004
    low, high = np.array([-0.06, -0.56, -0.12]), np.array([1.06, 0.56, 0.26])
    axes = [np.arange(a, b, step) for a, b in zip(low, high)]
    values = np.concatenate(
        [distance(np.stack(np.meshgrid(axes[0][i : i + 16], axes[1], axes[2], indexing="ij"), -1)) for i in range(0, len(axes[0]), 16)]
    )
    values[values == 0] = 1e-9
    mesh = triangles(values, low, step).astype("<f4")
    normal = np.cross(mesh[:, 1] - mesh[:, 0], mesh[:, 2] - mesh[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    record = np.zeros(len(mesh), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
    record["normal"], record["corners"] = normal, mesh
    with open(path, "wb") as file:
        file.write(b"aeroplane".ljust(80, b" ") + struct.pack("<I", len(mesh)) + record.tobytes())
    print(f"{path}: {len(mesh)} triangles")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "aeroplane.stl")
