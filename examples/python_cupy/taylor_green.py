"""Decaying Taylor-Green vortex with cupy arrays and generated CUDA kernels, compiled when the script runs.

A kernel works on a box of cells of an array [i, y, x]. The view of the array without its ghost cells is that box: its
address is that of cell (0, 0), and its strides are those that the kernel asks for.
"""

import pathlib
import sys
import time

import cupy as cp

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "kernels"
Q, FIELDS, BLOCK = 9, 3, (128, 2)

OMEGA, U = 1.6, 0.02
VISCOSITY = (1 / OMEGA - 1 / 2) / 3

module = cp.RawModule(code=(KERNELS / "d2q9_bgk.cu").read_text())


def array(components, n):
    """An array with one ghost cell on every side, and its view without them.

    Rows are longer than that: their cell 0 begins a line of memory, 16 values, which makes kernels twice as fast.
    """
    values = cp.zeros((components, n + 2, 16 + n + 16))[:, :, 15 : n + 17]
    return values, values[:, 1:-1, 1:-1]


def launch(name, source, target):
    """Launches a kernel: extents, strides counted in values, then arrays and the parameters, whose struct is one double."""
    _, ny, nx = source.shape
    strides = [cp.int64(source.strides[axis] // source.itemsize) for axis in (1, 0)]
    grid = tuple(-(-extent // side) for extent, side in zip((nx, ny), BLOCK))
    args = (cp.int32(nx), cp.int32(ny), *strides, source, target, cp.float64(OMEGA))
    module.get_function("d2q9_bgk_" + name)(grid, BLOCK, args)


def fill_ghosts(f):
    """Periodic: rows first, then columns, so that corners follow."""
    f[:, 0, :], f[:, -1, :] = f[:, -2, :], f[:, 1, :]
    f[:, :, 0], f[:, :, -1] = f[:, :, -2], f[:, :, 1]


def exact(n, step):
    """Density and velocity at the centres of the cells."""
    k = 2 * cp.pi / n
    x = (cp.arange(n) + 0.5) * k
    y = x[:, None]
    u = U * cp.exp(-2 * VISCOSITY * k**2 * step)
    rho = 1 + 3 / 4 * u**2 * (cp.cos(2 * x) + cp.cos(2 * y))
    return cp.array([rho, u * cp.sin(x) * cp.cos(y), -u * cp.cos(x) * cp.sin(y)])


def run(n, steps):
    """Velocity after so many steps, and seconds that they took."""
    (_, fields), (src, src_box), (dst, dst_box) = array(FIELDS, n), array(Q, n), array(Q, n)
    fields[:] = exact(n, 0)
    launch("init", fields, src_box)
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        fill_ghosts(src)
        launch("stream_collide", src_box, dst_box)
        (src, src_box), (dst, dst_box) = (dst, dst_box), (src, src_box)
    cp.cuda.Device().synchronize()
    seconds = time.perf_counter() - start
    launch("macroscopic", src_box, fields)
    return fields[1:], seconds


def main():
    n, steps = 64, 400
    velocity, _ = run(n, steps)
    expected = exact(n, steps)[1:]
    error = float(cp.linalg.norm((velocity - expected).ravel()) / cp.linalg.norm(expected.ravel()))
    print(f"Taylor-Green vortex, {n} x {n} cells, {steps} steps: relative L2 error of the velocity {error:.2e}")
    n, steps = 8192, 100
    _, seconds = run(n, steps)
    print(f"{n} x {n} cells, f64: {n * n * steps / seconds / 1e6:.0f} MLUPS, ghost cells included")
    return 0 if error < 2e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
