"""Derivatives of an objective of a flow."""

from __future__ import annotations

import json
from typing import Any, Callable, Mapping

import numpy as np
import numpy.typing as npt

from . import _lbmc

#: Fields at the end of a flow by their names, and an objective of them: its value, and its derivatives by each field.
Fields = dict[str, npt.NDArray[np.float64]]
Objective = Callable[[Fields], tuple[float, Mapping[str, npt.ArrayLike]]]


def columns(flow: _lbmc.Simulation) -> dict[str, list[str]]:
    """Names of the components of each field of the method."""
    axes = ("x", "y", "z")[: len(flow.shape())]
    return {name: [name] if components == 1 else [name + axis for axis in axes] for name, components in flow.own_fields}


def joined(columns: Mapping[str, list[str]], of: Mapping[str, npt.NDArray[np.float64]]) -> Fields:
    """Fields of their components, of those whose components are all there."""
    whole = {name: keys for name, keys in columns.items() if all(key in of for key in keys)}
    return {name: of[keys[0]] if len(keys) == 1 else np.stack([of[key] for key in keys]) for name, keys in whole.items()}


class Gradient:
    """An objective and its derivatives, in lattice units. Made by `Simulation.gradient` and `Case.gradient`. Arrays are `[component,] [block,] [z,] y, x`, with
    an axis of blocks on refined grids."""

    def __init__(self, flow: _lbmc.Simulation, steps: int, of_case: bool, objective: Objective | None) -> None:
        own = columns(flow)
        shape = tuple(flow.all_cells())

        def at_end(components: list[tuple[str, _lbmc.Array]]) -> tuple[float, list[tuple[str, npt.NDArray[np.float64]]]]:
            assert objective is not None
            given = {name: np.array(data) for name, data in components}
            value, slopes = objective(joined(own, given))
            unknown = [name for name in slopes if name not in own]
            if unknown:
                raise ValueError(f"an objective has derivatives by {', '.join(own)}, not by {', '.join(unknown)}")
            parts = [(own[name], np.asarray(slope, dtype=np.float64)) for name, slope in slopes.items()]
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
        self.fields: Fields = joined(own, {name.removeprefix("by_start_"): array for name, array in arrays.items() if name.startswith("by_start_")})
        #: By populations at the start, `[population, [block,] [z,] y, x]`.
        self.populations: npt.NDArray[np.float64] = np.asarray(populations)
        #: Steps backwards, as many as of the flow unless that is steady, and how long all has taken in seconds.
        self.steps: int = found["steps"]["backwards" if found["steady"] else "of_the_flow"]
        #: Of a steady flow, whether it has become steady (`flow`), and how much derivatives have changed between the last two checks (`change`).
        self.steady: dict[str, Any] | None = found["steady"]
        self.seconds: float = found["seconds"]

    def __repr__(self) -> str:
        return f"<lbmc.Gradient of {self.value:.6g} over {self.steps} steps>"


def _numbers(values: Mapping[str, float | list[float]]) -> dict[str, npt.NDArray[np.float64]]:
    return {name: np.atleast_1d(np.array(value, dtype=np.float64)) for name, value in values.items()}
