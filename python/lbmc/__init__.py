"""lbmc: a compiler and a solver for lattice Boltzmann flows.

`check` and `compile` take a method, as a text or by name; `Case` takes a flow, as a file, a dictionary or by name, and `Case.start` gives a
`Simulation` that does steps and has fields as numpy arrays. Everything is in lattice units (cells and time steps) unless it says otherwise;
arrays have x as their last index: `field[y, x]` and `field[component, z, y, x]`.
"""

from __future__ import annotations

import json
from typing import Any

from . import _lbmc
from ._lbmc import Advice, Array, Diagnostic, Error, Label, __version__
from ._end import end_of
from ._flow import Case, Picture, Simulation, tables
from ._gradient import Gradient
from ._method import (
    AtVelocity,
    Criterion,
    Findings,
    Kernel,
    Kernels,
    Latex,
    Lattice,
    Limit,
    Moments,
    Stability,
    Viscosity,
    Wall,
    Wave,
    check,
    compile,
)

_lbmc.found_in(_lbmc.__file__)


def specs() -> dict[str, str]:
    """The shipped methods: a line about each, by its name."""
    return dict(_lbmc.specs())


def cases() -> dict[str, str]:
    """The shipped cases: what each shows, and how long it takes, by its name."""
    return {name: f"{summary} ({time})" for name, summary, time in _lbmc.cases()}


def schema() -> dict[str, Any]:
    """The JSON schema of case files, which `Case` takes as dictionaries, too."""
    found: dict[str, Any] = json.loads(_lbmc.schema())
    return found


__all__ = [
    "Advice", "Array", "AtVelocity", "Case", "Criterion", "Diagnostic", "Error", "Findings", "Gradient", "Kernel", "Kernels", "Label", "Latex",
    "Lattice", "Limit", "Moments", "Picture", "Simulation", "Stability", "Viscosity", "Wall", "Wave", "__version__", "cases", "check", "compile",
    "end_of", "schema",
    "specs", "tables",
]
