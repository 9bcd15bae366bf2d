"""What is found out about methods, and their kernels."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence

from . import _html, _lbmc


@dataclass(frozen=True)
class Lattice:
    """The lattice of the first populations."""

    name: str
    dim: int
    #: Number of velocities.
    q: int
    #: Square of the speed of sound, in cells and steps.
    cs2: float
    #: The order through which its velocity moments are those of a Gaussian.
    isotropy: int


@dataclass(frozen=True)
class Moments:
    """The moments on which a collision depends."""

    count: int
    populations: int
    names: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Viscosity:
    """The kinematic viscosity as a formula of parameters; the one that sets it, if one does."""

    formula: str
    rate: str | None


@dataclass(frozen=True)
class Criterion:
    """What a grid may follow."""

    name: str
    unit: str
    formula: str


@dataclass(frozen=True)
class Wall:
    """Where a boundary condition puts the wall."""

    rule: str
    parameters: dict[str, float]
    text: str
    #: Least and largest distance behind the centre of the last cell, in cells, for linear profiles and several rates.
    distance: tuple[float, float] | None = None
    #: Order of the wall's place for parabolic profiles; None where they are exact, or where there is no such wall.
    order: float | None = None


@dataclass(frozen=True)
class Wave:
    """A wave vector in radians per cell, and the growth of its amplitude's logarithm in a step."""

    wave: tuple[float, ...]
    growth: float


@dataclass(frozen=True)
class AtVelocity:
    """What grows most on a uniform flow."""

    rate: float
    velocity: tuple[float, ...]
    stable: bool
    worst: Wave
    #: Growth at refinement interfaces.
    interface_growth: float


@dataclass(frozen=True)
class Limit:
    """Where stability ends for one value of the rate."""

    rate: float
    #: Largest velocity up to which nothing grows, in cells per step; None where a wave grows at rest.
    stable_to: float | None
    beyond: Wave


@dataclass(frozen=True)
class Stability:
    """Linear stability of uniform flows (von Neumann)."""

    #: Number of wave vectors, multiples of 2 pi over `cells` along each axis.
    waves: int
    cells: int
    at_velocity: tuple[AtVelocity, ...]
    #: The unit vector along which velocities rise.
    direction: tuple[float, ...]
    limits: tuple[Limit, ...]
    _png: bytes = field(repr=False)

    def _repr_png_(self) -> bytes:
        return self._png

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the picture of the largest stable velocity over the rate (PNG)."""
        Path(file).write_bytes(self._png)


class Latex(str):
    """LaTeX, which notebooks show as formulas."""

    def _repr_latex_(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Findings:
    """What is proved about a method, and what follows from its formulas."""

    name: str
    #: The comment that opens the method.
    summary: str
    #: What holds and how that is known, a sentence each.
    proved: tuple[str, ...]
    #: What collisions conserve.
    conserved: tuple[str, ...]
    lattice: Lattice
    moments: Moments | None
    viscosity: Viscosity
    bulk_viscosity: str | None
    #: Formulas by the names of sets of populations.
    diffusivities: dict[str, str]
    criteria: tuple[Criterion, ...]
    #: Values that were chosen for parameters that were not set: `magic = 0.25`.
    chosen: tuple[str, ...]
    walls: tuple[Wall, ...]
    stability: Stability | None
    #: Its text, path or name, and whether it is a text.
    _method: tuple[str, bool] = field(repr=False)

    def latex(self, part: str = "collide") -> Latex:
        """The equations of a part of the method, which notebooks show: `values` of a cell, `collide`, `init`, `observe`, or the `functions` that
        these call; as `document` all of them, for pdflatex."""
        return Latex(_lbmc.latex(*self._method, None if part == "document" else part))

    def __repr__(self) -> str:
        return f"<lbmc.Findings about {self.name}>"

    def __str__(self) -> str:
        lines = [self.name, self.summary, *self.proved, f"kinematic viscosity: {self.viscosity.formula}"]
        return "\n".join(lines + [f"{wall.rule}: {wall.text}" for wall in self.walls])

    def _repr_html_(self) -> str:
        lattice, moments = self.lattice, self.moments
        pairs = [
            ("", self.summary),
            ("lattice", f"{lattice.name}: {lattice.q} velocities, isotropic through order {lattice.isotropy}"),
            ("proved", self.proved),
            ("conserved", ", ".join(self.conserved)),
            ("kinematic viscosity", self.viscosity.formula),
            ("bulk viscosity", self.bulk_viscosity),
            ("diffusivity", tuple(f"{name}: {formula}" for name, formula in self.diffusivities.items())),
            ("moments", None if moments is None else f"{moments.count} for {moments.populations} populations: {', '.join(moments.names)}"),
            ("chosen", self.chosen),
        ]
        text = _html.rows(self.name, pairs)
        if self.walls:
            text += _html.table("walls", ("rule", "where the wall is"), ((wall.rule, wall.text) for wall in self.walls))
        return text


@dataclass(frozen=True)
class Kernel:
    """A kernel or a boundary rule: operations as the method says it, and as it is emitted."""

    name: str
    naive: dict[str, int]
    simplified: dict[str, int]


@dataclass(frozen=True)
class Kernels:
    """The kernels of a method as texts, by the names of their files."""

    files: dict[str, str]
    kernels: tuple[Kernel, ...]
    #: Signatures and layout.
    manifest: dict[str, Any]

    @property
    def source(self) -> str:
        """The text of the first source: CUDA if it is there, else C."""
        return next(text for name, text in self.files.items() if name.endswith((".cu", ".c")))

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes all files into a folder."""
        paths = [Path(folder) / name for name in self.files]
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path in paths:
            path.write_text(self.files[path.name], encoding="utf-8")
        return paths

    def __repr__(self) -> str:
        return f"<lbmc.Kernels: {', '.join(self.files)}>"

    def _repr_html_(self) -> str:
        def operations(counts: dict[str, int]) -> str:
            return ", ".join(f"{count} {name}" for name, count in counts.items() if count)

        lines = ((one.name, operations(one.naive), operations(one.simplified)) for one in self.kernels)
        files = _html.table("files", ("name", "lines"), ((name, text.count("\n")) for name, text in self.files.items()))
        return _html.table("kernels", ("name", "operations as written", "as emitted"), lines) + files

    def __str__(self) -> str:
        return self.source


