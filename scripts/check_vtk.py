#!/usr/bin/env python3
"""Opens what `lbmc run` writes with VTK's own readers: `check_vtk.py LBMC`, for example `check_vtk.py target/release/lbmc`.

Runs small flows in two and three dimensions, on one level and on several, still and adaptive, in lattice and SI units, and
compares each file with `summary.json`: cells of each level that are not refined, extents, and the sum of density over
volume, which is the mass; names and times come from `fields.pvd` and `fields.vtkhdf.series`. The same flow in another form must
have the same values in the same cells. Prints a line for each file and fails on the first difference. `scripts/check-vtk.sh`
fetches VTK for it.
"""

import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkCommonDataModel import vtkOverlappingAMR
from vtkmodules.vtkFiltersCore import vtkCellCenters
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLUnstructuredGridReader

# Set in `vtkGhostType` where finer cells lie over one, and where a cell is hidden (vtkDataSetAttributes).
REFINED, HIDDEN = 8, 32

# Columns of a table of cells.
LEVEL, VOLUME, X, Y, Z, DENSITY, SOLID = range(7)

PLANE = """
spec = "d2q9_bgk"
target = "cpu"
precision = "f64"
block = [8, 8]
[domain]
size = [48, 32]
[fluid]
re = 100
[faces]
top = { rule = "moving_wall", velocity = [0.1, 0] }
others = "bounce_back"
[start]
density = "1 + 0.01 * cos(2*pi*x/lx) * cos(2*pi*y/ly)"
"""

SPACE = """
spec = "d3q19_bgk"
target = "cpu"
precision = "f32"
block = [4, 4, 4]
[domain]
size = [24, 16, 12]
[fluid]
omega = 1.6
[faces]
others = "periodic"
[start]
density = "1 + 0.01 * cos(2*pi*x/lx) * cos(2*pi*y/ly) * sin(2*pi*z/lz)"
"""

SI = """
spec = "d2q9_bgk"
target = "cpu"
precision = "f64"
[units]
system = "si"
mach = 0.17
density = "998 kg/m^3"
[domain]
size = ["12 mm", "8 mm"]
resolution = 48
[fluid]
viscosity = "1e-5 m^2/s"
[faces]
top = { rule = "moving_wall", velocity = ["0.1 m/s", 0] }
others = "bounce_back"
"""

PLANE_BOXES = """
[refinement]
finest = 2
boxes = [{ level = 1, from = [8, 8], to = [24, 24] }, { level = 2, from = [12, 12], to = [20, 16] }]
"""

SPACE_BOXES = """
[refinement]
finest = 2
boxes = [{ level = 1, from = [4, 4, 4], to = [20, 12, 8] }, { level = 2, from = [8, 4, 4], to = [12, 8, 8] }]
"""

GHOSTS = PLANE_BOXES + 'coupling = "interpolated"\n'

SI_LEVELS = """
[refinement]
finest = 1
level = "1.5 - y/ly"
"""

FOLLOWS = """
[refinement]
finest = 2
criterion = "abs(rho - 1)"
threshold = 0.006
every = 2
"""

# A circle, in space a ball: centre and radius.
BODY = (12.3, 8.2, 6.1, 4.4)

CIRCLE = """
[[solids]]
shape = "cylinder"
centre = [12.3, 8.2]
radius = 4.4
rule = "bounce_back"
"""

BALL = """
[[solids]]
shape = "sphere"
centre = [12.3, 8.2, 6.1]
radius = 4.4
rule = "bounce_back"
"""

# A grid that could be refined and is not.
UNREFINED = """
[refinement]
finest = 1
level = "0"
"""

SOLID_LEVELS = """
[refinement]
finest = 1
"""

