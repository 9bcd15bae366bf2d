//! What the templates print: finished strings and their repetition, no decisions left.

use serde::Serialize;

use super::target::Dialect;
use super::text::Comment;

/// One file of kernels. Fields that hold lists are printed line by line.
#[derive(Debug, Serialize)]
pub struct View {
    /// The words of the target.
    #[serde(flatten)]
    pub dialect: Dialect,
    /// The comment that opens the file, a line each, without `//`.
    pub banner: Vec<Comment>,
    /// `float` or `double`.
    pub real: String,
    /// CUDA: whether a kernel says how many of its thread blocks a processor shall hold.
    pub resident: bool,
    /// Whether the collision computes values again.
    pub again: bool,
    /// What a population is stored as.
    pub stored: String,
    /// Whether that is a number of 16 bits.
    pub half: bool,
    /// What it is multiplied with then.
    pub half_scale: String,
    /// The power of two that it is.
    pub half_exponent: u32,
    /// Number of directions.
    pub q: usize,
    /// The constant that says how many values are stored of a cell: `Q` or `K`.
    pub values: &'static str,
    /// How many there are.
    pub value_count: usize,
    /// Moments that are stored in the place of populations.
    pub moments: Option<Moments>,
    /// What cells show to those around them.
    pub around: Option<Neighbours>,
    /// The constant that says how many values a collision reads: `Q`, or `INPUTS`.
    pub inputs: &'static str,
    /// Cells of a block along x.
    pub bx: u32,
    /// Along y.
    pub by: u32,
    /// Along z.
    pub bz: u32,
    /// Number of axes.
    pub dim: usize,
    /// Whether the cells of a block are found by their numbers.
    pub numbered: bool,
    /// Velocity of each direction, in lines.
    pub velocities: Vec<String>,
    /// Direction of each velocity, by `(cx+1) + 3 (cy+1) + 9 (cz+1)`; -1 where there is none.
    pub numbers: String,
    /// Neighbours of a block, itself included.
    pub near: usize,
    /// Position of the block itself among its neighbours.
    pub middle: usize,
    /// Whether there is a third axis.
    pub deep: bool,
    /// Components of all macroscopic fields.
    pub fields: usize,
    /// Rows along x that the host gathers at a time.
    pub rows: u32,
    /// Host: whether a row is whole cache lines, which are collided where they lie.
    pub lines: bool,
    /// Values from the populations of a direction in a block to those of the next.
    pub pitch_len: usize,
    /// What the kernel `macroscopic` does with the level of the blocks.
    pub level: String,
    /// Populations from fields.
    pub init: Kernel,
    /// Kernels that gather what arrives in cells.
    pub gathers: Vec<Gather>,
    /// Rules of walls, if the spec has some.
    pub walls: Option<Walls>,
    /// Blocks at refinement interfaces, if kernels for them are wanted.
    pub interface: Option<Interface>,
    /// What enters blocks from other levels, if the coupling is one of packets.
    pub inbox: Option<Inbox>,
    /// What is different about refinement interfaces, if the coupling is one of ghosts.
    pub ghosts: Option<Ghosts>,
    /// Blocks with solids in them, if kernels for them are wanted.
    pub solids: Option<Solids>,
    /// The opposite of each direction.
    pub opposites: String,
    /// What each population is stored without.
    pub rests: String,
    /// What cells have whose level changes, if there are kernels for refinement interfaces.
    pub transfer: Option<Transfer>,
    /// The kernels that move data when a forest changes, likewise.
    pub carry: Option<Carry>,
    /// Fields of blocks.
    pub macroscopic: Kernel,
    /// What sums up a flow.
    pub reduce: Reduce,
    /// Plain states.
    pub collide: Kernel,
    /// The host kernels again, their arguments as read through an array of pointers.
    pub packed: Vec<Packed>,
    /// The struct of the method's parameters, if it has any.
    pub params: Option<Params>,
    /// Parameters of the method, with a leading comma where there are any: `, const float omega`.
    pub param_decls: String,
    /// The same as they are passed on: `, omega`.
    pub param_names: String,
    /// Upwind coordinates along each axis that a thread needs.
    pub upwind: Vec<String>,
    /// CUDA: the same for a thread that takes two cells of a row, if interior blocks are worked on so.
    pub pairs: Option<Vec<String>>,
    /// Each direction's way through the block and its neighbours.
    pub pulls: Vec<Pull>,
}

