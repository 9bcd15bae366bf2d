"""Derivatives of an objective of a flow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _lbmc

if TYPE_CHECKING:
    import torch

    from ._flow import Simulation

#: Fields at the end of a flow by their names, and an objective of them: its value, and its derivatives by each field.
Fields = dict[str, npt.NDArray[np.float64]]
Objective = Callable[[Fields], tuple[float, Mapping[str, npt.ArrayLike]]]


class Gradient:
    """An objective and its derivatives, in lattice units. Made by `Simulation.gradient` and `Case.gradient`. Arrays are `[component,] [z,] y, x`."""

    def __init__(self, flow: _lbmc.Simulation, steps: int, of_case: bool, objective: Objective | None) -> None:
        own = dict(flow.own_fields)
        shape = tuple(flow.shape())
        axes = ("x", "y", "z")[: len(shape)]

        def columns(name: str) -> list[str]:
            return [name] if own[name] == 1 else [name + axis for axis in axes]

        def fields(of: Mapping[str, npt.NDArray[np.float64]], prefix: str = "") -> Fields:
            known = {name: [prefix + column for column in columns(name)] for name in own}
            whole = {name: keys for name, keys in known.items() if all(key in of for key in keys)}
            return {name: of[keys[0]] if len(keys) == 1 else np.stack([of[key] for key in keys]) for name, keys in whole.items()}

        def at_end(components: list[tuple[str, _lbmc.Array]]) -> tuple[float, list[tuple[str, npt.NDArray[np.float64]]]]:
            assert objective is not None
            value, slopes = objective(fields({name: np.array(data) for name, data in components}))
            unknown = [name for name in slopes if name not in own]
            if unknown:
                raise ValueError(f"an objective has derivatives by {', '.join(own)}, not by {', '.join(unknown)}")
            parts = [(columns(name), np.asarray(slope, dtype=np.float64)) for name, slope in slopes.items()]
            split = [(key, part) for keys, slope in parts for key, part in zip(keys, [slope] if len(keys) == 1 else slope)]
            return float(value), [(key, np.ascontiguousarray(np.broadcast_to(part, shape))) for key, part in split]

        text, cells, places, populations = flow.gradient(steps, of_case, None if objective is None else at_end)
        found = json.loads(text)
        arrays = {name: np.asarray(array) for name, array in cells}
        #: The value of the objective.
        self.value: float = found["objective"]["value"]
        #: By parameters of the method, all their components.
        self.parameters: dict[str, npt.NDArray[np.float64]] = _numbers(found["by"]["params"])
        #: By values of walls at faces, and of surfaces of solids by their numbers from 1 on.
        self.faces: dict[str, dict[str, npt.NDArray[np.float64]]] = {name: _numbers(of) for name, of in found["by"]["faces"].items()}
        self.solids: dict[int, dict[str, npt.NDArray[np.float64]]] = {int(name): _numbers(of) for name, of in found["by"]["solids"].items()}
        #: By parameters as each cell takes them.
        self.cells: Fields = {name.removeprefix("by_"): array for name, array in arrays.items() if not name.startswith("by_start_")}
        #: By `places`.
        self.places: Fields = {name: np.asarray(array) for name, array in places}
        #: By fields at the start, if populations were set from them: by the start of the case, or `set_fields`.
        self.fields: Fields = fields(arrays, "by_start_")
        #: By populations at the start, `[population, [z,] y, x]`.
        self.populations: npt.NDArray[np.float64] = np.asarray(populations)
        #: Steps of the flow, and how long all has taken in seconds.
        self.steps: int = found["steps"]["of_the_flow"]
        self.seconds: float = found["seconds"]

    def __repr__(self) -> str:
        return f"<lbmc.Gradient of {self.value:.6g} after {self.steps} steps>"


def end_of(
    flow: Simulation,
    steps: int,
    *,
    parameters: Mapping[str, torch.Tensor] | None = None,
    places: Mapping[str, torch.Tensor] | None = None,
    fields: Mapping[str, torch.Tensor] | None = None,
) -> dict[str, torch.Tensor]:
    """Fields of a flow after so many steps as tensors of torch, through which derivatives go back to the tensors that are given: `parameters` of the
    method, `places`, all of them, and `fields` at the start. Without `fields` the flow starts from where it is. It is there, or at these fields, again
    afterwards. The case has a `[gradient]`, whose objective has no part in it. Needs the package torch."""
    import torch

    given = {"parameters": parameters or {}, "places": places or {}, "fields": fields or {}}
    names = [(kind, name) for kind, of in given.items() for name in of]
    own = [name for name, _ in flow._flow.own_fields]

    def plain(tensors: Sequence[torch.Tensor]) -> None:
        values: dict[str, dict[str, Any]] = {kind: {} for kind in given}
        for (kind, name), tensor in zip(names, tensors):
            values[kind][name] = tensor.detach().cpu().double().numpy()
        for name, value in values["parameters"].items():
            flow.set_parameter(name, value)
        if values["places"]:
            flow.set_places(**values["places"])
        if values["fields"]:
            flow.set_fields(**values["fields"])

    class End(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            plain(tensors)
            ctx.save_for_backward(*tensors)
            found: Fields = {}

            def look(at: Fields) -> tuple[float, Fields]:
                found.update(at)
                return 0.0, {}

            start = flow.populations
            flow.step(steps)
            flow.gradient(0, look)
            flow.populations = start
            return tuple(torch.from_numpy(np.nan_to_num(found[name])) for name in own)

        @staticmethod
        def backward(ctx: Any, *slopes: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
            plain(ctx.saved_tensors)
            by = {name: slope.detach().cpu().double().numpy() for name, slope in zip(own, slopes) if slope is not None}
            gradient = flow.gradient(steps, lambda at: (sum(float(np.nansum(by[name] * at[name])) for name in by), by))
            parts = {"parameters": gradient.parameters, "places": gradient.places, "fields": gradient.fields}
            found = [torch.from_numpy(np.nan_to_num(parts[kind][name])) for kind, name in names]
            return tuple(own.sum_to_size(tensor.shape).to(tensor) for own, tensor in zip(found, ctx.saved_tensors))

    return dict(zip(own, End.apply(*[given[kind][name] for kind, name in names])))


def _numbers(values: Mapping[str, float | list[float]]) -> dict[str, npt.NDArray[np.float64]]:
    return {name: np.atleast_1d(np.array(value, dtype=np.float64)) for name, value in values.items()}