# Name, case, dimension, density of the fluid; how the grid is refined and in which form it is written, all with the same cells.
CASES = [
    ("plane", PLANE, 2, 1, [("", "true"), (UNREFINED, '"unstructured"'), (UNREFINED, '"amr"')]),
    ("space", SPACE, 3, 1, [("", "true"), (UNREFINED, '"unstructured"'), (UNREFINED, '"amr"')]),
    ("plane_refined", PLANE + PLANE_BOXES, 2, 1, [("", '"unstructured"'), ("", '"amr"')]),
    ("plane_ghosts", PLANE + GHOSTS, 2, 1, [("", '"unstructured"'), ("", '"amr"')]),
    ("plane_adaptive", PLANE + FOLLOWS, 2, 1, [("", '"unstructured"'), ("", '"amr"')]),
    ("space_refined", SPACE + SPACE_BOXES, 3, 1, [("", '"unstructured"'), ("", '"amr"')]),
    ("space_adaptive", SPACE + FOLLOWS, 3, 1, [("", '"unstructured"'), ("", '"amr"')]),
    ("plane_solid", PLANE + CIRCLE, 2, 1, [("", "true")]),
    ("space_solid", SPACE + BALL, 3, 1, [("", "true")]),
    ("plane_solid_refined", PLANE + SOLID_LEVELS + CIRCLE, 2, 1, [("", '"unstructured"'), ("", '"amr"')]),
    ("si", SI, 2, 998, [("", "true"), (UNREFINED, '"amr"')]),
    ("si_refined", SI + SI_LEVELS, 2, 998, [("", '"unstructured"'), ("", '"amr"')]),
]


def read(path):
    """What VTK's reader of a file finds."""
    readers = {".vti": vtkXMLImageDataReader, ".vtu": vtkXMLUnstructuredGridReader, ".vtkhdf": vtkHDFReader}
    reader = readers[path.suffix]()
    if not reader.CanReadFile(str(path)):
        sys.exit(f"{path}: {reader.GetClassName()} cannot read it")
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(path))
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutputDataObject(0)
    if errors or data is None:
        sys.exit(f"{path}: {reader.GetClassName()} failed")
    return data


def grids(data):
    """The grids of a data object, each with its level."""
    if not isinstance(data, vtkOverlappingAMR):
        return [(data, 0)]
    if not data.CheckValidity():
        sys.exit("boxes do not nest")
    found = []
    for level in range(data.GetNumberOfLevels()):
        for at in range(data.GetNumberOfBlocks(level)):
            found.append((data.GetDataSetAsImageData(level, at), level))
    return found


def cells_of(data):
    """Cells that are not refined: level, volume (in the plane area), centre, density and velocity, a row each."""
    rows = []
    for grid, level in grids(data):
        # Centres leave out what is blanked.
        whole = grid.NewInstance()
        whole.ShallowCopy(grid)
        whole.GetCellData().RemoveArray("vtkGhostType")
        sizes, centres = vtkCellSizeFilter(), vtkCellCenters()
        for of_cells in (sizes, centres):
            of_cells.SetInputData(whole)
            of_cells.Update()
        found = sizes.GetOutput().GetCellData()
        volume = vtk_to_numpy(found.GetArray("Volume")) + vtk_to_numpy(found.GetArray("Area"))
        centre = vtk_to_numpy(centres.GetOutput().GetPoints().GetData()).astype(float)
        fields = grid.GetCellData()
        arrays = ("density", "velocity", "level", "vtkGhostType", "solid")
        density, velocity, levels, ghosts, solid = map(fields.GetArray, arrays)
        if velocity.GetNumberOfComponents() != 3:
            sys.exit("the velocity is no vector")
        of_cells = np.broadcast_to(vtk_to_numpy(levels) if levels else level, volume.shape)
        ghosts = vtk_to_numpy(ghosts) if ghosts else np.zeros(volume.shape, int)
        solid = vtk_to_numpy(solid) if solid else np.zeros(volume.shape, int)
        if ((ghosts & HIDDEN > 0) != (solid > 0)).any():
            sys.exit("cells are hidden that are not solid, or solid ones are not")
        table = np.column_stack([of_cells, volume, centre, vtk_to_numpy(density), solid, vtk_to_numpy(velocity)])
        rows.append(table[(ghosts & REFINED) == 0])
    return np.concatenate(rows)


