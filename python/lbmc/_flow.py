"""Cases, and flows step by step."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _html, _lbmc
from ._gradient import Gradient, Objective, columns, joined

if TYPE_CHECKING:
    import pandas
    import xarray


class Picture:
    """A picture, which notebooks show."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def _repr_png_(self) -> bytes:
        return self.png

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes it as a PNG file."""
        Path(file).write_bytes(self.png)


class _Bar:
    """A line about progress on standard error, at most five times a second; nothing where neither a terminal nor a notebook shows it."""

    WIDTH = 30

    def __init__(self, shown: bool, total: int) -> None:
        self.shown = shown and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self.total, self.began, self.last, self.length = total, time.monotonic(), 0.0, 0

    def show(self, done: int, mlups: float, *, last: bool = False) -> None:
        now = time.monotonic()
        if not self.shown or (now - self.last < 0.2 and not last):
            return
        self.last = now
        part = done / max(self.total, 1)
        filled = int(part * self.WIDTH)
        left = (now - self.began) * (1 / part - 1) if part > 0 else float("nan")
        text = f"[{'#' * filled}{'.' * (self.WIDTH - filled)}] step {done} of {self.total}, {mlups:.1f} MLUPS, {left:.0f} s left"
        sys.stderr.write("\r" + text.ljust(self.length) + ("\n" if last else ""))
        sys.stderr.flush()
        self.length = len(text)


class Case:
    """A flow: what a case file says, valid, with the kernels that it runs with.

    `given` is a path, the name of a shipped case, or a dictionary with the keys of a case file. Keys may be overridden by name: `Case("cavity2d",
    {"re": 100, "stop.steps": 500})`. Raises `Error` with all that is wrong.
    """

    def __init__(self, given: str | os.PathLike[str] | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> None:
        if isinstance(given, Mapping):
            _no_fields(given.get("start"))
        text = json.dumps(given, default=_plain) if isinstance(given, Mapping) else os.fspath(given)
        settings = [(key, _toml(value)) for key, value in (overrides or {}).items()]
        self._case = _lbmc.Case(text, isinstance(given, Mapping), settings)
        about = json.loads(self._case.describe())
        #: What it is called.
        self.name: str = about["name"]
        #: Name of its method.
        self.spec: str = about["spec"]
        #: What it runs on.
        self.device: str = about["device"]
        self.precision: str = about["precision"]
        #: Cells along x, y(, z).
        self.size: tuple[int, ...] = tuple(about["size"])
        #: Steps after which it ends at the latest.
        self.steps: int = about["steps"]
        #: Where `run` writes unless it is told otherwise.
        self.directory: str = about["directory"]
        #: Parameters of the method, with all their components, in lattice units.
        self.parameters: dict[str, list[float]] = about["parameters"]
        #: Names of those that the case leaves to the defaults of the method.
        self.defaults: tuple[str, ...] = tuple(about["defaults"])
        #: `velocity`, `length`, `viscosity`, `omega`, `re`, `mach`, in lattice units; None where there is none.
        self.scales: dict[str, float | None] = about["scales"]
        #: `si`; metres of a `cell`, seconds of a `step`, `density` of the fluid at rest.
        self.units: dict[str, Any] = about["units"]

    @property
    def text(self) -> str:
        """Its text as a case file has it, without what was overridden."""
        return self._case.text

    def start(self) -> Simulation:
        """The flow at its start, to be advanced step by step. Nothing is written: `[output]` and `[stop]` are for `run`."""
        return Simulation(self._case.start(), self)

    def gradient(self) -> Gradient:
        """Runs it to its end and back: the objective of its `[gradient]` and derivatives by parameters, walls, and fields at the start. Nothing is written."""
        return Gradient(self._case.start(), self.steps, True, None)

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        resume: bool = False,
        callback: Callable[[dict[str, Any]], object] | None = None,
        progress: bool = True,
    ) -> dict[str, Any]:
        """Runs it to its end as `lbmc run` does, and writes what it asks for into the folder `out`; returns the content of `summary.json`.

        About once a second `callback` is given how it goes (`step`, `steps`, `time`, `mlups`, `residual`, ...). Where it returns True, the run ends with
        its results and a restart file, from which `resume` goes on; so it does at Ctrl-C and at an exception in `callback`, which are raised then.
        """
        bar = _Bar(progress, self.steps)

        def report(text: str) -> bool:
            status = json.loads(text)
            bar.show(status["step"], status["mlups"])
            return callback is not None and callback(status) is True

        summary: dict[str, Any] = json.loads(self._case.run(None if out is None else Path(out), resume, report))
        bar.show(summary["steps"], summary["mlups"], last=True)
        return summary

    def __repr__(self) -> str:
        return f"<lbmc.Case {self.name}: {self.spec}, {'x'.join(map(str, self.size))} cells>"

    def _repr_html_(self) -> str:
        def parameter(name: str, values: list[float]) -> str:
            by_default = " by default" if name in self.defaults else ""
            return f"{name} = {', '.join(f'{one:.6g}' for one in values)}{by_default}"

        parameters = tuple(parameter(name, values) for name, values in self.parameters.items())
        pairs = [
            ("method", self.spec),
            ("cells", " x ".join(map(str, self.size))),
            ("device", f"{self.device}, {self.precision}"),
            ("parameters", parameters),
            *((name, value) for name, value in self.scales.items()),
            ("steps at most", self.steps),
        ]
        return _html.rows(self.name, pairs)


class Body:
    """A solid of a flow, in lattice units. Made by `Simulation.bodies`.

    In two dimensions angles, angular velocities and torques are numbers, else vectors. Those that the fluid moves (`free`) can be set and pushed between
    steps; others raise `Error` (L0520)."""

    def __init__(self, flow: _lbmc.Simulation, number: int) -> None:
        self._flow = flow
        #: Its number among the solids of the case, from 0.
        self.number = number

    @property
    def free(self) -> bool:
        """Whether the fluid moves it."""
        return self._flow.body(self.number)[0]

    @property
    def displacement(self) -> npt.NDArray[np.float64]:
        """How far it is from its place in the case; of a body that the fluid moves, how far its centre of mass is."""
        return np.array(self._flow.body(self.number)[1])

    @displacement.setter
    def displacement(self, value: npt.ArrayLike) -> None:
        self._change(displacement=value)

    @property
    def angle(self) -> float | npt.NDArray[np.float64]:
        """The angle by which it has turned, in radians; in three dimensions times the direction of its axis."""
        return _turn(self._flow.body(self.number)[2])

    @property
    def velocity(self) -> npt.NDArray[np.float64]:
        """Its velocity in the step that comes next. Along axes that it is held on, it keeps what is set."""
        return np.array(self._flow.body(self.number)[3])

    @velocity.setter
    def velocity(self, value: npt.ArrayLike) -> None:
        self._change(velocity=value)

    @property
    def angular_velocity(self) -> float | npt.NDArray[np.float64]:
        """Its angular velocity in the step that comes next, in radians per step."""
        return _turn(self._flow.body(self.number)[4])

    @angular_velocity.setter
    def angular_velocity(self, value: npt.ArrayLike) -> None:
        self._change(angular_velocity=value)

    @property
    def force(self) -> npt.NDArray[np.float64]:
        """The force of the fluid on it in the step that comes next."""
        return np.array(self._flow.load(self.number)[0])

    @property
    def torque(self) -> float | npt.NDArray[np.float64]:
        """The torque of the fluid on it about its pivot or centre of mass in the step that comes next; 0 of a solid that does not turn."""
        return _turn(self._flow.load(self.number)[1])

    def push(self, force: npt.ArrayLike | None = None, torque: npt.ArrayLike | None = None) -> None:
        """A force and a torque of something else on it in the step that comes next, and in no later one. They add to those of the fluid and of the case,
        and to what was pushed before."""
        self._change(force=force, torque=torque)

    def _change(self, **values: npt.ArrayLike | None) -> None:
        given = {name: None if value is None else np.atleast_1d(np.asarray(value, dtype=np.float64)) for name, value in values.items()}
        for name, value in given.items():
            if value is not None and value.ndim > 1:
                raise ValueError(f"the {name.replace('_', ' ')} of a body is a vector; this has the shape {value.shape}")
        names = ("displacement", "velocity", "angular_velocity", "force", "torque")
        self._flow.change_body(self.number, *(value if (value := given.get(name)) is None else value.tolist() for name in names))

    def __repr__(self) -> str:
        return f"<lbmc.Body {self.number}, displaced by {self.displacement}>"


class Bodies(Sequence[Body]):
    """The solids of a flow, in the order of the case."""

    def __init__(self, flow: _lbmc.Simulation) -> None:
        self._flow = flow

    def __len__(self) -> int:
        return self._flow.bodies

    def __getitem__(self, number: int) -> Body:  # type: ignore[override]
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"there is no body {number}: the case has {count} solids")
        return Body(self._flow, number % count)


class Simulation:
    """A flow that does steps. Made by `Case.start`.

    Fields are in lattice units; their arrays have the indices `[component,] [z,] y, x`. On a refined grid an array of all cells is `[component,] block, [z,] y, x`
    instead, with the blocks in the order of `blocks`.
    """

    def __init__(self, flow: _lbmc.Simulation, case: Case) -> None:
        self._flow = flow
        # While a function of arrays makes steps, it is the only one.
        self._alone = threading.Lock()
        #: The case that it began as.
        self.case = case

    # ---- steps

    @property
    def steps(self) -> int:
        """Steps done."""
        return self._flow.steps

    @property
    def mlups(self) -> float:
        """Million cell updates a second, over all steps so far."""
        return self._flow.mlups

    def step(self, steps: int = 1) -> None:
        """Does so many steps. Ctrl-C ends that between two of them, with KeyboardInterrupt. Raises `Error` (C0701) where a value is not finite after the
        last of them."""
        if steps < 0:
            raise ValueError("steps are not undone")
        self._flow.step(steps)

    def run(
        self,
        steps: int,
        callback: Callable[[Simulation], object] | None = None,
        *,
        every: int | None = None,
        progress: bool = True,
    ) -> None:
        """Does so many steps; after each `every` of them, and the last, calls `callback(simulation)`, which may look at the flow and change it. Where it
        returns True, the run ends."""
        if every is not None and every < 1:
            raise ValueError("`every` is a number of steps")
        bar, begin = _Bar(progress, steps), self.steps
        some = every or max(1, min(steps, 100) if callback is None else steps)
        while (done := self.steps - begin) < steps:
            self.step(min(some, steps - done))
            bar.show(self.steps - begin, self.mlups)
            if callback is not None and callback(self) is True:
                break
        bar.show(self.steps - begin, self.mlups, last=True)

    # ---- the grid

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along [z,] y, x of the coarsest level."""
        return tuple(self._flow.shape())

    @property
    def levels(self) -> int:
        """Number of levels of the grid."""
        return self._flow.levels

    @property
    def device(self) -> str:
        """What it runs on."""
        return self._flow.device

    @property
    def solid(self) -> npt.NDArray[np.bool_]:
        """Which cells are solid, of all cells."""
        return np.asarray(self._flow.solid()).astype(np.bool_)

    @property
    def centres(self) -> npt.NDArray[np.float64]:
        """Positions of the centres of all cells, `[axis, [block,] [z,] y, x]` with x first among the axes, in cells of the coarsest level."""
        return np.asarray(self._flow.places_of_cells()[0])

    @property
    def volumes(self) -> npt.NDArray[np.float64]:
        """Volumes of all cells, in cells of the coarsest level; 0 of those that are solid, and of those of blocks that reach beyond the domain."""
        return np.asarray(self._flow.places_of_cells()[1])

    # ---- fields

    @property
    def fields(self) -> list[str]:
        """Names of the fields that can be read: those of the method, and what follows from them."""
        return self._flow.fields

    def field(self, name: str, level: int = 0) -> npt.NDArray[np.float64]:
        """A field, such as `velocity`, `density` or `vorticity`, on the cells of a level of the grid: the mean of finer cells, or the value of a coarser
        one.

        A copy in 64 bits: blocks are put in the order of an array. `memory("fields")` is none."""
        return np.asarray(self._flow.field(name, level))

    @property
    def own_fields(self) -> dict[str, npt.NDArray[np.float64]]:
        """The fields of the method by their names in it (`rho`, `u`, ...), in all cells, as `set_fields` and objectives of gradients have them. A copy in
        64 bits."""
        return joined(columns(self._flow), {name: np.array(data) for name, data in self._flow.components()})

    def to_xarray(self, *names: str, level: int = 0) -> xarray.Dataset:
        """Fields, all that can be read where none is named, as an xarray.Dataset with the dimensions `component`, `z`, `y`, `x`: `x` and the others are
        the centres of cells of a level, in cells of the coarsest one. Needs the package xarray."""
        import xarray

        dim = len(self.shape)
        axes = ("z", "y", "x")[-dim:]
        variables = {}
        for name in names or self.fields:
            values = self.field(name, level)
            variables[name] = (axes if values.ndim == dim else ("component", *axes), values)
        size = 2.0**-level
        places = {axis: (np.arange(count << level) + 0.5) * size for axis, count in zip(axes, self.shape)}
        return xarray.Dataset(variables, places, {"case": self.case.name, "steps": self.steps, "level": level})

    def set_fields(self, **fields: npt.ArrayLike) -> None:
        """Sets fields of the method by their names in it (`rho`, `u`, ...); others stay, and so does the number of steps. Each is an array
        `[component,] [block,] [z,] y, x`, whose axes of length 1 are repeated; or one number, of a vector one for each component.

        Populations are then in equilibrium at the fields, with the viscous stress of the velocity where the viscosity is known."""
        components = dict(self._flow.own_fields)
        arrays = []
        for name, values in fields.items():
            count = components.get(name, 1)
            arrays.append((name, _array(values, tuple(self._flow.all_cells()), count)))
        self._flow.set_fields(arrays)

    @property
    def velocities(self) -> npt.NDArray[np.int32]:
        """The velocity of each population, `[population, axis]`, in cells per step."""
        return np.array(self._flow.velocities, dtype=np.int32)

    @property
    def populations(self) -> npt.NDArray[np.float64]:
        """Populations after the last collision, `[population, [block,] [z,] y, x]`; or the moments that are stored in their place. A copy in 64 bits, which
        may be changed and set."""
        return np.asarray(self._flow.populations())

    @populations.setter
    def populations(self, values: npt.ArrayLike) -> None:
        self._flow.set_populations(np.ascontiguousarray(values, dtype=np.float64))

    # ---- what acts on it

    def set_parameter(self, name: str, value: float | Sequence[float]) -> None:
        """Sets a parameter of the method, such as `omega` or `force`, with all its components, in lattice units, from the next step on."""
        self._flow.set_parameter(name, [float(one) for one in np.atleast_1d(value)])

    @property
    def places(self) -> list[str]:
        """What cells keep for parameters that vary in space: `force_place_0` for `[params] force = ["0 * y", 0]`."""
        return self._flow.places

    def set_places(self, **arrays: npt.ArrayLike) -> None:
        """Sets all of `places`, each with an array `[z,] y, x` or a number, from the next step on: forces, drags or sources that another program computes."""
        if set(arrays) != set(self.places):
            raise ValueError(f"the places are {', '.join(self.places) or 'none'}; all are set at once")
        self._flow.set_places([_array(arrays[name], self.shape) for name in self.places])

    def gradient(self, steps: int, objective: Objective | None = None) -> Gradient:
        """Derivatives of an objective after so many steps from here on, by parameters, places, values of walls, and what cells have now; the flow
        stays where it is. The case has a `[gradient]`, of whose `states` as many are in memory; with its `steady` there are so many steps at most, until the
        flow is steady, and derivatives are those of that state.

        The objective is that of the case, or `objective(fields)`, which is given the fields of the method at the end by their names, and returns its value
        and its derivatives by some of them: `lambda at: (0.5 * ((at["u"] - seen) ** 2).sum(), {"u": at["u"] - seen})`. In solids the density is 1 and the velocity
        0, and derivatives have no effect; `volumes` are 0 there."""
        if steps < 0:
            raise ValueError("steps are not undone")
        return Gradient(self._flow, steps, False, objective)

    # ---- what is measured

    @property
    def forces(self) -> npt.NDArray[np.float64]:
        """The force of the fluid on each solid, `[solid, axis]`, in the step that comes next."""
        return np.asarray(self._flow.forces())

    @property
    def torques(self) -> npt.NDArray[np.float64]:
        """The torque of the fluid on each solid about its pivot, `[solid, axis]` (along z alone in two dimensions), in the step that comes next; 0 of solids
        that do not turn."""
        return np.asarray(self._flow.torques())

    @property
    def bodies(self) -> Bodies:
        """The solids of the case: where they are, the forces on them; those that the fluid moves can be set and pushed."""
        return Bodies(self._flow)

    @property
    def mass(self) -> float:
        """The sum of the first populations, volumes counted in cells of the coarsest level."""
        return self._flow.sums()[0][1]

    @property
    def momentum(self) -> npt.NDArray[np.float64]:
        """The momentum of the first populations."""
        return np.array(self._flow.sums()[0][2])

    # ---- memory, as it is

    def memory(self, what: str, level: int = 0) -> _lbmc.Array:
        """Values where they lie, without a copy, on the host or on a GPU: `populations` of a level, or the method's own `fields`.

        The array has the indices `[slot, component, z, y, x]`; a slot has a block of cells, and `blocks` says which. numpy reads it by `np.asarray` or
        `np.from_dlpack`, cupy and torch by `from_dlpack`. It may be read only. Populations are stored as differences from `rest`, in half precision times 32768; steps
        swap two arrays, so take it again after steps."""
        return self._flow.memory(what, level)

    @property
    def blocks(self) -> npt.NDArray[np.int64]:
        """The blocks that cover the domain: slot, level, and place along x, y, z in blocks of their level, a row each."""
        return np.array(self._flow.blocks(), dtype=np.int64).reshape(-1, 5)

    @property
    def rest(self) -> npt.NDArray[np.float64]:
        """What each population is at rest, which is not stored."""
        return np.array(self._flow.rest)

    # ---- pictures

    def picture(
        self,
        field: str | None = None,
        *,
        title: str | None = None,
        range: tuple[float, float] | None = None,
        log: bool = False,
        colours: str | None = None,
        contours: int | Sequence[float] | None = None,
        streamlines: bool = False,
        grid: bool = True,
        size: int = 600,
    ) -> Picture:
        """A picture of a field, as `[[pictures]]` of a case has them, with so many pixels along its longer side. Notebooks show it.

        `range` has the values at the ends of the colour bar, in its units, and `contours` those of lines, or how many lines there are; `log` takes
        equal ratios as equal steps of colours; `grid` draws the edges of blocks of a refined grid. Raises `Error` (C0107) where that cannot be drawn."""
        name = field or ("speed" if "speed" in self.fields else self.fields[0])
        ends = None if range is None else [float(end) for end in range]
        lines = None
        if contours is not None:
            lines = (int(contours), []) if np.ndim(contours) == 0 else (None, [float(value) for value in contours])
        return Picture(bytes(self._flow.picture(name, title, ends, log, colours, lines, streamlines, grid, size)))

    def _repr_png_(self) -> bytes:
        return self.picture().png

    def __repr__(self) -> str:
        return f"<lbmc.Simulation of {self.case.name} at step {self.steps}>"


