"""Steps of a flow as a function through which networks and optimisers take derivatives: of tensors of torch, or of arrays of jax."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._flow import Simulation

Arrays = Sequence[npt.NDArray[Any]]


def end_of(
    flow: Simulation,
    steps: int,
    *,
    parameters: Mapping[str, Any] | None = None,
    places: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Fields of the method after so many steps, through which derivatives go back to what is given: `parameters` of the method, `places`, all of them, and
    `fields` at the start, as `Simulation.set_parameter`, `set_places` and `set_fields` take them.

    Where any of these is a tensor of torch, so are the fields at the end; else they are arrays of jax, also within `jax.jit`, `jax.grad` and `jax.vmap`.
    Without `fields` the flow starts from where it is. It is there, or at these fields, again afterwards. The case has a `[gradient]`, whose objective has no
    part in it. Needs the package torch or jax."""
    steps_of = _Steps(flow, steps, {"parameters": parameters or {}, "places": places or {}, "fields": fields or {}})
    torch = sys.modules.get("torch")
    is_torch = torch is not None and any(isinstance(value, torch.Tensor) for value in steps_of.given)
    found = _of_torch(steps_of) if is_torch else _of_jax(steps_of)
    return dict(zip(steps_of.own, found))


class _Steps:
    """Steps of a flow as a function of some arrays, and its transpose, both in numpy."""

    def __init__(self, flow: Simulation, steps: int, given: Mapping[str, Mapping[str, Any]]) -> None:
        self.flow, self.steps = flow, steps
        self.names = [(kind, name) for kind, of in given.items() for name in of]
        self.given = [value for of in given.values() for value in of.values()]
        self.own = [name for name, _ in flow._flow.own_fields]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Those of the fields at the end."""
        return [field.shape for field in self.flow.own_fields.values()]

    def set(self, values: Arrays) -> None:
        of: dict[str, dict[str, npt.NDArray[Any]]] = {"parameters": {}, "places": {}, "fields": {}}
        for (kind, name), value in zip(self.names, values):
            of[kind][name] = np.asarray(value, dtype=np.float64)
        for name, value in of["parameters"].items():
            self.flow.set_parameter(name, value)
        if of["places"]:
            self.flow.set_places(**of["places"])
        if of["fields"]:
            self.flow.set_fields(**of["fields"])

    def forward(self, values: Arrays) -> list[npt.NDArray[np.float64]]:
        """The fields at the end."""
        with self.flow._alone:
            self.set(values)
            start = self.flow.populations
            try:
                self.flow.step(self.steps)
                return list(self.flow.own_fields.values())
            finally:
                self.flow.populations = start

    def backward(self, values: Arrays, slopes: Arrays) -> list[npt.NDArray[np.float64]]:
        """Derivatives by the values, of the shape of each, from those by the fields at the end."""
        by = {name: np.asarray(slope, dtype=np.float64) for name, slope in zip(self.own, slopes)}
        with self.flow._alone:
            self.set(values)
            gradient = self.flow.gradient(self.steps, lambda at: (0.0, by))
        of = {"parameters": gradient.parameters, "places": gradient.places, "fields": gradient.fields}
        return [_summed(of[kind][name], np.shape(value)) for (kind, name), value in zip(self.names, values)]


def _summed(by: npt.NDArray[np.float64], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Derivatives by a value that stands for several: a number, a number for each component, or an array with axes of length 1."""
    if len(shape) < by.ndim:
        return np.asarray(by.sum(axis=tuple(range(len(shape), by.ndim)))).reshape(shape)
    return by.sum(axis=tuple(axis for axis, length in enumerate(shape) if length == 1), keepdims=True).reshape(shape)


def _of_torch(steps_of: _Steps) -> Sequence[Any]:
    import torch

    given = [torch.as_tensor(value) for value in steps_of.given]

    def plain(tensors: Sequence[torch.Tensor]) -> list[npt.NDArray[Any]]:
        return [tensor.detach().cpu().numpy() for tensor in tensors]

    class End(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            ctx.save_for_backward(*tensors)
            return tuple(torch.from_numpy(field) for field in steps_of.forward(plain(tensors)))

        @staticmethod
        def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor, ...]:
            found = steps_of.backward(plain(ctx.saved_tensors), plain(slopes))
            return tuple(torch.from_numpy(by).to(tensor) for by, tensor in zip(found, ctx.saved_tensors))

    found: tuple[torch.Tensor, ...] = End.apply(*given)
    return found


def _of_jax(steps_of: _Steps) -> Sequence[Any]:
    import jax
    import jax.numpy as jnp

    given = [jnp.asarray(value, dtype=float) for value in steps_of.given]
    real = jnp.zeros((), dtype=float).dtype
    shapes = tuple(jax.ShapeDtypeStruct(shape, real) for shape in steps_of.shapes)

    def forward(*values: Any) -> tuple[npt.NDArray[Any], ...]:
        return tuple(field.astype(real) for field in steps_of.forward([np.asarray(value) for value in values]))

    def backward(values: Any, slopes: Any) -> tuple[npt.NDArray[Any], ...]:
        found = steps_of.backward([np.asarray(value) for value in values], [np.asarray(slope) for slope in slopes])
        return tuple(by.astype(real) for by in found)

    @jax.custom_vjp
    def end(*values: jax.Array) -> tuple[jax.Array, ...]:
        found: tuple[jax.Array, ...] = jax.pure_callback(forward, shapes, *values, vmap_method="sequential")
        return found

    def kept(*values: jax.Array) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
        return end(*values), values

    def back(values: tuple[jax.Array, ...], slopes: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        of = tuple(jax.ShapeDtypeStruct(value.shape, real) for value in values)
        found: tuple[jax.Array, ...] = jax.pure_callback(backward, of, values, slopes, vmap_method="sequential")
        return found

    end.defvjp(kept, back)
    return end(*given)
