#!/usr/bin/env python3
"""The Ahmed body as a closed surface of triangles: python3 scripts/ahmed.py 25 ahmed_25.stl

The first number is the angle of the slant in degrees. Dimensions are those of Ahmed, Ramm & Faltin, SAE 840300 (1984), in metres: 1.044 long,
0.389 wide and 0.288 high, with a slant 0.222 long. The edges of the front are rounded with a radius of 0.1, and where two of them meet both
curves end in a mitre. The body has no stilts; it stands 0.05 above the ground. It points along -x, z is up, and the origin is in the
middle of its lower side, at the front.
"""

import math
import sys

from naca import loft, outwards, write

LENGTH, WIDTH, HEIGHT = 1.044, 0.389, 0.288
SLANT = 0.222
RADIUS = 0.1
ARCS = 24  # of a quarter of a circle


def section(x, inset, top):
    """A rectangle across the body, its sides further in by `inset`; `top` is where its upper side would be."""
    side, low, high = WIDTH / 2 - inset, inset, top - inset
    return [(x, -side, low), (x, side, low), (x, side, high), (x, -side, high)]


def main(degrees, path):
    angle = math.radians(degrees)
    turns = [math.pi / 2 * at / ARCS for at in range(ARCS + 1)]
    rings = [section(RADIUS * (1 - math.cos(turn)), RADIUS * (1 - math.sin(turn)), HEIGHT) for turn in turns]
    if degrees > 0:
        rings.append(section(LENGTH - SLANT * math.cos(angle), 0, HEIGHT))
    rings.append(section(LENGTH, 0, HEIGHT - SLANT * math.sin(angle)))
    write(path, f"Ahmed body, slant {degrees:g} degrees", outwards(loft(rings)))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
