"""A correction that is learnt through the solver: a coarse flow follows one of twice the resolution.

usage: correction.py [FOLDER] [ITERATIONS]     needs jax; draws FOLDER/correction.png if matplotlib is there

Vortices decay in a periodic box of 32 x 32 cells, in which they are hardly resolved. Every ten steps a small network adds to the velocity what it has learnt that
is missing ("solver in the loop", Um et al., Advances in Neural Information Processing Systems 33, 2020). It is trained on flows of 64 x 64 cells:
its error after six corrections is derived by its weights, through all steps between (`lbmc.end_of`). Then it is tried on a start that it has not seen,
eight times as long.
"""

import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

import lbmc

jax.config.update("jax_enable_x64", True)

CELLS, VISCOSITY, VELOCITY = 32, 0.001, 0.05    # in lattice units of the coarse flow
BETWEEN, TRAINED, TRIED = 10, 6, 48             # steps between corrections; corrections in training, and afterwards
STARTS, EARLIER = 6, 200                        # flows to train with; steps before they are seen
WIDTH = 12                                      # channels of the network
# The 5 x 5 cells around each cell.
NEAR = np.stack([np.roll(np.arange(CELLS**2).reshape(CELLS, CELLS), (-j, -i), (0, 1)) for j in range(-2, 3) for i in range(-2, 3)])


def box(cells):
    """A periodic box. With twice the cells, steps are half as long, and the viscosity in lattice units is twice as large."""
    return lbmc.Case({
        "spec": "d2q9_recursive",
        "target": "cpu",
        "precision": "f64",
        "domain": {"size": [cells, cells]},
        "fluid": {"viscosity": VISCOSITY * cells / CELLS, "velocity": VELOCITY},
        "faces": {"others": "periodic"},
        "start": {"velocity": [f"{VELOCITY} * sin(2*pi*y/ly)", 0]},
        "stop": {"steps": 1},
        "gradient": {"objective": "ux^2", "states": BETWEEN},
    }).start()


def vortices(random, cells):
    """A random velocity of wave numbers up to 6, without divergence, with a root mean square of VELOCITY / 2."""
    at = 2 * np.pi * (np.arange(cells) + 0.5) / cells
    u = np.zeros((2, cells, cells))
    for k, l in np.ndindex(7, 13):
        l -= 6
        if 4 <= k * k + l * l <= 36:
            phase, size = 2 * np.pi * random.random(), random.standard_normal() / (k * k + l * l)
            wave = size * np.cos(k * at[None, :] + l * at[:, None] + phase)
            u += np.stack([l * wave, -k * wave])
    return VELOCITY / 2 * u / np.sqrt((u**2).mean())


def seen(random):
    """Velocities and densities of a fine flow in coarse cells, each BETWEEN steps of the coarse flow."""
    flow = box(2 * CELLS)
    flow.set_fields(rho=1, u=vortices(random, 2 * CELLS))
    flow.step(2 * EARLIER)
    mean = lambda field: field.reshape(*field.shape[:-2], CELLS, 2, CELLS, 2).mean(axis=(-3, -1))
    found = []
    for _ in range(TRIED + 1):
        found.append((mean(flow.field("density")), mean(flow.field("velocity"))))
        flow.step(2 * BETWEEN)
    return np.array([rho for rho, _ in found]), np.array([u for _, u in found])


def begin(random):
    """Weights of the network: three layers, each cell from 5 x 5 of the layer before. The last is 0, so that it begins without a correction."""
    sizes = [(1, WIDTH), (WIDTH, WIDTH), (WIDTH, 1)]
    weights = [random.standard_normal((25, *size)) / np.sqrt(25 * size[0]) for size in sizes]
    weights[-1] *= 0
    return [jnp.asarray(weight) for weight in weights]


def slope(field, axis):
    return (jnp.roll(field, -1, axis) - jnp.roll(field, 1, axis)) / 2


@jax.jit
def corrected(weights, u):
    """The velocity with what the network makes of its vorticity: the curl of a stream function, which changes neither momentum nor divergence."""
    layer = (slope(u[1], 1) - slope(u[0], 0))[None] * (5 / VELOCITY)
    for number, weight in enumerate(weights):
        layer = jnp.einsum("csyx,scd->dyx", layer.reshape(-1, CELLS**2)[:, NEAR], weight)
        layer = jnp.tanh(layer) if number + 1 < len(weights) else layer
    psi = 0.02 * VELOCITY * layer[0]
    return u + jnp.stack([slope(psi, 0), -slope(psi, 1)])