/// Moments that are stored in the place of populations.
#[derive(Debug, Serialize)]
pub struct Moments {
    /// Their names.
    pub names: String,
    /// `m[0] = f[0] + f[1];` for each.
    pub sums: Vec<String>,
    /// Populations after a collision from moments after it.
    pub populations: Formulas,
    /// The same of each alone.
    pub each: Vec<Formulas>,
    /// CUDA: moments of 16 bits that lie side by side; none where each lies apart.
    pub groups: Vec<Group>,
    /// How many they are: `8, 2`.
    pub widths: String,
    /// Whether two moments of 16 bits are rounded into a word.
    pub paired: bool,
    /// Moments of 16 bits: the digits of each.
    pub digits: Vec<Digits>,
    /// Digits that some lend others.
    pub lent: Vec<Lent>,
    /// CUDA: populations that stay where they are, and what is added to the moments for them.
    pub rest: Vec<Value>,
    /// CUDA: pairs of opposite directions.
    pub arrivals: Vec<Arrival>,
    /// CUDA: how a cell of a block gives its populations to others of the block, a statement each.
    pub own: Vec<String>,
    /// CUDA: how cells around it do.
    pub around: Vec<Around>,
    /// Cells of a block with the layer around it; along x, and along y.
    pub padded: u32,
    pub px: u32,
    pub py: u32,
    /// Codes of the cells around a block.
    pub halo: Vec<String>,
}

/// Binary digits of a moment that is stored in 16 bits.
#[derive(Debug, Serialize)]
pub struct Digits {
    /// How many of 24 are left out.
    pub left: u32,
    /// How many of the last it lends.
    pub lends: u32,
    /// The bits that it keeps then.
    pub kept: String,
}

/// Digits that a moment lends another.
#[derive(Debug, Serialize)]
pub struct Lent {
    /// The one that has them more.
    pub to: usize,
    /// The one that has them less.
    pub from: usize,
    /// Ones, as many as they are.
    pub mask: u32,
    /// Where they are among those of a number of 32 bits.
    pub place: u32,
    /// CUDA: 16 where the one that has them less lies in the upper half of its word.
    pub half: u32,
}

/// CUDA: moments of a cell that lie side by side.
#[derive(Debug, Serialize)]
pub struct Group {
    /// The first.
    pub first: usize,
    /// The one behind the last.
    pub end: usize,
    /// How many they are.
    pub width: usize,
    /// The type in which they are loaded at once.
    pub word: &'static str,
    /// Its parts, two moments each.
    pub words: Vec<Word>,
}

/// CUDA: 32 bits of what is loaded at once.
#[derive(Debug, Serialize)]
pub struct Word {
    /// Which: `.x`; empty where there is one.
    pub part: &'static str,
    /// The first of its two moments.
    pub first: usize,
}

/// CUDA: a block from which populations enter the one at hand.
#[derive(Debug, Serialize)]
pub struct Around {
    /// Its number among the neighbours.
    pub entry: i32,
    /// How its cells give them, a statement each.
    pub gives: Vec<String>,
}

/// CUDA: a pair of opposite directions.
#[derive(Debug, Serialize)]
pub struct Arrival {
    /// The first direction.
    pub at: usize,
    /// The other.
    pub other: usize,
    /// Where what arrives of the first begins in memory that threads share.
    pub first: usize,
    /// Where that of the other does.
    pub second: usize,
    /// Whether what they differ by has a part in a moment.
    pub has_odd: bool,
    /// What is added to the moments for what arrives.
    pub added: Vec<String>,
}

