"""Decaying Taylor-Green vortex with numpy arrays and generated C kernels, through ctypes.

usage: taylor_green.py [FOLDER]     builds the kernels' library in FOLDER, by default beside this file

A kernel works on a box of cells of an array [i, y, x]. The view of the array without its ghost cells is that box: its
address is that of cell (0, 0), and its strides are those that the kernel asks for.
"""

import ctypes
import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
Q, FIELDS = 9, 3

N, STEPS, OMEGA, U = 64, 400, 1.6, 0.02
VISCOSITY = (1 / OMEGA - 1 / 2) / 3


class Params(ctypes.Structure):
    """Parameters of the method, as the header declares them."""

    _fields_ = [("omega", ctypes.c_double)]


def build(folder):
    library = folder / "d2q9_bgk.so"
    command = ["cc", "-std=c11", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, KERNELS / "d2q9_bgk.c", "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def array(components):
    """An array with one ghost cell on every side, and its view without them."""
    values = np.zeros((components, N + 2, N + 2))
    return values, values[:, 1:-1, 1:-1]


def launch(kernel, source, target):
    """Calls a kernel: extents, strides counted in values, then arrays and the parameters."""
    _, ny, nx = source.shape
    strides = [ctypes.c_longlong(source.strides[axis] // source.itemsize) for axis in (1, 0)]
    pointers = [ctypes.c_void_p(view.ctypes.data) for view in (source, target)]
    kernel(ctypes.c_int32(nx), ctypes.c_int32(ny), *strides, *pointers, Params(OMEGA))


def fill_ghosts(f):
    """Periodic: rows first, then columns, so that corners follow."""
    f[:, 0, :], f[:, -1, :] = f[:, -2, :], f[:, 1, :]
    f[:, :, 0], f[:, :, -1] = f[:, :, -2], f[:, :, 1]


def exact(step):
    """Density and velocity at the centres of the cells."""
    k = 2 * np.pi / N
    x = (np.arange(N) + 0.5) * k
    y = x[:, None]
    u = U * np.exp(-2 * VISCOSITY * k**2 * step)
    rho = 1 + 3 / 4 * u**2 * (np.cos(2 * x) + np.cos(2 * y))
    return np.array([rho, u * np.sin(x) * np.cos(y), -u * np.cos(x) * np.sin(y)])


def main():
    kernels = build(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
    (_, fields), (src, src_box), (dst, dst_box) = array(FIELDS), array(Q), array(Q)
    fields[:] = exact(0)
    launch(kernels.d2q9_bgk_init, fields, src_box)
    for _ in range(STEPS):
        fill_ghosts(src)
        launch(kernels.d2q9_bgk_stream_collide, src_box, dst_box)
        (src, src_box), (dst, dst_box) = (dst, dst_box), (src, src_box)
    launch(kernels.d2q9_bgk_macroscopic, src_box, fields)

    velocity, expected = fields[1:], exact(STEPS)[1:]
    error = np.linalg.norm(velocity - expected) / np.linalg.norm(expected)
    print(f"Taylor-Green vortex, {N} x {N} cells, {STEPS} steps: relative L2 error of the velocity {error:.2e}")
    return 0 if error < 2e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