def followed(flow, weights, rho, u, times):
    """Velocities of the coarse flow after each correction."""
    found = []
    for _ in range(times):
        end = lbmc.end_of(flow, BETWEEN, fields={"rho": rho, "u": u})
        rho, u = end["rho"], corrected(weights, end["u"])
        found.append(u)
    return jnp.stack(found)


def error(u, of):
    """The distance of velocities, over their size."""
    return np.sqrt(((u - of) ** 2).mean(axis=(1, 2, 3)) / (of**2).mean(axis=(1, 2, 3)))


def train(flow, flows, random, iterations):
    """Weights by Adam (Kingma & Ba, 2015), each iteration from a state of one of the flows."""
    def loss(weights, rho, u):
        found = followed(flow, weights, rho[0], u[0], TRAINED)
        return ((found - u[1:]) ** 2).mean() / (u**2).mean()

    weights = begin(random)
    first = second = [0 * weight for weight in weights]
    derived = jax.value_and_grad(loss)
    for iteration in range(iterations):
        rho, u = flows[random.integers(len(flows))]
        at = random.integers(TRIED - TRAINED)
        value, by = derived(weights, rho[at : at + TRAINED + 1], u[at : at + TRAINED + 1])
        first = [0.9 * own + 0.1 * new for own, new in zip(first, by)]
        second = [0.99 * own + 0.01 * new**2 for own, new in zip(second, by)]
        rate = 0.01 * 0.05 ** (iteration / iterations)
        moved = lambda m, v: rate * m / (1 - 0.9 ** (iteration + 1)) / (jnp.sqrt(v / (1 - 0.99 ** (iteration + 1))) + 1e-12)
        weights = [weight - moved(m, v) for weight, m, v in zip(weights, first, second)]
        if iteration % 20 == 0:
            print(json.dumps({"iteration": iteration, "error": round(float(value) ** 0.5, 5)}), flush=True)
    return weights


def alone(flow, rho, u):
    """Velocities of the coarse flow by itself."""
    flow.set_fields(rho=rho, u=u)
    found = []
    for _ in range(TRIED):
        flow.step(BETWEEN)
        found.append(flow.field("velocity"))
    return np.array(found)


def draw(file, fine, coarse, learnt):
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(13, 3.4), layout="constrained", width_ratios=(1, 1, 1, 1.3))
    vorticity = lambda u: (np.roll(u[1], -1, 1) - np.roll(u[1], 1, 1) - np.roll(u[0], -1, 0) + np.roll(u[0], 1, 0)) / 2
    most = abs(vorticity(fine[-1])).max()
    for axis, (title, u) in zip(axes, [("64 x 64 cells", fine), ("32 x 32 cells", coarse), ("32 x 32 cells, corrected", learnt)]):
        axis.imshow(vorticity(u[-1]), origin="lower", cmap="RdBu_r", vmin=-most, vmax=most)
        axis.set(title=title, xticks=[], yticks=[])
    times = BETWEEN * np.arange(1, TRIED + 1)
    axes[3].plot(times, error(coarse, fine), label="by itself")
    axes[3].plot(times, error(learnt, fine), label="corrected")
    axes[3].axvline(BETWEEN * TRAINED, color="0.7", linewidth=0.8)
    axes[3].set(title="error of the velocity", xlabel="steps", ylim=(0, None))
    axes[3].legend(frameon=False)
    figure.savefig(file, dpi=110)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    random = np.random.default_rng(1)
    flow = box(CELLS)
    weights = train(flow, [seen(random) for _ in range(STARTS)], random, iterations)
    rho, u = seen(np.random.default_rng(1000))
    coarse = alone(flow, rho[0], u[0])
    learnt = np.asarray(followed(flow, weights, rho[0], u[0], TRIED))
    of = {"by itself": error(coarse, u[1:]), "corrected": error(learnt, u[1:])}
    for at in (TRAINED - 1, TRIED - 1):
        print(json.dumps({"steps": BETWEEN * (at + 1), **{name: round(float(value[at]), 4) for name, value in of.items()}}))
    draw(folder / "correction.png", u[1:], coarse, learnt)
    if not of["corrected"][-1] < 0.9 * of["by itself"][-1]:
        sys.exit("the correction has not learnt enough")


if __name__ == "__main__":
    main()