/// The struct of a method's parameters.
#[derive(Debug, Serialize)]
pub struct Params {
    /// Macro that says that it is declared: a header and a source that are compiled together both declare it.
    pub guard: String,
    /// Its name.
    pub name: String,
    /// Its members, a line each.
    pub members: Vec<String>,
}

/// One kernel.
#[derive(Debug, Serialize)]
pub struct Kernel {
    /// What is around its text.
    #[serde(flatten)]
    pub head: Head,
    /// Its arithmetic, if it has some of its own.
    #[serde(flatten)]
    pub formulas: Formulas,
}

/// What the templates put around the text of a kernel.
#[derive(Debug, Serialize)]
pub struct Head {
    /// Symbol.
    pub symbol: String,
    /// What it does, in lines.
    pub doc: Vec<&'static str>,
    /// Declarations of its arguments.
    pub args: Vec<String>,
    /// Statements that take the parameters which it reads out of their struct.
    pub unpack: Vec<String>,
    /// CUDA: threads of a thread block.
    pub threads: u32,
    /// CUDA: how many of its thread blocks a processor shall hold at the same time, if that is said.
    pub resident: Option<u32>,
    /// How it comes from item to item.
    #[serde(flatten)]
    pub work: Work,
}

/// What is around that which a kernel does for an item.
#[derive(Debug, Default, Serialize)]
pub struct Work {
    /// Statements before it, in lines.
    pub begin: Vec<String>,
    /// What ends them.
    pub end: Vec<String>,
    /// Columns by which what stands between is indented.
    pub indent: usize,
    /// Statement that goes on to the next item.
    pub skip: &'static str,
}

/// A host kernel as it is called with an array of pointers.
#[derive(Debug, Serialize)]
pub struct Packed {
    /// Its symbol.
    pub symbol: String,
    /// Its arguments as they are read.
    pub args: Vec<String>,
}

/// Arithmetic.
#[derive(Debug, Default, Serialize)]
pub struct Formulas {
    /// Inputs: name and position.
    pub inputs: Vec<Value>,
    /// Its arithmetic, in lines.
    pub body: Vec<String>,
    /// Outputs: value and position.
    pub outputs: Vec<Value>,
}

/// A value and its position among its kind.
#[derive(Debug, Serialize)]
pub struct Value {
    /// Name or formula.
    pub text: String,
    /// Direction or component.
    pub at: usize,
}

/// A kernel that gathers what arrives in cells.
#[derive(Debug, Serialize)]
pub struct Gather {
    /// Symbol and arguments.
    pub signature: Kernel,
    /// Whether all comes from neighbours.
    pub alone: bool,
    /// Whether nothing streams: what cells have is read where it is stored.
    pub stored: bool,
    /// Whether there may be walls in the place of neighbours.
    pub walls: bool,
    /// Whether something may come from the inbox.
    pub inbox: bool,
    /// Whether something may come off solids.
    pub links: bool,
    /// Whether it stores what neighbours read, and does not collide.
    pub exposes: bool,
    /// Whether rules of nodes replace some of what is gathered.
    pub nodes: bool,
    /// Whether the target has a form for the whole of it.
    pub fast: bool,
    /// C: name of the function that gathers a direction.
    pub gather: &'static str,
    /// C: whether it is the first that needs that function.
    pub defines: bool,
}

/// Rules of walls.
#[derive(Debug, Serialize)]
pub struct Walls {
    /// The rules of links in the order of their codes.
    pub rules: Vec<Rule>,
    /// How a wall's parameters are found.
    pub values: String,
    /// Whether the wall with the rule `rule` is a mirror, as a condition; empty if there are no such rules.
    pub mirrors: String,
    /// The rules of nodes in the order of their codes.
    pub nodes: Vec<NodeRule>,
    /// Whether there are mirrors or rules of nodes, which need the velocities.
    pub tables: bool,
    /// Whether some rule of nodes reads what has left the cell.
    pub own: bool,
    /// Whether some rule of nodes reads cells along the inward normal.
    pub inside: bool,
    /// Whether a block has so few cells along some axis that this one may be in the next block, or both ends at one cell.
    pub thin: bool,
    /// Values that a wall has room for.
    pub stride: u32,
}

