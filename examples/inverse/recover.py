"""Inverse problems: SciPy finds what a flow has been given, from what was seen of it.

Each evaluation is a flow and its gradient, which goes backwards through all steps (`docs/adjoint.md`). Two things are recovered:

- the viscosity of decaying vortices, from their velocities after 200 steps,
- the velocity of an inlet, from velocities behind a cylinder in a channel.

    python3 recover.py
"""

import numpy as np
from scipy.optimize import minimize

import lbmc

STEPS = 200


def vortices(viscosity):
    """Vortices that decay, in a periodic box."""
    return lbmc.Case({
        "spec": "d2q9_bgk",
        "target": "cpu",
        "precision": "f64",
        "domain": {"size": [32, 32]},
        "fluid": {"viscosity": viscosity, "velocity": 0.02},
        "faces": {"others": "periodic"},
        "start": {"velocity": ["0.02 * sin(2*pi*x/lx) * cos(2*pi*y/ly)", "-0.02 * cos(2*pi*x/lx) * sin(2*pi*y/ly)"]},
        "stop": {"steps": STEPS},
        "gradient": {"objective": "ux^2"},
    }).start()


def channel(velocity):
    """A cylinder in a channel, whose fluid enters with a velocity at the left."""
    return lbmc.Case({
        "spec": "d2q9_trt",
        "target": "cpu",
        "precision": "f64",
        "domain": {"size": [48, 24]},
        "fluid": {"viscosity": 0.05, "velocity": 0.05, "length": 24},
        "params": {"magic": 0.1875},
        "faces": {
            "left": {"rule": "moving_wall", "velocity": [velocity, 0]},
            "right": {"rule": "anti_bounce_back", "density": 1},
            "others": "bounce_back",
        },
        "solids": [{"shape": "cylinder", "centre": [14.2, 12.1], "radius": 4.3, "rule": "interpolated_bounce_back"}],
        "stop": {"steps": STEPS},
        "gradient": {"objective": "ux^2"},
    }).start()


def at_end(flow):
    """The velocity after all steps."""
    flow.step(STEPS)
    return flow.own_fields["u"]


def misfit(flow, seen, where):
    """Half the squared distance of the velocity at the end from what was seen in some cells, with its gradient."""
    def distance(at):
        apart = np.where(where, at["u"] - seen, 0)
        return 0.5 * (apart**2).sum(), {"u": apart}

    return flow.gradient(STEPS, distance)


def recover(seen, flow_of, slope, where, guess, scale):
    """What makes the flow that was seen: by L-BFGS-B, which is given the derivative by it."""
    def evaluate(of):
        value = float(of[0]) * scale
        gradient = misfit(flow_of(value), seen, where)
        print(f"  {value:.6f}: {gradient.value:.3e}")
        return gradient.value / size, np.array([slope(gradient, value) * scale / size])

    size = 0.5 * (np.where(where, seen, 0) ** 2).sum()
    found = minimize(evaluate, [guess / scale], jac=True, method="L-BFGS-B", bounds=[(1e-2, None)], options={"ftol": 1e-12, "gtol": 1e-9})
    return float(found.x[0]) * scale


def main():
    viscosity, inlet = 0.03, 0.04

    def by_viscosity(gradient, value):
        # nu = (1/omega - 1/2) / 3, which also sets the stress at the start; that has little influence.
        omega = 1 / (3 * value + 0.5)
        return -3 * omega**2 * gradient.parameters["omega"][0]

    print("viscosity")
    found = recover(at_end(vortices(viscosity)), vortices, by_viscosity, True, 0.05, 0.05)
    print(f"  {found:.5f}, given {viscosity}")
    assert abs(found - viscosity) < 0.01 * viscosity, found

    print("velocity of the inlet")
    behind = np.zeros((24, 48), dtype=bool)
    behind[::4, 24:44:4] = True     # as probes would see it
    found = recover(at_end(channel(inlet)), channel, lambda gradient, _: gradient.faces["left"]["velocity"][0], behind, 0.02, 0.05)
    print(f"  {found:.5f}, given {inlet}")
    assert abs(found - inlet) < 0.01 * inlet, found


if __name__ == "__main__":
    main()
