#!/usr/bin/env python3
"""A symmetric NACA aerofoil of four digits as a closed surface of triangles: python3 scripts/naca.py 15 naca0015.stl [SPAN]

The first number is the thickness in percent of the chord. The chord is 1 long, from the nose at x = 0 to a sharp trailing edge, and the span
goes from z = 0 to SPAN, or to 0.1: `section = { normal = "z", at = 0.05 }` in a case cuts the aerofoil.
"""

import math
import struct
import sys


def outline(thickness, points):
    """From the trailing edge over the upper side to the nose, and back along the lower side: so many points on each, closer at both ends."""

    def half(x):
        # -0.1036 in the place of -0.1015 closes the trailing edge.
        return 5 * thickness * (0.2969 * math.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)

    xs = [0.5 * (1 + math.cos(math.pi * at / points)) for at in range(points + 1)]
    upper = [(x, half(x) if 0 < x < 1 else 0.0) for x in xs]
    return upper + [(x, -y) for x, y in reversed(upper[1:-1])]


def loft(rings):
    """A closed surface through rings of as many points each, whose ends are flat."""
    count = len(rings[0])
    found = []
    for low, high in zip(rings, rings[1:]):
        for at in range(count):
            after = (at + 1) % count
            found += [(low[at], low[after], high[after]), (low[at], high[after], high[at])]
    for at in range(1, count - 1):
        found += [(rings[0][0], rings[0][at + 1], rings[0][at]), (rings[-1][0], rings[-1][at], rings[-1][at + 1])]
    return found


def outwards(triangles):
    """With normals that point outwards: a positive volume."""

    def volume(corners):
        (a, b, c), (d, e, f), (g, h, i) = corners
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)

    return triangles if sum(map(volume, triangles)) > 0 else [(a, c, b) for a, b, c in triangles]


def write(path, title, triangles):
    with open(path, "wb") as file:
        file.write(title.encode().ljust(80) + struct.pack("<I", len(triangles)))
        for corners in triangles:
            file.write(struct.pack("<12fH", 0, 0, 0, *(at for corner in corners for at in corner), 0))
    print(f"{path}: {len(triangles)} triangles")


def main(thickness, path, span=0.1):
    points = outline(thickness, 40)
    write(path, "NACA aerofoil", loft([[(x, y, z) for x, y in points] for z in (0.0, span)]))


if __name__ == "__main__":
    main(float(sys.argv[1]) / 100, sys.argv[2], *map(float, sys.argv[3:]))
