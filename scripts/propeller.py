#!/usr/bin/env python3
"""A propeller as a closed surface of triangles: python3 scripts/propeller.py 3 propeller.stl

The first number is that of the blades. The radius of the propeller is 1, its axis is z through the origin, and where it turns to the left,
seen from above, it pushes the fluid down. Its blades are symmetric NACA sections along a helix that rises by 1.5 in a turn; the hub is a
cylinder with round ends. Blades begin inside the hub: what is inside of either is inside of the propeller.
"""

import math
import sys

from naca import loft, outline, outwards, write

PITCH = 1.5
THICKNESS = 0.18  # over the chord
ROOT, TIP = 0.1, 1.0
HUB, HALF = 0.18, 0.2  # radius, and half of the length without the ends


def chord(radius):
    return 0.75 - 0.2 * radius


def section(radius, turned, points):
    """The outline of a blade at a radius; it moves along its chord, nose first and up."""
    climb = math.atan(PITCH / (2 * math.pi * radius))
    found = []
    for x, y in outline(THICKNESS, points):
        ahead, across = (0.4 - x) * chord(radius), y * chord(radius)
        along = ahead * math.cos(climb) - across * math.sin(climb)
        up = ahead * math.sin(climb) + across * math.cos(climb)
        found.append((
            radius * math.cos(turned) - along * math.sin(turned), radius * math.sin(turned) + along * math.cos(turned), up
        ))  # fmt: skip
    return found


def ring(radius, height, points):
    angles = [2 * math.pi * at / points for at in range(points)]
    return [(radius * math.cos(angle), radius * math.sin(angle), height) for angle in angles]


def main(blades, path):
    stations = [ROOT + (TIP - ROOT) * at / 12 for at in range(13)]
    triangles = []
    for blade in range(blades):
        turned = 2 * math.pi * blade / blades
        triangles += outwards(loft([section(radius, turned, 10) for radius in stations]))
    slopes = [math.pi / 2 * (at / 4 - 1) for at in range(9)]
    ends = [(HUB * max(math.cos(slope), 0.02), math.copysign(HALF, slope) + HUB * math.sin(slope)) for slope in slopes]
    triangles += outwards(loft([ring(radius, height, 24) for radius, height in ends]))
    write(path, "propeller", triangles)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