/// A boundary rule of nodes.
#[derive(Debug, Serialize)]
pub struct NodeRule {
    /// Its number in `wall_rules`.
    pub code: i32,
    /// What it is, in lines.
    pub doc: Vec<Comment>,
    /// Its parameters in the frame of the walls.
    pub values: Vec<String>,
    /// For one wall, two, and so on.
    pub forms: Vec<NodeForm>,
}

/// What has arrived in a cell along the inward normal.
#[derive(Debug, Serialize)]
pub struct Inwards {
    /// What the populations are called there.
    pub name: &'static str,
    /// How many cells away.
    pub cells: u32,
    /// The same along each axis: `3 * normal[0], 3 * normal[1]`.
    pub steps: String,
}

/// A rule of nodes for some walls that meet.
#[derive(Debug, Serialize)]
pub struct NodeForm {
    /// Name of its function.
    pub function: String,
    /// How many walls meet.
    pub walls: usize,
    /// What it reads of cells along the inward normal.
    pub reads: Vec<Inwards>,
    /// Declarations of what it reads.
    pub decl: String,
    /// What is passed there.
    pub pass: String,
    /// Inputs as statements.
    pub inputs: Vec<String>,
    /// Its arithmetic, in lines.
    pub body: Vec<String>,
    /// Outputs: value and direction.
    pub outputs: Vec<Value>,
}

/// A boundary rule of links.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// Name of its function.
    pub function: String,
    /// Its number in `wall_rules`.
    pub code: i32,
    /// What it is, in lines.
    pub doc: Vec<Comment>,
    /// Parameter list beyond the direction and the cell's own populations: `, const float *value` or nothing.
    pub decl: String,
    /// What is passed there.
    pub pass: String,
    /// Its parameters as statements.
    pub values: Vec<String>,
    /// The population that each direction brings back.
    pub links: Vec<Link>,
}

/// What one direction brings back from a wall.
#[derive(Debug, Serialize)]
pub struct Link {
    /// Direction.
    pub at: usize,
    /// Statements, of which the last returns the value.
    pub lines: Vec<String>,
    /// Whether the statements declare something, and so need braces.
    pub block: bool,
}

/// What cells show to those around them.
#[derive(Debug, Serialize)]
pub struct Neighbours {
    /// How many values a collision reads of its own cell and of those around.
    pub count: usize,
    /// What a cell shows, from its populations before a collision, and from those that are stored after it.
    pub expose: Exposed,
    pub expose_stored: Exposed,
    /// Of each value that is seen, where cells have it; then the direction that comes from there.
    pub shown: String,
    pub from: String,
    /// What walls have beyond them, and how their parameters are found.
    pub beyond: Vec<Beyond>,
    pub values: String,
    /// How many values a cell shows, and where it has the first.
    pub values_shown: usize,
    pub first: usize,
    /// The directions that something is seen from, and the opposite of each.
    pub ways: Vec<Sight>,
    pub from_ways: String,
    /// How many cells of a block those before each enter, and all of them.
    pub ends: String,
}

/// What a cell shows, from its populations.
#[derive(Debug, Serialize)]
pub struct Exposed {
    /// Its values, with their places in memory.
    #[serde(flatten)]
    pub formulas: Formulas,
    /// Statements that keep compilers from complaining of parameters that it does not read.
    pub idle: Vec<String>,
}

