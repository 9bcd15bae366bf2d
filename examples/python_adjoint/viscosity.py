"""Recovers the viscosity of a decaying flow from its state at the end, by the adjoint of each step.

usage: viscosity.py FOLDER     which has what `lbmc gen d2q9_bgk --layout soa --real f64 --adjoint --out FOLDER` writes
"""

import ctypes
import pathlib
import subprocess
import sys

import numpy as np

import revolve

Q, FIELDS = 9, 3
N, STEPS, SNAPSHOTS, U = 48, 200, 8, 0.05
RATE, GUESS = 1.6, 1.4


class Params(ctypes.Structure):
    """Parameters of the method, as the header declares them."""

    _fields_ = [("omega", ctypes.c_double)]


def viscosity(rate):
    return (1 / rate - 1 / 2) / 3


def build(folder):
    library = folder / "d2q9_bgk.so"
    command = ["cc", "-std=c11", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, folder / "d2q9_bgk.c", "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def array(components):
    """An array with one ghost cell on every side."""
    return np.zeros((components, N + 2, N + 2))


def launch(kernel, rate, *arrays):
    """Calls a kernel on the cells that are no ghosts."""
    boxes = [values[:, 1:-1, 1:-1] for values in arrays]
    strides = [ctypes.c_longlong(boxes[0].strides[axis] // boxes[0].itemsize) for axis in (1, 0)]
    pointers = [ctypes.c_void_p(box.ctypes.data) for box in boxes]
    kernel(ctypes.c_int32(N), ctypes.c_int32(N), *strides, *pointers, Params(rate))


def fill_ghosts(f):
    """Periodic: rows first, then columns, so that corners follow."""
    f[:, 0, :], f[:, -1, :] = f[:, -2, :], f[:, 1, :]
    f[:, :, 0], f[:, :, -1] = f[:, :, -2], f[:, :, 1]


def give_back(adjoint):
    """The transpose of `fill_ghosts`: what ghosts were copied from gets their derivatives, in the opposite order."""
    for inside, ghost in ((-2, 0), (1, -1)):
        adjoint[:, :, inside] += adjoint[:, :, ghost]
        adjoint[:, :, ghost] = 0
    for inside, ghost in ((-2, 0), (1, -1)):
        adjoint[:, inside, :] += adjoint[:, ghost, :]
        adjoint[:, ghost, :] = 0


class Flow:
    """Vortices that decay."""

    def __init__(self, kernels):
        self.kernels, self.taken = kernels, 0
        x = (np.arange(N) + 0.5) * 2 * np.pi / N
        y = x[:, None]
        fields, self.start = array(FIELDS), array(Q)
        fields[:, 1:-1, 1:-1] = 1 + 0 * x * y, U * np.sin(x) * np.cos(y), -U * np.cos(x) * np.sin(y) + U * np.sin(2 * x)
        launch(kernels.d2q9_bgk_init, RATE, fields, self.start)
        fill_ghosts(self.start)

    def step(self, f, rate):
        """A new state, ghosts filled."""
        self.taken += 1
        after = array(Q)
        launch(self.kernels.d2q9_bgk_stream_collide, rate, f, after)
        fill_ghosts(after)
        return after

    def end(self, rate):
        f = self.start
        for _ in range(STEPS):
            f = self.step(f, rate)
        return f

    def objective(self, rate, target):
        """Half of the squared difference from a state at the end, and its derivative by the rate."""
        apart = self.end(rate) - target
        adjoint, by_rate = array(Q), array(1)
        adjoint[:, 1:-1, 1:-1] = apart[:, 1:-1, 1:-1]
        self.taken = 0
        states = revolve.backward(self.start, lambda f: self.step(f, rate), STEPS, SNAPSHOTS)
        for _, f in states:
            earlier = array(Q)
            launch(self.kernels.d2q9_bgk_stream_collide_adjoint_parameters, rate, f, adjoint, earlier, by_rate)
            give_back(earlier)
            adjoint = earlier
        return np.sum(apart[:, 1:-1, 1:-1] ** 2) / 2, np.sum(by_rate)


def main():
    flow = Flow(build(pathlib.Path(sys.argv[1])))
    target = flow.end(RATE)
    # Where the derivative vanishes, by the secant method.
    rates = [GUESS, GUESS + 0.05]
    slopes = [flow.objective(rate, target)[1] for rate in rates]
    while abs(rates[1] - rates[0]) > 1e-4 and len(slopes) < 20:
        rate = rates[1] - slopes[1] * (rates[1] - rates[0]) / (slopes[1] - slopes[0])
        rates = [rates[1], min(max(rate, 0.5), 1.9)]
        value, slope = flow.objective(rates[1], target)
        slopes = [slopes[1], slope]
        print(f"viscosity {viscosity(rates[1]):.5f}, objective {value:.3e}, derivative by omega {slope:+.3e}")
    error = abs(viscosity(rates[1]) / viscosity(RATE) - 1)
    predicted = revolve.forward_steps(STEPS, SNAPSHOTS)
    print(f"error {error:.1e}; {SNAPSHOTS} of {STEPS} states in memory: {flow.taken} steps again, {predicted} predicted")
    return 0 if error < 1e-2 and flow.taken == predicted else 1


if __name__ == "__main__":
    sys.exit(main())
