//! Long because it is one table of texts.
//!
//! The long form of every code of a case file: what it means, why it matters, and how it looks wrong and right.

use super::diag::{self, Code};

/// The long form of a code.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    code: Code,
    /// What it means and why it matters.
    pub text: &'static str,
    /// Lines of a case file that raise it.
    pub wrong: &'static str,
    /// The same, mended.
    pub right: &'static str,
}

impl Code {
    /// Its long form; every row has one.
    pub fn long(self) -> Option<&'static Long> {
        LONG.iter().find(|long| long.code == self)
    }

    /// The row with this code, `C0102`, in capitals or not.
    pub fn find(code: &str) -> Option<Code> {
        diag::CODES.iter().copied().find(|row| row.id.eq_ignore_ascii_case(code))
    }
}

const fn long(code: Code, text: &'static str, wrong: &'static str, right: &'static str) -> Long {
    Long { code, text, wrong, right }
}

const LONG: &[Long] = &[
    long(
        diag::SYNTAX,
        "A case file is TOML: tables in square brackets, and keys with values below them. Texts stand in double \
         quotation marks, numbers without.",
        "spec = \"d2q9_bgk",
        "spec = \"d2q9_bgk\"",
    ),
    long(
        diag::UNKNOWN_KEY,
        "An unknown key. It is refused rather than ignored: with a misspelt `steady` the run would silently continue to \
         the last step.",
        "[fluid]\nreynolds = 100",
        "[fluid]\nre = 100",
    ),
    long(
        diag::WRONG_TYPE,
        "The key exists, but its value is of another type: a text where a number is due, or one number where a list is.",
        "[domain]\nsize = 128",
        "[domain]\nsize = [128, 128]",
    ),
    long(
        diag::MISSING_KEY,
        "A key without which the flow is not determined: its method, its domain, its viscosity, what happens at a face. \
         None of these has a value that would be right for most flows.",
        "[domain]",
        "[domain]\nsize = [128, 128]",
    ),
    long(
        diag::UNKNOWN_WORD,
        "The value is one word of a short list, and this word is not in it.",
        "target = \"gpu\"",
        "target = \"cuda\"",
    ),
    long(
        diag::CONFLICT,
        "Two keys set the same quantity, so they may contradict each other: viscosity, Reynolds number and relaxation \
         rate follow from one another. Keep the one that you know.",
        "[fluid]\nre = 100\nviscosity = 0.1",
        "[fluid]\nre = 100",
    ),
    long(
        diag::BAD_VALUE,
        "A number of the right type that no flow can have: a negative viscosity, an extent of zero, a value that is not \
         finite.",
        "[fluid]\nre = -100",
        "[fluid]\nre = 100",
    ),
    long(
        diag::BAD_OVERRIDE,
        "`--set KEY=VALUE` must name one value of the case, or a parameter of the method, and `--set -KEY` takes one away. The end \
         of a path does where only one place of the case has it; else write the table too. Entries of lists are counted from 0, \
         `solids.0.radius`.",
        "lbmc run case.toml --set rey=100",
        "lbmc run case.toml --set fluid.re=100",
    ),
    long(
        diag::NO_EFFECT,
        "An option that changes nothing in this case, for example an interval of output where no output is asked for. The \
         case runs; but perhaps something else was meant.",
        "[output]\nevery = 100",
        "[output]\nevery = 100\nvtk = true",
    ),
    long(
        diag::FORMULA,
        "A formula of the place, or of the time t where that may change something, stands in quotation marks: numbers, x, y, z, t, pi, \
         + - * / ^, brackets and functions such as sin(...). Something else stands in this one.",
        "[start]\nvelocity = [\"0.05 sin(2*pi*y)\", 0]",
        "[start]\nvelocity = [\"0.05*sin(2*pi*y)\", 0]",
    ),
    long(
        diag::TABLE,
        "`table(\"inflow.csv\", t)` is the value at `t` of straight lines through the points of a file: a text in the folder of the \
         case with two numbers to a line, separated by a comma, of which the first rises. `#` begins a comment, and the \
         first line may have names. Before the first point and beyond the last the value is that of the point.",
        "velocity = [\"table('../inflow.csv', t)\", 0]",
        "velocity = ['table(\"inflow.csv\", t)', 0]",
    ),
    long(
        diag::NO_IMAGE,
        "A solid of `shape = \"image\"` is made of the voxels of a file: NRRD with the voxels in the same file (encodings raw and gzip, \
         integers of 8 or 16 bits), `.raw` with a byte for each voxel and `voxels = [nx, ny, nz]` in the case, a PNG in two \
         dimensions, or a stack of them in three, whose name has a `*`: `slice_*.png`. The file has to have as many voxels as it says.",
        "file = \"rock.tif\"",
        "file = \"rock.nrrd\"",
    ),
    long(
        diag::SOLID_VOXELS,
        "In an image with two values the voxels with the larger one are solid, or with `solid = \"below\"` those with the lesser. With \
         more values a `threshold` is needed: the voxels above it, or below it, are solid. At least one has to be.",
        "shape = \"image\"\nfile = \"tomogram.nrrd\"",
        "shape = \"image\"\nfile = \"tomogram.nrrd\"\nthreshold = 117",
    ),
    long(
        diag::HOLES_CLOSED,
        "The surface has holes that are not wider than `close`, the longest side of the box around a hole. Each is closed by a fan of \
         triangles around the mean of its corners, and is listed with its place, its edges and its extent in the units of the file. \
         Look whether the surface is meant to be whole there: a fan over a bent hole changes the shape.",
        "file = \"wing_with_a_hole.stl\"\nclose = 1.5",
        "file = \"wing.stl\"",
    ),
    long(
        diag::VIEW_OF_PLANE,
        "A view shows a surface on which a field has a value, as one sees it from a direction. In two dimensions there is a \
         line in its place, and nothing that hides anything: a picture shows the whole field in colours.",
        "spec = \"d2q9_bgk\"\n[[views]]\nisosurface = \"vorticity\"\nvalue = 1",
        "spec = \"d2q9_bgk\"\n[[pictures]]\nfield = \"vorticity\"",
    ),
    long(
        diag::NO_FRICTION,
        "Friction on solids is the viscosity times the slope of the velocity at the wall. Where the viscosity depends on the \
         flow, as that of a power-law fluid, or on several rates, there is no number for it; `output.surfaces` then writes the \
         pressure alone. Forces (`output.forces`) follow from what the populations exchange with the wall, and are whole.",
        "spec = \"d2q9_power_law\"\n[output]\nsurfaces = 1000",
        "spec = \"d2q9_power_law\"\n[output]\nforces = 1000",
    ),
    long(
        diag::NO_SAMPLES,
        "Statistics are of the steps from `from` on, every so many, and means of rows of those from `output.average_from` on. Where the run ends \
         before the first of them there is nothing to make means of, and no file of statistics is written. A run that is to go on later has \
         them then. A recording of a plane needs two frames.",
        "[stop]\nsteps = 10_000\n[[statistics]]\nname = \"mean\"\nfrom = 20_000\nevery = 10",
        "[stop]\nsteps = 100_000\n[[statistics]]\nname = \"mean\"\nfrom = 20_000\nevery = 10",
    ),
    long(
        diag::NOT_ACCUMULATED,
        "Statistics are accumulated on the device, from the fields and observables of the method, from what follows from them and from slopes \
         of the velocity, and from formulas of these: not from `level`. Stresses are made of the velocity, which has to be among the fields.",
        "[[statistics]]\nname = \"mean\"\nfields = [\"level\"]\nfrom = 20_000\nevery = 10",
        "[[statistics]]\nname = \"mean\"\nfields = [\"velocity\"]\nfrom = 20_000\nevery = 10",
    ),
    long(
        diag::MOTION,
        "A solid with a `motion` is displaced, and turns, as a whole by formulas of the time `t` alone, and the velocity of its surface follows \
         from them. So its boundary condition must be one with a parameter `velocity`, which is not given, and there is one all over the surface. \
         Other parameters are the same all over it, and, where it turns, at all times. What has no end turns only about an axis along which it \
         has none. With `free = true` the fluid moves the solid; its shape then has an end along each axis, and no key is given for what it \
         does not do.",
        "[[solids]]\nshape = \"cylinder\"\ncentre = [32, 32]\nradius = 8\nrule = \"bounce_back\"\nmotion = { displacement = [\"8 * sin(t/100)\", 0] }",
        "[[solids]]\nshape = \"cylinder\"\ncentre = [32, 32]\nradius = 8\nrule = \"moving_wall\"\nmotion = { displacement = [\"8 * sin(t/100)\", 0] }",
    ),
    long(
        diag::LONG_WAY,
        "On a refined grid all blocks that a moving solid comes to are of the level of its surface: until the next change of the grid where \
         `refinement.every` lets it follow the solid, else in the whole run. They are found from the places where the solid is, of which there may \
         be 4096, a cell of that level apart. On a grid of one level a solid may go as far as it likes.",
        "[refinement]\nfinest = 4\n\n[[solids]]\nmotion = { displacement = [\"0.01 * t\", 0] }",
        "[refinement]\nfinest = 4\nevery = 32\n\n[[solids]]\nmotion = { displacement = [\"0.01 * t\", 0] }",
    ),
    long(
        diag::SAMPLES,
        "A field at the start may come from a file: a numpy array of 32 or 64 bit numbers with the axes [y][x] or [y][x][component], in three \
         dimensions [z] before them, an array of image data of VTK (.vti), uncompressed or with zlib, or of an unstructured grid (.vtu) as lbmc writes \
         it, or a restart file of another case. Its points fill the domain.",
        "[start]\nvelocity = { file = \"u.txt\" }",
        "[start]\nvelocity = { file = \"u.npy\" }",
    ),
    long(
        diag::NOT_VARIED,
        "Parameters of the method vary in space, in time and with the fields of the flow, by formulas. The parts of a formula that depend on the \
         position alone are kept in each cell. The relaxation rate that sets the viscosity does not vary by itself: the viscosity does.",
        "[params]\nomega = \"1 + 0.5 * x / lx\"",
        "[fluid]\nviscosity = \"0.01 + 0.1 * x / lx\"",
    ),
    long(
        diag::CIRCULAR,
        "The formula of a parameter has a field that the method computes with this parameter, such as a force that depends on the velocity, of \
         which half a force is a part: there is no value to begin with. Methods may have such dependences themselves, solved for the field.",
        "spec = \"d2q9_guo\"\n[params]\nforce = [\"1e-6 - 0.01 * ux\", \"-0.01 * uy\"]",
        "spec = \"d2q9_porous\"\n[params]\ndrag = 0.01\nforce = [1e-6, 0]",
    ),
    long(
        diag::NO_RESULT,
        "A formula under `[report]` is of what the case has, `viscosity`, `velocity`, `length`, `lx`, the parameters of the method, and of what \
         its run finds: `mean_ux`, `porosity`, of a plane of fluxes its name with `_area`, `_volume` or `_mass`, of solids `drag_1` with \
         `output.forces` and `nusselt_1` with `output.heat`, of a probe its name with the component. Reports before it have names, too.",
        "[report]\npermeability = \"nu * mean_ux / gx\"",
        "[report]\npermeability = \"viscosity * mean_ux * porosity / forcex\"",
    ),
    long(
        diag::NO_DEVICES,
        "`devices` is a number of devices, or a list of the numbers of GPUs, each once: `devices = 2`, `devices = [0, 1]`. The GPUs must be \
         there, and of one architecture. With `target = \"cpu\"` it is the number of parts that the flow is divided into, of at least one block each.",
        "devices = [0, 0]",
        "devices = [0, 1]",
    ),
    long(
        diag::NOT_STORED,
        "`storage = \"moments\"` stores of a cell the moments that its populations follow from, which are fewer. That is possible for methods of \
         which `lbmc check` proves that their collision depends on fewer moments than there are populations. With \
         `storage = \"auto\"` a run takes moments where that is possible and faster, and says so.",
        "spec = \"d3q19_bgk\"\nstorage = \"moments\"",
        "spec = \"d3q19_regularized\"\nstorage = \"moments\"",
    ),
    long(
        diag::UNSEEN,
        "Names and other texts of a case come to be in tables, file names and on terminals, where control characters would move the cursor or \
         change colours, and marks of direction would turn the text around.",
        "name = \"cylinder\\u001b[31m\"",
        "name = \"cylinder\"",
    ),
    long(
        diag::NO_LAYER,
        "An absorbing layer leads the flow in front of a face to a density and a velocity, so that sound and vortices that reach the face do \
         not come back. It needs a method whose fields are these two, faces that are not periodic, and some cells: in a narrow layer the \
         rate rises so fast that the layer itself reflects.",
        "[absorbing]\nfaces = [\"right\"]\nwidth = 4",
        "[absorbing]\nfaces = [\"right\"]\nwidth = 20",
    ),
    long(
        diag::NOT_DERIVED,
        "Derivatives of an objective come from the adjoint of each step, from the last to the first. There is one for a grid that stays, on \
         one device, with populations of 32 or 64 bits, boundary conditions whose links depend on populations of the own cell alone, and solids at \
         rest; nothing may depend on time.",
        "devices = 2\n\n[gradient]\nobjective = \"ux^2\"",
        "[gradient]\nobjective = \"ux^2\"",
    ),
    long(
        diag::RECORDING,
        "A face takes as its velocity what `[[recordings]]` of another run has written: a plane with the normal of the face, of the size of the face, \
         in the same kind of units. It lasts as long as the run, or is repeated: the time from its last frame to its first is that between two \
         frames.",
        "[faces]\nleft = { rule = \"regularized_velocity\", velocity = { recording = \"velocity.png\" } }",
        "[faces]\nleft = { rule = \"regularized_velocity\", velocity = { recording = \"channel.lbmplane\", repeat = true } }",
    ),
    long(
        diag::TWO_SETS,
        "With `buffers = 1` a flow has one set of populations, in which steps replace them in place. That is possible on a grid that stays, on one device, \
         with solids at rest, and for methods whose collision reads no values of neighbours.",
        "buffers = 1\n[refinement]\nfinest = 1\ncriterion = \"vorticity\"\nthreshold = 0.01\nevery = 10",
        "buffers = 1",
    ),
    long(
        diag::MISSING_UNIT,
        "With a table `[units]` the case is in SI units, and every quantity needs a unit: a bare number could be metres \
         or cells.",
        "[fluid]\nviscosity = 1e-6",
        "[fluid]\nviscosity = \"1e-6 m^2/s\"",
    ),
    long(
        diag::UNKNOWN_UNIT,
        "A unit that is not known. Units are products and quotients of SI units with powers: \"m/s\", \"kg/m^3\", \"m^2/s\".",
        "viscosity = \"1 stokes\"",
        "viscosity = \"1e-4 m^2/s\"",
    ),
    long(
        diag::WRONG_UNIT,
        "The unit is one of another kind of quantity: a velocity in m/s^2, a viscosity in m/s. The viscosity of a case is the \
         kinematic one, the dynamic one divided by the density.",
        "viscosity = \"1e-6 m/s\"",
        "viscosity = \"1e-6 m^2/s\"",
    ),
    long(
        diag::UNIT_IN_LATTICE,
        "The case has no table `[units]`, so its quantities are in lattice units: cells and time steps. Remove the unit, \
         or add `[units]` for a case in SI units.",
        "top = { rule = \"moving_wall\", velocity = [\"1 m/s\", 0] }",
        "top = { rule = \"moving_wall\", velocity = [0.1, 0] }",
    ),
    long(
        diag::PARTIAL_CELL,
        "An extent is not a multiple of the cell size, so the domain would end inside a cell. Change the extent or the \
         resolution.",
        "[domain]\nsize = [64.5, 64]",
        "[domain]\nsize = [64, 64]",
    ),
    long(
        diag::ROUNDED,
        "What is written between two steps does not exist, so a time between rows, pictures or files is rounded to a whole number of \
         time steps. Here that makes it longer or shorter by more than 0.1 %. The times in the results are those of the steps.",
        "[units]\nstep = \"30 ms\"\n[output]\nforces = \"0.1 s\"",
        "[units]\nstep = \"25 ms\"\n[output]\nforces = \"0.1 s\"",
    ),
    long(
        diag::PARTIAL_BLOCK,
        "Cells are stored in blocks, the unit of memory, refinement and launches. Along an axis with a link-wise boundary \
         condition at its upper end, the last blocks may reach beyond the domain. Periodic axes, axes with a wet-node \
         boundary condition or a symmetry plane there, flows with solids that move, methods that read values of \
         neighbours, and `output.series` need a size that is a multiple of the block size. Without `block` one is chosen that fits; it fails only on several levels, where a block has four \
         cells along each axis or more (an even number with an interpolated coupling), for sizes with no such divisor.",
        "block = [8, 8]\n[domain]\nsize = [100, 100]\n[faces]\nothers = \"periodic\"",
        "block = [8, 8]\n[domain]\nsize = [104, 104]\n[faces]\nothers = \"periodic\"",
    ),
    long(
        diag::WRONG_DIMENSION,
        "The number of axes differs from that of the method's velocity set: a D2Q9 method has two, a D3Q19 method three.",
        "spec = \"d2q9_bgk\"\n[domain]\nsize = [64, 64, 64]",
        "spec = \"d2q9_bgk\"\n[domain]\nsize = [64, 64]",
    ),
    long(
        diag::PERIODIC_PAIR,
        "What leaves through a periodic face comes back through the opposite one, so either both are periodic or neither.",
        "[faces]\nleft = \"periodic\"\nothers = \"bounce_back\"",
        "[faces]\nleft = \"periodic\"\nright = \"periodic\"\nothers = \"bounce_back\"",
    ),
    long(
        diag::OUTSIDE,
        "A box of `[refinement]` that has no cell of the domain in it, or whose corners are the wrong way round. The flow \
         would run unrefined where it was meant to be fine.",
        "[domain]\nsize = [128, 128]\n\n[refinement]\nfinest = 1\nboxes = [{ level = 1, from = [200, 0], to = [240, 128] }]",
        "[domain]\nsize = [128, 128]\n\n[refinement]\nfinest = 1\nboxes = [{ level = 1, from = [64, 0], to = [128, 128] }]",
    ),
    long(
        diag::NO_LEVELS,
        "The target level of `[refinement]`, by its formula and boxes, is 0 everywhere: nothing is refined.",
        "[refinement]\nfinest = 2\nlevel = \"0\"",
        "[refinement]\nfinest = 2\nlevel = \"2 - x / 8\"",
    ),
    long(
        diag::TOO_THIN,
        "A cell is solid if its centre is inside the solid. What is thinner than a cell may have no centre inside, and would not \
         be there at all, or only in parts. Take finer cells at the solid, with `[refinement]`, or a finer grid.",
        "[[solids]]\nshape = \"box\"\nfrom = [10, 10]\nto = [10.5, 30]\nrule = \"bounce_back\"",
        "[[solids]]\nshape = \"box\"\nfrom = [10, 10]\nto = [12, 30]\nrule = \"bounce_back\"",
    ),
    long(
        diag::COVERED,
        "All cells at a face are inside a solid, so nothing enters or leaves there, and the boundary condition of the \
         face has no effect.",
        "[[solids]]\nshape = \"box\"\nfrom = [-1, -1]\nto = [4, 65]\nrule = \"bounce_back\"",
        "[[solids]]\nshape = \"box\"\nfrom = [20, 20]\nto = [25, 44]\nrule = \"bounce_back\"",
    ),
    long(
        diag::NO_SURFACE,
        "The file that a solid names is not there, or it is no STL file. STL files hold triangles, as text or binary; a binary file \
         has exactly as many bytes as its count of triangles needs.",
        "[[solids]]\nshape = \"stl\"\nfile = \"wing.step\"",
        "[[solids]]\nshape = \"stl\"\nfile = \"wing.stl\"",
    ),
    long(
        diag::OPEN_SURFACE,
        "A surface is closed if each edge has a triangle on each side, and both are turned the same way. One with holes is taken as it is, \
         unless its holes are so wide that it encloses no cell; one that moves, and one of which a section is used, must be closed. Corners \
         that are nearer than 1e-5 of the extent of the surface are the same.",
        "file = \"wing_with_a_hole.stl\"",
        "file = \"wing.stl\"",
    ),
    long(
        diag::THIN_PARTS,
        "A cell is solid if its centre is inside the solid, so that parts thinner than a cell have no solid cells, or gaps between \
         them. Links that go through such a part are cut on both of its sides, and nothing flows through; but its thickness is not that \
         which the flow sees. Sharp edges always have such parts; for a wing or a plate take finer cells at the solid.",
        "[refinement]\nfinest = 2",
        "[refinement]\nfinest = 4",
    ),
    long(
        diag::OVERLAPS,
        "A file may hold several closed shells. A point is solid if the shells wind around it, counted with the way that their normals \
         point: parts that overlap are one body, and a shell inside another is a cavity only if its normals point into the cavity. A \
         shell inside another with normals that point outwards adds nothing, and may have been meant as a cavity.",
        "file = \"assembly.stl\"",
        "file = \"assembly_as_one_body.stl\"",
    ),
    long(
        diag::TOO_LARGE,
        "The grid needs more memory than there is, on the device or, for the fields that are written, on the host \
         beside it; or it has more blocks than can be numbered. Memory is counted before anything is built; on a host, \
         what control groups allow counts too. `lbmc run --dry-run` lists what takes how much. Besides fewer cells, \
         `precision = \"f32\"` halves most of it, and `[refinement]` spends cells only where they are needed.",
        "[domain]\nsize = [65536, 65536, 65536]",
        "[domain]\nsize = [256, 256, 256]",
    ),
    long(
        diag::WELDED,
        "The triangles of a surface do not share their corners to the last digit, some are there twice, or have corners of others on their edges, \
         as in files of many programs for construction. Corners of open edges that are nearer to each other than 1e-5 of the extent of the surface \
         are made one, of equal triangles one is left, and triangles are divided where others have corners. A closed surface stays as it is.",
        "file = \"wing_of_patches.stl\"",
        "file = \"wing.stl\"",
    ),
    long(
        diag::WITH_HOLES,
        "Some edges of the surface have no triangle on one side, or one that is turned over. What is inside then follows from the winding \
         number: the solid angle under which a point sees the triangles, divided by that of a sphere. It is 1 inside of a closed surface and \
         0 outside; with holes, a point is inside where it is above 1/2. Small holes change no cell. Near wide ones the solid ends about \
         where a lid would be; between several it may have gaps.",
        "file = \"wing_with_a_hole.stl\"",
        "file = \"wing.stl\"",
    ),
    long(
        diag::UNKNOWN_RULE,
        "A face names a boundary condition that the method does not have. Those of a method are the `boundary` \
         statements of its spec.",
        "top = \"no_slip\"",
        "top = \"bounce_back\"",
    ),
    long(
        diag::RULE_PARAMETER,
        "A boundary condition needs each of its parameters that has no default, and accepts no others: a moving wall needs a velocity.",
        "top = \"moving_wall\"",
        "top = { rule = \"moving_wall\", velocity = [0.1, 0] }",
    ),
    long(
        diag::COMPONENTS,
        "A vector has a component for each axis of the velocity set.",
        "velocity = [0.1, 0, 0]     # in two dimensions",
        "velocity = [0.1, 0]",
    ),
    long(
        diag::METHOD_PARAMETER,
        "The method needs a parameter that the case does not give and that has no default, or is given one that it does not \
         have. The rate that follows from the viscosity need not be given.",
        "[params]\ns_bulk = 1.0      # for a method without it",
        "# no [params]",
    ),
    long(
        diag::NO_SINGLE_RATE,
        "A viscosity or a Reynolds number sets one relaxation rate where nu = cs2 (1/omega - 1/2), and so does a diffusivity or a \
         Prandtl number. Here it depends on several parameters, so one equation does not set them: give them themselves. Or the \
         method carries no scalar that could diffuse, or several.",
        "[fluid]\nre = 100",
        "[params]\nomega = 1.7\ns_nu = 1.2",
    ),
    long(
        diag::NO_SPEC,
        "The method can be found neither as a file, from the folder of the case, nor among the shipped ones; or it does \
         not compile. `lbmc check` reports its errors.",
        "spec = \"d2q9_bkg\"",
        "spec = \"d2q9_bgk\"",
    ),
    long(
        diag::NOT_FOR_SOLIDS,
        "The surface of a solid cuts links in any direction. Its boundary condition must work link by link: link-wise \
         ones do, except those of a symmetry plane, and so does `interpolated_bounce_back`. Other wet-node boundary \
         conditions need a flat face. The same holds for patches, and for the rest of a face that has some: each link gets \
         a boundary condition of its own.",
        "[[solids]]\nshape = \"cylinder\"\ncentre = [32, 32]\nradius = 8\nrule = \"free_slip\"",
        "[[solids]]\nshape = \"cylinder\"\ncentre = [32, 32]\nradius = 8\nrule = \"bounce_back\"",
    ),
    long(
        diag::CANNOT_VARY,
        "A formula stands where one number is needed: for the relaxation rate that sets the viscosity. The viscosity itself, the other \
         parameters of the method and those of boundary conditions may be formulas.",
        "[params]\nomega = \"1 + 0.1 * sin(t)\"",
        "[params]\nomega = 1",
    ),
    long(
        diag::DOES_NOT_FIT,
        "The case names a boundary condition, a coupling or a criterion that the spec does not have, and that of the prelude does not fit the \
         method: one with two sets of populations, say, needs rules that say something of both. `lbmc specs NAME` lists the rules of a method; \
         others can be written into its spec.",
        "spec = \"d2q9_scalar\"\n[faces]\ntop = \"free_slip\"",
        "spec = \"d2q9_scalar\"\n[faces]\ntop = \"bounce_back\"",
    ),
    long(
        diag::RATE_OUT_OF_RANGE,
        "The relaxation rate lies outside the range that the method allows. A rate of two is a viscosity of zero, and \
         beyond it the viscosity is negative: shear grows instead of decaying. Also, in 32 bits a rate may round to two. \
         Take more cells or a larger velocity for the same Reynolds number.",
        "[fluid]\nomega = 2.1",
        "[fluid]\nomega = 1.9",
    ),
    long(
        diag::RATE_NEAR_LIMIT,
        "The rate is so close to two that most collisions are unstable as soon as a gradient is not resolved. There is no \
         warning for a collision whose rates follow the flow (an eddy viscosity, an entropic collision, cumulants), nor \
         for one with which a uniform flow of 0.2 cells per step is linearly stable. `lbmc check --stability` computes the \
         limit of linear stability. Take more cells, or such a collision.",
        "[fluid]\nre = 100000      # on 128 cells",
        "[fluid]\nre = 1000",
    ),
    long(
        diag::SUPERSONIC,
        "A velocity of the case is beyond the speed of sound of the lattice, sqrt(cs2), about 0.58 cells per step. \
         Information cannot travel that fast on the lattice, so no such flow exists. Lower the velocity: with the same \
         Reynolds number, the flow is the same and takes more steps.",
        "top = { rule = \"moving_wall\", velocity = [0.7, 0] }",
        "top = { rule = \"moving_wall\", velocity = [0.1, 0] }",
    ),
    long(
        diag::COMPRESSIBLE,
        "The error of compressibility grows with the square of the Mach number. At a Mach number of 0.3 the density \
         varies by several percent, and a flow that is meant to be incompressible is not. Lower the velocity.",
        "top = { rule = \"moving_wall\", velocity = [0.25, 0] }",
        "top = { rule = \"moving_wall\", velocity = [0.1, 0] }",
    ),
    long(
        diag::NOTHING_MOVES,
        "No wall moves, nothing flows in, no force acts and the start is at rest: the answer is rest.",
        "[faces]\nothers = \"bounce_back\"",
        "[faces]\ntop = { rule = \"moving_wall\", velocity = [0.1, 0] }\nothers = \"bounce_back\"",
    ),
    long(
        diag::NO_REFERENCE,
        "There are published data of that name, but not for this Reynolds number or dimension; the profiles are written \
         without them.",
        "[fluid]\nre = 300\n[output]\ncompare = \"ghia1982\"",
        "[fluid]\nre = 1000\n[output]\ncompare = \"ghia1982\"",
    ),
    long(
        diag::NO_OUTLET,
        "The boundary conditions at faces and on solids fix the inflow and the outflow, and the two differ: mass grows or shrinks \
         without bound. A solid whose surface has a velocity brings nothing in where all of its surface is in the flow; where a face cuts it off, \
         what would have left through the part beyond stays. Give one face a pressure (`anti_bounce_back`, `zou_he_pressure`), an outflow, or a far field \
         (`equilibrium`).",
        "left = { rule = \"moving_wall\", velocity = [0.05, 0] }\nothers = \"bounce_back\"",
        "left = { rule = \"moving_wall\", velocity = [0.05, 0] }\nright = { rule = \"anti_bounce_back\", density = 1 }\nothers = \"bounce_back\"",
    ),
    long(
        diag::NODES_OF_LEVELS,
        "A wet-node boundary condition prescribes values at the centres of the outermost cells, half a cell inside the \
         face. On a finer level the wall is elsewhere: a face on several levels has a step of a quarter of the coarser \
         cell, and the error is of first order. The wall of a link-wise boundary condition lies on the face on all \
         levels: `moving_wall` for a velocity, `anti_bounce_back` for a pressure, `bounce_back` for a wall. Or put the \
         whole face on one level.",
        "left = { rule = \"zou_he_velocity\", velocity = [0.05, 0] }\n[refinement]\nfinest = 1\nlevel = \"2 - y / 8\"",
        "left = { rule = \"moving_wall\", velocity = [0.05, 0] }\n[refinement]\nfinest = 1\nlevel = \"2 - y / 8\"",
    ),
    long(
        diag::UNSTABLE_ENDS,
        "Populations that cross a refinement interface do not come back as they would from cells of their own level, nor do those that leave \
         through an open face. A collision \
         whose rates are far apart may amplify what is lost there, in proportion to the velocity: inside a uniform grid this cancels, \
         at the interface or the face it does not. The growth is that of the linearised collision at the reference velocity of the case, on \
         level 0, in cells of which the ends are open. Bring the rates closer to each other (with the viscosity given, the smaller of \
         them up): the shipped TRT methods have a variant whose name ends in `_bounded`, and a method of your own can take the rate of \
         its odd moments from `bounded_odd` of the module `rates`. Or lower the velocity in cells per step, or take smaller cells: the viscosity in cells and steps grows with both. \
         `docs/couplings.md` has the bound for two rates and a table of the shipped methods.",
        "spec = \"d2q9_trt\"\n[fluid]\nomega = 1.98\n[params]\nmagic = 0.25\n[refinement]\nfinest = 1",
        "spec = \"d2q9_trt_bounded\"\n[fluid]\nomega = 1.98\n[params]\nmagic = 0.25\n[refinement]\nfinest = 1",
    ),
    long(
        diag::WALL_DENSITY,
        "Walls that move (`moving_wall`, `interpolated_moving_wall`) give each link the momentum of a fluid of density 1, as Ladd's do, and \
         `wall_function` the stress of such a fluid: each link then needs what it has sent alone, and mass is conserved. In a flow whose mean \
         density is another, they act as if they moved at their velocity over that density. In lattice units the density is only a scale: \
         start at 1. In SI, `[units] density` is the one that stands for 1. The same is said where the density drifts away from 1 in a run.",
        "[faces]\ntop = { rule = \"moving_wall\", velocity = [0.1, 0] }\n[start]\ndensity = 1.06",
        "[faces]\ntop = { rule = \"moving_wall\", velocity = [0.1, 0] }\n[start]\ndensity = 1",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_long_form_in_its_order() {
        let rows: Vec<&str> = diag::CODES.iter().map(|code| code.id).collect();
        let long: Vec<&str> = LONG.iter().map(|long| long.code.id).collect();
        assert_eq!(rows, long);
    }
}