/// A direction that something is seen from.
#[derive(Debug, Serialize)]
pub struct Sight {
    /// The number of what is seen of each shown value, -1 where that is not, as a row of a table.
    pub which: String,
    /// GPU: the slot of the neighbour, and the cell there.
    pub near: String,
    pub cell: String,
    /// What is seen.
    pub values: Vec<SeenValue>,
}

/// A value that is seen along a direction.
#[derive(Debug, Serialize)]
pub struct SeenValue {
    /// Its position behind all values of a cell.
    pub at: usize,
    /// Where cells have it, and its number among the values that they show.
    pub row: usize,
    pub shown: usize,
}

/// What a wall has beyond it of a value that is seen.
#[derive(Debug, Serialize)]
pub struct Beyond {
    /// The rule of the wall.
    pub code: i32,
    /// The value, as cells have it.
    pub shown: usize,
    /// Statements, of which the last returns it from `image`, what the image of the place has.
    pub lines: Vec<String>,
}

/// Where a direction pulls from.
#[derive(Debug, Serialize)]
pub struct Pull {
    /// Direction, or the position of a value that is seen behind all values of a cell.
    pub at: usize,
    /// Where cells have it.
    pub row: usize,
    /// Its number among the values that are seen, if it is one.
    pub seen: Option<usize>,
    /// Whether it is a population, or a state that the spec names.
    pub own: bool,
    /// Its velocity, `1, 0, -1`.
    pub velocity: String,
    /// Whether it is the rest direction.
    pub rest: bool,
    /// CUDA: position of the neighbour that holds the upwind cell.
    pub near: String,
    /// CUDA: the same as an index among the neighbours.
    pub entry: String,
    /// CUDA: index of the upwind cell there.
    pub cell: String,
    /// Velocity along x.
    pub along: i32,
    /// CUDA: position of the neighbour that holds the cell which is upwind along the other axes.
    pub row_near: String,
    /// CUDA: index of that cell there.
    pub row_cell: String,
}

/// Kernels and rules of blocks with solids in them.
#[derive(Debug, Serialize)]
pub struct Solids {
    /// The force.
    pub force: Kernel,
    /// Cells that solids have left.
    pub refill: Kernel,
    /// Functions of rules that differ from those at faces.
    pub own: Vec<Rule>,
    /// All rules.
    pub rules: Vec<LinkRule>,
    /// Whether some rule reads what arrives along the opposite direction.
    pub against: bool,
    /// Whether some rule reads the distance of the surface.
    pub distance: bool,
    /// How many directions carry the momentum of the flow.
    pub carriers: u32,
}

/// Kernels and formulas of a coupling of packets.
#[derive(Debug, Serialize)]
pub struct Interface {
    /// Name of the coupling.
    pub name: Comment,
    /// Whether the method has boundary rules.
    pub walls: bool,
    /// Rules of links that read the cell alone.
    pub links: Vec<LinkRule>,
    /// Whether the face with the rule `rule` is a mirror and nothing else, as a condition; empty if there are no such rules.
    pub mirrors: String,
    /// Fine cells in a coarse one.
    pub children: usize,
    /// One over that.
    pub share: String,
    /// Whether packets depend on how they travel.
    pub kinds: bool,
    /// Whether some packet carries something else than its cell's population.
    pub switches: bool,
    /// Those that do.
    pub packets: Vec<Packet>,
    /// What packets of several directions are made of, if there is such.
    pub shared: Option<Shared>,
    /// Derivatives that packets read.
    pub slopes: Vec<Slope>,
    /// Parameters of the method that packets read, with a leading comma.
    pub decl: String,
    /// The same as they are passed on.
    pub pass: String,
}

