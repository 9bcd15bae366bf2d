#!/usr/bin/env python3
"""The velocity of spheres that settle in a periodic box, by Stokes' equations: what `benchmarks/settling.py` should find at small Reynolds
numbers for the same places.

    benchmarks/settling-stokes.py [SPHERES [VOLUME_FRACTION [DIAMETER [APART [SEEDS]]]]]

Spheres lie at random places, their centres APART at least, in the unit of DIAMETER. The velocity is that relative to the flux of volume, over
the velocity of one sphere alone: for SEEDS sets of places, of which the first is that of settling.py with APART = DIAMETER + 1.

The force-coupling method: each sphere is a force and a stresslet, spread as Gaussians of such widths that one sphere alone has Stokes' drag and
Einstein's viscosity; stresslets follow from the condition that spheres do not strain (Maxey & Patel, Int. J. Multiphase Flow 27 (2001) 1603;
Lomholt & Maxey, J. Comput. Phys. 184 (2003) 381). Fields are sums of Fourier modes. For one sphere in a periodic box it has 0.5456 at a volume
fraction of 0.0194, where the solution has 0.5459, and 0.202 at 0.155 (0.193). Needs numpy and scipy.
"""

import math
import sys

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from settling import places


def modes(side, largest):
    """Wave vectors up to a length, of each pair of opposite ones the one."""
    count = int(largest * side / (2 * math.pi)) + 1
    along = np.arange(-count, count + 1)
    all = np.stack(np.meshgrid(along, along, along, indexing="ij"), -1).reshape(-1, 3)
    x, y, z = all.T
    upper = (z > 0) | ((z == 0) & ((y > 0) | ((y == 0) & (x > 0))))
    waves = all[upper] * (2 * math.pi / side)
    return waves[(waves**2).sum(1) < largest**2]


def strainless():
    """Five symmetric matrices without a trace, of length 1 and normal to each other."""
    basis = np.zeros((5, 3, 3))
    basis[0] = np.diag([1, -1, 0]) / math.sqrt(2)
    basis[1] = np.diag([1, 1, -2]) / math.sqrt(6)
    for number, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        basis[2 + number][i, j] = basis[2 + number][j, i] = 1 / math.sqrt(2)
    return basis


def settle(centres, side, radius):
    """Mean velocity along a force on all spheres, over that of one alone."""
    count = len(centres)
    width, width_of_stress = radius / math.sqrt(math.pi), radius / (6 * math.sqrt(math.pi)) ** (1 / 3)
    waves = modes(side, 3.6 / width_of_stress)
    squares = (waves**2).sum(1)
    phases = np.exp(-1j * (centres @ waves.T))
    of_force = phases * np.exp(-(width**2) * squares / 2)
    of_stress = phases * np.exp(-(width_of_stress**2) * squares / 2)
    basis = strainless()

    def flow(force):
        """Velocity of modes, for a fluid of viscosity 1, from the force on the fluid."""
        return (force - waves * ((waves * force).sum(1) / squares)[:, None]) / (squares * side**3)[:, None]

    def strain(velocity):
        slopes = [[2 * np.real(np.conj(of_stress) @ (1j * waves[:, j] * velocity[:, i])) for j in range(3)] for i in range(3)]
        return np.einsum("ijn,cij->nc", np.array(slopes), basis).ravel()

    def stressed(stresslets):
        stress = np.einsum("nc,cij->nij", stresslets.reshape(count, 5), basis)
        return flow(sum(1j * waves[:, [j]] * (of_stress.T @ stress[:, :, j]) for j in range(3)))

    forced = flow(of_force.sum(0)[:, None] * np.array([0.0, 0.0, 1.0]))
    operator = LinearOperator((5 * count, 5 * count), matvec=lambda stresslets: -strain(stressed(stresslets)), dtype=float)
    stresslets, _ = cg(operator, strain(forced), rtol=1e-4)
    velocity = 2 * np.real(np.conj(of_force) @ (forced + stressed(stresslets))[:, 2])
    return velocity.mean() * 6 * math.pi * radius


def main(spheres=64, fraction=0.15, diameter=8, apart=9, seeds=6):
    spheres, fraction, diameter, apart, seeds = int(spheres), float(fraction), float(diameter), float(apart), int(seeds)
    side = 4 * round((spheres * math.pi / 6 * diameter**3 / fraction) ** (1 / 3) / 4)
    all = [settle(np.array(places(spheres, side, apart, seed)), side, diameter / 2) for seed in range(1, seeds + 1)]
    print(f"{spheres} spheres in a box of {side / diameter:g} diameters, volume fraction {spheres * math.pi / 6 * (diameter / side) ** 3:.4f}:")
    print("first", round(all[0], 4), "mean", round(float(np.mean(all)), 4), "error", round(float(np.std(all)) / math.sqrt(max(seeds - 1, 1)), 4))


if __name__ == "__main__":
    main(*sys.argv[1:])
