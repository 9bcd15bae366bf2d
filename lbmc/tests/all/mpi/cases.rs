//! Cases of flows in several processes.

/// A cavity with a body in it, and output of every kind.
pub const CAVITY: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
block = [8, 8]
[domain]
size = [48, 32]
[fluid]
re = 100
[faces]
top = { rule = "moving_wall", velocity = [0.1, 0] }
others = "bounce_back"
[start]
density = "1 + 0.01 * cos(2*pi*x/lx)"
[stop]
steps = 40
steady = 1e-12
check_every = 15
[output]
directory = "out"
profiles = true
vtk = true
every = 20
series = 10
forces = 7
restart = 20
[[probes]]
name = "around"
at = [[12.25, 12.5], [25, 14], [34.1, 14]]
fields = ["density", "velocity", "vorticity", "level"]
every = 4
[[statistics]]
name = "mean"
of = ["mean", "stresses"]
from = 2
every = 3
[[solids]]
shape = "cylinder"
centre = [30, 14]
radius = 4
rule = "interpolated_bounce_back"
"#;

/// Levels that stay, below a symmetry plane, with a start that has slopes.
pub const REFINED: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
block = [8, 8]
[domain]
size = [48, 32]
[fluid]
velocity = 0.05
length = 16
re = 50
[faces]
left = "periodic"
right = "periodic"
top = "free_slip"
bottom = "bounce_back"
[start]
velocity = ["0.05 * (1 + 0.2 * sin(2*pi*x/lx))", 0]
[stop]
steps = 16
[output]
directory = "out"
vtk = true
series = 4
restart = 8
[refinement]
finest = 2
boxes = [{ level = 1, from = [8, 8], to = [24, 24] }, { level = 2, from = [12, 12], to = [20, 16] }]
"#;

/// A body that moves, with the grid behind it; blocks go from process to process.
pub const MOVING: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
block = [8, 8]
[domain]
size = [64, 48]
[fluid]
velocity = 0.08
length = 8
re = 40
[faces]
others = "bounce_back"
[stop]
steps = 48
[output]
directory = "out"
vtk = true
every = 20
series = 8
forces = 7
restart = 24
[[statistics]]
name = "mean"
of = ["mean"]
from = 0
every = 3
[[solids]]
shape = "cylinder"
centre = [20, 23]
radius = 4
rule = "moving_wall"
motion = { displacement = ["0.08 * t", "2 * sin(t / 40)"] }
[refinement]
finest = 1
every = 8
memory = "32 MiB"
criterion = "abs(dx_uy - dy_ux)"
threshold = 0.01
"#;

/// A grid that stays around a body which moves. In the second half of step 47 it comes to blocks of a part that had none of it.
pub const COMING: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
[domain]
size = [64, 48]
[fluid]
velocity = 0.04
re = 40
[faces]
others = "bounce_back"
[stop]
steps = 48
[output]
directory = "out"
vtk = true
series = 1
forces = 1
restart = 48
[[solids]]
shape = "cylinder"
centre = [20, 24]
radius = 4
rule = "moving_wall"
motion = { displacement = ["1.5 * sin(2*pi*t/100)", "0.01 * t"] }
[refinement]
finest = 1
"#;

/// Bodies that the fluid moves, on a grid that follows them: a circle and an ellipse in a shear flow, from process to process.
pub const FREE: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
block = [8, 8]
[domain]
size = [64, 48]
[fluid]
velocity = 0.08
length = 8
re = 40
[faces]
left = "periodic"
right = "periodic"
top = { rule = "moving_wall", velocity = [0.08, 0] }
bottom = "bounce_back"
[start]
velocity = ["0.08 * y / ly", 0]
[stop]
steps = 48
[output]
directory = "out"
vtk = true
series = 8
forces = 7
restart = 24
[[solids]]
shape = "cylinder"
centre = [20, 30]
radius = 4
rule = "interpolated_moving_wall"
motion = { free = true, density = 1.2, gravity = [0, -1e-4] }
[[solids]]
shape = "ellipsoid"
centre = [31, 28]
radii = [6, 4]
rule = "interpolated_moving_wall"
motion = { free = true, density = 0.8, stiffness = [0, 1e-2], velocity = [0.06, 0] }
[refinement]
finest = 1
every = 8
memory = "32 MiB"
"#;