/// Kernels that fill the inbox, and where things are in it.
#[derive(Debug, Serialize)]
pub struct Inbox {
    /// Values of a row.
    pub length: usize,
    /// For each direction, where in a row is what it brings to the cell (x, y, z).
    pub places: Vec<Value>,
    /// For each direction, bits of the coarse cells in which its packets may end.
    pub ahead: String,
    /// For each direction, bits of the coarse cells from which something may arrive.
    pub behind: String,
    /// Directions that move.
    pub ways: Vec<Way>,
    /// What cells see across interfaces, if they look around.
    pub across: Option<Kernel>,
    /// From which neighbours blocks read the inbox.
    pub masks: Kernel,
    /// Coarse cells beside refined ones.
    pub cells: Kernel,
    /// What they send.
    pub to_fine: Kernel,
    /// What they get.
    pub to_coarse: Kernel,
    /// What enters fine blocks that touch walls, if the method has rules.
    pub to_fine_walls: Option<Kernel>,
    /// What enters coarse blocks that touch walls.
    pub to_coarse_walls: Option<Kernel>,
}

/// How the packets of a direction travel around a coarse cell. Cells around it have the numbers of a block's neighbours.
#[derive(Debug, Serialize)]
pub struct Way {
    /// Direction.
    pub at: usize,
    /// Its velocity.
    pub velocity: String,
    /// The reverse.
    pub backward: String,
    /// The coarse cell where packets are after two steps.
    pub far: usize,
    /// The coarse cell where those are from that arrive in this one.
    pub back: usize,
    /// Statements that compute what packets carry.
    pub lines: Vec<String>,
    /// The packets.
    pub packets: Vec<WayPacket>,
}

/// A packet.
#[derive(Debug, Serialize)]
pub struct WayPacket {
    /// The child of the cell that it starts from, and ends at after two steps.
    pub child: usize,
    /// What it carries.
    pub value: String,
    /// Where it is after one step, if in another coarse cell.
    pub near: Option<NearCell>,
    /// Where it was one step before, if in another coarse cell.
    pub behind: Option<NearCell>,
}

/// A child of a coarse cell near another one.
#[derive(Debug, Serialize)]
pub struct NearCell {
    /// Number of the cell.
    pub entry: usize,
    /// Its offset.
    pub offset: String,
    /// The child.
    pub child: usize,
}

/// Kernels that sum up a flow.
#[derive(Debug, Serialize)]
pub struct Reduce {
    /// Values that are not finite, and changes of velocity.
    pub look: Kernel,
    /// Mass and momentum.
    pub sums: Kernel,
    /// Number of sets of populations.
    pub sets: usize,
    /// Components of the fields of the method, which a flow must keep finite.
    pub own: usize,
    /// How many directions have a set: those of states have none.
    pub summed: String,
    /// The set that each direction belongs to.
    pub set_of: String,
    /// Type of the fields.
    pub real: &'static str,
    /// The first component of the velocity, if the fields have one.
    pub velocity: Option<usize>,
    /// The component that is the density, if there is one.
    pub density: Option<usize>,
    /// Mass, energy, enstrophy and the largest speed, if there is a velocity.
    pub means: Option<Kernel>,
}

/// Kernels and formulas of a coupling of ghosts.
#[derive(Debug, Serialize)]
pub struct Ghosts {
    /// The step of blocks at refinement interfaces: away from walls, then beside walls if the method has rules.
    pub kernels: Vec<GhostKernel>,
    /// Layers of ghosts, in fine cells.
    pub layers: u32,
    /// The same in coarse cells.
    pub reach: u32,
    /// Means over cells that refine one.
    pub restrict: Kernel,
    /// What is to be interpolated.
    pub send: Kernel,
    /// Ghosts.
    pub prolong: Kernel,
    /// What refined blocks hold, from finer ones.
    pub hold: Kernel,
    /// The same while they are being refined.
    pub keep: Kernel,
    /// From populations of a coarse cell to what is interpolated.
    pub fine: Formulas,
    /// From populations of a fine cell to what is averaged.
    pub coarse: Formulas,
    /// Statements that keep compilers from complaining of parameters that the first does not use.
    pub unused_fine: Vec<String>,
    /// The same for the second.
    pub unused_coarse: Vec<String>,
    /// Name of the stencil.
    pub stencil: Comment,
    /// Its sets of points in order of preference.
    pub sets: Vec<PointSet>,
    /// Points of the largest of them.
    pub most: usize,
    /// Most samples of a ghost.
    pub samples: usize,
    /// Passes, x first.
    pub axes: Vec<Pass>,
    /// Name of the last of them.
    pub top: String,
}

