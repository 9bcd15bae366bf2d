"""Thermal convection: lbmc has the flow, numpy the temperature, and both act on each other in every step.

A layer of fluid between two walls is heated from below. lbmc solves for the flow with a buoyancy that it is given in each cell; a solver of the
equation of heat in numpy, of finite volumes, takes the velocity and gives the buoyancy. Above a Rayleigh number of 1707.76 the layer at rest is unstable to rolls
of 2.016 times its height (Chandrasekhar, Hydrodynamic and Hydromagnetic Stability, 1961, chapter II). Rolls grow at a rate that rises
linearly with the Rayleigh number there, so two rates give its critical value:

    python3 convection.py
"""

import numpy as np

import lbmc

HEIGHT, WIDTH = 24, 48          # cells
VISCOSITY = DIFFUSIVITY = 0.1
CRITICAL = 1707.76


def rates(rayleigh, steps=(3000, 6000)):
    """The rate at which rolls grow, in 1/steps: from their speed after two numbers of steps."""
    flow = lbmc.Case({
        "spec": "d2q9_guo",
        "target": "cpu",
        "precision": "f64",
        "domain": {"size": [WIDTH, HEIGHT]},
        "fluid": {"velocity": 0.01},
        "params": {"omega": 1 / (3 * VISCOSITY + 0.5), "force": [0, "0 * y"]},   # nothing yet: given in each cell
        "faces": {"bottom": "bounce_back", "top": "bounce_back", "others": "periodic"},
        "stop": {"steps": steps[-1]},
    }).start()
    x = (np.arange(WIDTH) + 0.5) / WIDTH
    y = (np.arange(HEIGHT)[:, None] + 0.5) / HEIGHT
    conducted = 1 - y
    # What differs from conduction, first a small roll.
    deviation = 1e-6 * np.sin(2 * np.pi * x) * np.sin(np.pi * y)
    lift = rayleigh * VISCOSITY * DIFFUSIVITY / HEIGHT**3
    speeds = []
    for interval in np.diff([0, *steps]):
        for _ in range(interval):
            flow.set_places(force_place_0=lift * deviation)
            flow.step()
            deviation += heat(deviation, conducted, flow.field("velocity"))
        speeds.append(np.abs(flow.field("velocity")[1]).max())
    return np.log(speeds[1] / speeds[0]) / (steps[1] - steps[0])


def heat(deviation, conducted, velocity):
    """The change of temperature in a step, by fluxes through faces of cells; walls have their temperatures half a cell beyond the last cells."""
    temperature = conducted + deviation
    beside = np.roll(temperature, -1, axis=1)
    through_x = (velocity[0] + np.roll(velocity[0], -1, axis=1)) / 2 * (temperature + beside) / 2
    through_x -= DIFFUSIVITY * (beside - temperature)
    upper, lower = temperature[1:], temperature[:-1]
    through_y = np.zeros((HEIGHT + 1, WIDTH))
    through_y[1:-1] = (velocity[1, 1:] + velocity[1, :-1]) / 2 * (upper + lower) / 2 - DIFFUSIVITY * (upper - lower)
    through_y[0] = -DIFFUSIVITY * 2 * (temperature[0] - 1)
    through_y[-1] = DIFFUSIVITY * 2 * temperature[-1]
    return np.roll(through_x, 1, axis=1) - through_x + through_y[:-1] - through_y[1:]


if __name__ == "__main__":
    below, above = 1500, 1900
    rate = {rayleigh: rates(rayleigh) for rayleigh in (below, above)}
    found = below - rate[below] * (above - below) / (rate[above] - rate[below])
    print(f"rates {rate[below]:.3e} and {rate[above]:.3e} a step; critical Rayleigh number {found:.0f}, by theory {CRITICAL:.0f}")
    assert rate[below] < 0 < rate[above] and abs(found / CRITICAL - 1) < 0.02