def _turn(values: list[float]) -> float | npt.NDArray[np.float64]:
    """A vector about axes: one number in two dimensions."""
    return values[0] if len(values) == 1 else np.array(values)


def _no_fields(start: Any) -> None:
    """Refuses arrays of fields as values of `[start]`, which has formulas and files."""
    for key, value in start.items() if isinstance(start, Mapping) else ():
        for part in value if isinstance(value, (list, tuple)) else [value]:
            # A vector has a number for each axis.
            if len(getattr(part, "shape", ())) > (1 if part is value else 0):
                raise ValueError(
                    f"`start.{key}` has an array of the shape {part.shape}; a case begins with numbers, formulas or a file: "
                    "give arrays to the flow, `flow = case.start(); flow.set_fields(...)`"
                )


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a case cannot have {value!r}")


def _toml(value: Any) -> str:
    """A value as TOML has it; JSON is TOML but for tables."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return json.dumps(value, default=_plain)


def _array(values: npt.ArrayLike, cells: tuple[int, ...], components: int = 1) -> npt.NDArray[np.float64]:
    """Values in all cells: of an array with all axes, or of a number for each component. Any other shape stays as it is, and is refused with what
    it should be."""
    array = np.asarray(values, dtype=np.float64)
    shape = (components, *cells) if components > 1 else cells
    if components > 1 and array.shape == (components,):
        array = array.reshape(-1, *(1,) * len(cells))
    fits = array.ndim == len(shape) or (array.ndim == 0 and components == 1)
    if fits and all(side in (1, whole) for side, whole in zip(array.shape, shape)):
        array = np.broadcast_to(array, shape)
    return np.ascontiguousarray(array)


def tables(folder: str | os.PathLike[str]) -> dict[str, pandas.DataFrame]:
    """The tables (`*.csv`) in the folder of a run, by their names: `tables("out/cavity2d")["residual"]`. Comments are left out. Needs the package pandas."""
    import pandas

    files = sorted(Path(folder).glob("*.csv"))
    if not files:
        raise FileNotFoundError(f"there are no tables in `{os.fspath(folder)}`")
    return {file.stem: pandas.read_csv(file, comment="#") for file in files}