/// A kernel that steps blocks at refinement interfaces.
#[derive(Debug, Serialize)]
pub struct GhostKernel {
    /// Symbol and arguments.
    pub signature: Kernel,
    /// Whether it is that beside walls.
    pub walls: bool,
}

/// Points of a stencil and their weights.
#[derive(Debug, Serialize)]
pub struct PointSet {
    /// How many there are.
    pub count: usize,
    /// Where they are, in cells towards the child.
    pub points: String,
    /// Their weights.
    pub weights: String,
}

/// A pass of a stencil along an axis.
#[derive(Debug, Serialize)]
pub struct Pass {
    /// The axis.
    pub at: usize,
    /// One more.
    pub number: usize,
    /// Name of the function for what its samples are.
    pub below: String,
}

/// Kernels that move data when a forest changes.
#[derive(Debug, Serialize)]
pub struct Carry {
    /// From children to their parent.
    pub average: Kernel,
    /// From a parent to its children.
    pub fill: Kernel,
    /// The same for fields.
    pub average_fields: Kernel,
    /// The same for fields.
    pub fill_fields: Kernel,
    /// From slot to slot.
    pub relocate: Kernel,
    /// The same for fields.
    pub relocate_fields: Kernel,
}

/// A boundary rule as a refinement interface calls it.
#[derive(Debug, Serialize)]
pub struct LinkRule {
    /// Its number in `wall_rules`.
    pub code: i32,
    /// Name of its function.
    pub function: String,
    /// What is passed beyond the direction and the cell's own populations.
    pub pass: String,
}

/// What the packets of several directions are made of.
#[derive(Debug, Serialize)]
pub struct Shared {
    /// How many values.
    pub count: usize,
    /// Statements that compute them by tables.
    pub around: Vec<String>,
    /// Statements that compute them by a walk through the forest.
    pub walk: Vec<String>,
}

/// What the packets of one direction carry.
#[derive(Debug, Serialize)]
pub struct Packet {
    /// Direction.
    pub at: usize,
    /// Statements that compute it.
    pub lines: Vec<String>,
    /// That of each child.
    pub values: Vec<String>,
}

/// What cells have whose level changes.
#[derive(Debug, Serialize)]
pub struct Transfer {
    /// Derivatives that the children of a refined cell depend on.
    pub slopes: Vec<Slope>,
    /// Most points that one of them has.
    pub most: usize,
    /// Statements of what is the same for all children of a refined cell.
    pub shared: Vec<String>,
    /// Statements for one of them.
    pub own: Vec<String>,
    /// What a child is given.
    pub child: Vec<Value>,
    /// Statements that say what the cell has that takes their place.
    pub coarsen: Vec<String>,
    /// What it is given.
    pub parent: Vec<Value>,
}

/// A derivative along an axis.
#[derive(Debug, Serialize)]
pub struct Slope {
    /// What it is.
    pub doc: Comment,
    /// Name of the function that finds samples by tables.
    pub around: String,
    /// Name of the function that walks to them through the forest.
    pub walk: String,
    /// Name of the function that says where they are along an axis.
    pub along: String,
    /// Name of the function of samples found that way.
    pub derivative: String,
    /// Points of all sets, in cells.
    pub points: String,
    /// How many there are.
    pub count: usize,
    /// In order of preference.
    pub sets: Vec<SlopeSet>,
}

/// A derivative from one set of points.
#[derive(Debug, Serialize)]
pub struct SlopeSet {
    /// Whether all points have values.
    pub condition: String,
    /// Statements, of which the last returns it.
    pub lines: Vec<String>,
}