def _given(method: str | os.PathLike[str]) -> tuple[str, bool]:
    """A text has more than a line; all else is a name or a path."""
    text = os.fspath(method)
    return text, isinstance(method, str) and "\n" in text


def _settings(params: Mapping[str, float | Sequence[float]] | None) -> list[str]:
    def text(value: Any) -> str:
        return "[" + ",".join(repr(float(one)) for one in value) + "]" if hasattr(value, "__len__") else repr(float(value))

    return [f"{name}={text(value)}" for name, value in (params or {}).items()]


def check(
    method: str | os.PathLike[str],
    *,
    params: Mapping[str, float | Sequence[float]] | None = None,
    boundaries: Sequence[str] = (),
    stability: bool = False,
    velocity: Sequence[float] | None = None,
) -> Findings:
    """Finds out about a method: a text of more than a line, a path, or the name of a shipped one.

    `params` are values at which things are told that depend on them, `boundaries` rules of the prelude to look at beside those of the method.
    `stability` tries waves on uniform flows along x, or along `velocity`. Raises `Error` where the method is not valid.
    """
    text, is_text = _given(method)
    asked = None if velocity is None else [float(component) for component in velocity]
    settings = _settings(params)
    found = json.loads(_lbmc.check(text, is_text, settings, list(boundaries), stability, asked))
    tried = None
    if (of := found.get("stability")) is not None:

        def wave(given: dict[str, Any]) -> Wave:
            return Wave(tuple(given["wave"]), given["growth"])

        at_velocity = (
            AtVelocity(at["rate"], tuple(at["velocity"]), at["stable"], wave(at["worst"]), at["interface_growth"])
            for at in of["at_velocity"]
        )
        limits = (Limit(at["rate"], at["stable_to"], wave(at["beyond"])) for at in of["limits"])
        png = bytes(_lbmc.stability_picture(text, is_text, settings, asked))
        tried = Stability(of["waves"], of["cells"], tuple(at_velocity), tuple(of["direction"]), tuple(limits), png)
    moments = found.get("moments")

    def wall(given: dict[str, Any]) -> Wall:
        distance = given.get("distance")
        return Wall(
            given["rule"], given["parameters"], given["text"], None if distance is None else tuple(distance), given.get("order")
        )

    return Findings(
        name=found["spec"],
        summary="\n".join(found["summary"]),
        proved=tuple(found["proved"]),
        conserved=tuple(found["conserved"]),
        lattice=Lattice(**found["lattice"]),
        moments=None if moments is None else Moments(**{**moments, "names": tuple(moments["names"])}),
        viscosity=Viscosity(**found["viscosity"]),
        bulk_viscosity=found.get("bulk_viscosity"),
        diffusivities={one["populations"]: one["formula"] for one in found["diffusivities"]},
        criteria=tuple(Criterion(**one) for one in found["criteria"]),
        chosen=tuple(found["chosen"]),
        walls=tuple(wall(one) for one in found["walls"]),
        stability=tried,
        _method=(text, is_text),
    )


def compile(
    method: str | os.PathLike[str],
    *,
    target: str = "c",
    precision: str = "f64",
    layout: str = "blocks",
    block: Sequence[int] | None = None,
    coupling: str | None = None,
    solids: bool = False,
    storage: str = "populations",
    boundaries: Sequence[str] = (),
) -> Kernels:
    """Compiles a method to kernels, as `lbmc gen` does: a text of more than a line, a path, or the name of a shipped one.

    `target` is `c`, `cuda`, `hip` or `all` (CUDA and C); `precision` `f32`, `f64` or `f16/f32`; `layout` `blocks` or `soa`; `storage` `populations` or `moments`.
    Raises `Error` where the method is not valid, or cannot be compiled so.
    """
    if storage not in ("populations", "moments"):
        raise ValueError(f"storage is `populations` or `moments`, not `{storage}`")
    text, is_text = _given(method)
    sides = None if block is None else [int(side) for side in block]
    files, report = _lbmc.compile(
        text, is_text, target, precision, layout, sides, coupling, solids, storage == "moments", list(boundaries)
    )
    by_name = dict(files)
    manifest = json.loads(next(text for name, text in by_name.items() if name.endswith(".json")))
    kernels = tuple(Kernel(one["name"], one["naive"], one["simplified"]) for one in json.loads(report)["kernels"])
    return Kernels(by_name, kernels, manifest)