def flat(rows, thickness):
    """A slab of that thickness as the plane that it stands for: on level l there are 2^l layers, all alike."""
    layers = 2 ** rows[:, LEVEL]
    layer = np.floor(rows[:, Z] * layers / thickness)
    rows[:, VOLUME] *= layers / thickness
    rows[:, Z] = 0
    for other in range(1, int(layers.max())):
        same_rows("layers of a slab", rows[layer == other], rows[(layer == 0) & (layers > other)])
    return rows[layer == 0]


def names(folder):
    """Times and names of all files, as the series has them."""
    series = folder / "fields.vtkhdf.series"
    if series.exists():
        return [(entry["time"], entry["name"]) for entry in json.loads(series.read_text())["files"]]
    entries = xml.parse(folder / "fields.pvd").getroot().iter("DataSet")
    return [(float(entry.get("timestep")), entry.get("file")) for entry in entries]


def same(what, found, expected, within):
    if len(found) != len(expected) or any(abs(a - b) > within * max(1, abs(b)) for a, b in zip(found, expected)):
        sys.exit(f"{what}: {found} instead of {expected}")


def same_rows(what, found, expected):
    """Rows in the order of their centres, of the same cells."""
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-6, atol=1e-15):
        sys.exit(f"{what}: cells differ")


def check(lbmc, name, text, dim, density, form, folder):
    """Runs a case and checks its files; returns the cells of the last one in the order of their centres."""
    case, out = folder / f"{name}.toml", folder / name
    case.write_text(text + f"[stop]\nsteps = 20\n[output]\nvtk = {form}\nevery = 10\n")
    ran = subprocess.run([lbmc, "run", case, "--out", out], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{name}: {ran.stderr}")
    summary = json.loads((out / "summary.json").read_text())
    cell, step = summary.get("cell", 1.0), summary.get("time_step", 1.0)
    files = names(out)
    same(f"{name}: times", [time for time, _ in files], [10 * step, 20 * step], 1e-12)
    for _, file in files:
        data = read(out / file)
        slab = dim == 2 and isinstance(data, vtkOverlappingAMR)
        extents = [along * cell for along in summary["size"]] + [cell if slab else 0.0] * (3 - dim)
        bounds = [0.0] * 6
        data.GetBounds(bounds)
        ends = [end / cell for extent in extents for end in (0.0, extent)]
        same(f"{name}: extents", [bound / cell for bound in bounds], ends, 1e-6)
        rows = cells_of(data)
        rows = flat(rows, cell) if slab else rows
        counts = [int((rows[:, LEVEL] == level).sum()) for level in range(int(rows[:, LEVEL].max()) + 1)]
        mass = float((rows[:, VOLUME] * rows[:, DENSITY] * (rows[:, SOLID] == 0)).sum())
        print(f"{name}/{file}: {data.GetClassName()}, cells {counts}, mass {mass:.9g}")
    if "[[solids]]" in text:
        away = (rows[:, [X, Y, Z][:dim]] - BODY[:dim]) ** 2
        same(f"{name}: solid cells", [int(rows[:, SOLID].sum())], [int((away.sum(axis=1) < BODY[3] ** 2).sum())], 0)
        same_rows(f"{name}: solid cells", rows[:, SOLID] > 0, away.sum(axis=1) < BODY[3] ** 2)
    expected = summary["mass_end"] * density * cell**dim
    same(f"{name}: cells", counts, summary["levels"][: len(counts)], 0)
    same(f"{name}: mass", [mass / expected], [1.0], 1e-6 if summary["precision"] == "f32" else 1e-12)
    return rows[np.lexsort(np.round(rows[:, [X, Y, Z]] * 64 / cell).T)]


def main():
    print(f"VTK {vtkVersion.GetVTKVersion()}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text, dim, density, forms in CASES:
            found = []
            for at, (more, form) in enumerate(forms):
                found.append(check(sys.argv[1], f"{name}_{at}", text + more, dim, density, form, Path(folder)))
                same_rows(f"{name}, {form} and {forms[0][1]}", found[at], found[0])
    print("VTK reads what was written")


if __name__ == "__main__":
    main()
