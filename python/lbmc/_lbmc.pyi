"""The compiled part, for `lbmc` alone, but for what that exports."""

from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np
import numpy.typing as npt

__version__: str

class Label:
    """A place in a text."""

    text: str | None
    source: str | None
    line: int
    column: int
    offset: int
    length: int

class Diagnostic:
    """One thing that is wrong."""

    code: str | None
    severity: str
    message: str
    help: str | None
    labels: list[Label]

class Error(Exception):
    """What is wrong with a method, a case or a flow; `code`, `message`, `help` and `span` are those of the first diagnostic."""

    code: str | None
    message: str
    help: str | None
    span: Label | None
    diagnostics: list[Diagnostic]

class Advice(UserWarning):
    """What is remarkable about a method or a case."""

class Array:
    """Numbers on the host or a GPU, which numpy, cupy or torch read where they are."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def gpu(self) -> int | None: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...

class Case:
    def __init__(self, given: str, is_json: bool, overrides: Sequence[tuple[str, str]]) -> None: ...
    @property
    def text(self) -> str: ...
    def describe(self) -> str: ...
    def start(self) -> Simulation: ...
    def run(self, folder: Path | None, resume: bool, progress: Callable[[str], bool] | None) -> str: ...

class Simulation:
    @property
    def steps(self) -> int: ...
    @property
    def levels(self) -> int: ...
    @property
    def mlups(self) -> float: ...
    @property
    def device(self) -> str: ...
    @property
    def fields(self) -> list[str]: ...
    @property
    def own_fields(self) -> list[tuple[str, int]]: ...
    @property
    def places(self) -> list[str]: ...
    @property
    def velocities(self) -> list[list[int]]: ...
    @property
    def rest(self) -> list[float]: ...
    @property
    def bodies(self) -> int: ...
    def step(self, steps: int) -> None: ...
    def shape(self, level: int = 0) -> list[int]: ...
    def field(self, name: str, level: int) -> Array: ...
    def solid(self) -> Array: ...
    def populations(self) -> Array: ...
    def set_populations(self, array: npt.NDArray[np.float64]) -> None: ...
    def set_fields(self, fields: Sequence[tuple[str, npt.NDArray[np.float64]]]) -> None: ...
    def set_parameter(self, name: str, values: Sequence[float]) -> None: ...
    def set_places(self, arrays: Sequence[npt.NDArray[np.float64]]) -> None: ...
    def forces(self) -> Array: ...
    def torques(self) -> Array: ...
    def body(self, number: int) -> tuple[bool, list[float], list[float], list[float], list[float]]: ...
    def load(self, number: int) -> tuple[list[float], list[float]]: ...
    def change_body(
        self,
        number: int,
        displacement: Sequence[float] | None,
        velocity: Sequence[float] | None,
        angular_velocity: Sequence[float] | None,
        force: Sequence[float] | None,
        torque: Sequence[float] | None,
    ) -> None: ...
    def sums(self) -> list[tuple[str, float, list[float]]]: ...
    def memory(self, what: str, level: int) -> Array: ...
    def blocks(self) -> list[list[int]]: ...
    def picture(
        self,
        field: str,
        title: str | None,
        range: Sequence[float] | None,
        log: bool,
        colours: str | None,
        contours: tuple[int | None, Sequence[float]] | None,
        streamlines: bool,
        grid: bool,
        size: int,
    ) -> bytes: ...

def found_in(file: str) -> None: ...
def check(
    spec: str,
    is_text: bool,
    settings: Sequence[str],
    boundaries: Sequence[str],
    stability: bool,
    velocity: Sequence[float] | None,
) -> str: ...
def stability_picture(
    spec: str, is_text: bool, settings: Sequence[str], velocity: Sequence[float] | None
) -> bytes: ...
def compile(
    spec: str,
    is_text: bool,
    target: str,
    precision: str,
    layout: str,
    block: Sequence[int] | None,
    coupling: str | None,
    solids: bool,
    moments: bool,
    boundaries: Sequence[str],
) -> tuple[list[tuple[str, str]], str]: ...
def specs() -> list[tuple[str, str]]: ...
def cases() -> list[tuple[str, str, str]]: ...
def schema() -> str: ...
