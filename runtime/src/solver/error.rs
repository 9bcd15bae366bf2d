//! Errors that prevent a simulation from being set up or continued.

use miette::Diagnostic;
use thiserror::Error;

use crate::device::DeviceError;
use crate::geometry::solid::Astray;
use crate::kernels::KernelError;
use crate::mesh::forest::ForestError;

/// Why a simulation cannot be set up or continued.
#[derive(Debug, Error, Diagnostic)]
pub enum StepError {
    /// The method has no such boundary condition for solids.
    #[error("the method has no boundary condition `{rule}` for solids")]
    #[diagnostic(code(L0501), help("it has: {known}"))]
    SolidRule {
        /// The requested rule.
        rule: String,
        /// The available rules.
        known: String,
    },

    /// Kernels become different machine code on these devices, so results would depend on the number of subdomains.
    #[error("parts of a flow on `{first}` and on `{other}` would not have the bits of one")]
    #[diagnostic(code(C0136), help("take GPUs of one architecture, by their numbers: `devices = [0, 1]`"))]
    UnlikeDevices {
        /// The first device.
        first: String,
        /// A device that differs from it.
        other: String,
    },

    /// One set of populations does not suffice.
    #[error("one set of populations does not suffice with {what}")]
    #[diagnostic(
        code(L0525),
        help(
            "take two sets, `buffers = 2`; or `buffers = \"auto\"`, which takes one where that is possible and two do not fit"
        )
    )]
    OneSet {
        /// What does not go with it.
        what: String,
    },

    /// More subdomains than blocks.
    #[error("{subdomains} parts need as many blocks, and the grid has {blocks}")]
    #[diagnostic(code(C0136), help("take fewer parts, or smaller blocks"))]
    ManySubdomains {
        /// Requested number of subdomains.
        subdomains: usize,
        /// Number of blocks.
        blocks: usize,
    },

    /// Parameters vary along a face whose rule takes the same values everywhere on the face.
    #[error("{face}: the parameters of `{rule}` cannot vary along a face")]
    #[diagnostic(
        code(L0506),
        help(
            "only those of link-wise boundary conditions can, such as \
                                                        `moving_wall`"
        )
    )]
    VaryingRule {
        /// Name of the face.
        face: &'static str,
        /// The rule.
        rule: String,
    },

    /// A parameter of a wall depends on time, and its formula is missing.
    #[error("`{name}` of `{rule}` depends on time, and there is no formula {number}")]
    #[diagnostic(code(L0508), help("give the grid the kernels of the formulas: `GridSpec::prescribed`"))]
    NoFormula {
        /// The rule.
        rule: String,
        /// The parameter.
        name: String,
        /// The number of the formula.
        number: usize,
    },

    /// A recording cannot be read.
    #[error("the recording `{name}` cannot be read: {why}")]
    #[diagnostic(
        code(L0524),
        help("the file has changed since the run began, or is not what `[[recordings]]` has written")
    )]
    Recording {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },

    /// The rule of a moving solid has no velocity parameter, or has parameters that vary over the surface; or the rule of a rotating solid
    /// has parameters that depend on time.
    #[error("`{rule}` cannot be the boundary condition of a solid that moves")]
    #[diagnostic(
        code(L0507),
        help(
            "it takes a rule with a parameter `velocity`, such as `interpolated_moving_wall`, and other parameters that are the same all over \
             its surface, and, where it turns, at all times"
        )
    )]
    StillRule {
        /// The rule.
        rule: String,
    },

    /// A surface has a law of the wall and no rule that slides or the other way round, or moves.
    #[error(
        "`{rule}` of a solid {}",
        match (law, slides) {
            (true, false) => "does not slide: a law of the wall has no effect on it",
            (false, _) => "slides: it needs a law of the wall",
            (true, true) => "slides, and a solid moves: a law of the wall does not go with solids that move",
        }
    )]
    #[diagnostic(code(L0522), help("laws of the wall go with `sliding_wall`, and solids that are at rest"))]
    Layer {
        /// The rule.
        rule: String,
        /// Whether it has a law.
        law: bool,
        /// Whether its rule slides.
        slides: bool,
    },

    /// The velocity of a surface under a law of the wall is for the most part across it.
    #[error("the velocity of the surface of solid {solid} leads through it: {along:.3} of it is along the surface")]
    #[diagnostic(
        code(L0527),
        help(
            "`layer.velocity` is that of a surface along itself, as of a belt, or of a wheel that turns in its place"
        )
    )]
    LayerThrough {
        /// The number of the solid, from 1.
        solid: usize,
        /// The part along the surface: over all cells beside it, the root of its square over that of the whole.
        along: f64,
    },

    /// The motion of a solid on a refined grid needs more than [`MOST_PLACES`](crate::geometry::solid::MOST_PLACES) positions.
    #[error("a solid that moves comes to more than {} places of a refined grid", crate::geometry::solid::MOST_PLACES)]
    #[diagnostic(code(L0509), help("take a grid of one level, or a coarser level at the surface of the solid"))]
    LongWay,

    /// A body that the fluid moves has left the domain.
    #[error("solid {solid}, which the fluid moves, has left the domain: at step {step} its centre is outside")]
    #[diagnostic(
        code(L0518),
        help(
            "end the run before (`stop.steps`), hold the axis (`hold`), or make the faces periodic; walls push back spheres, and in two \
             dimensions circles, but no other shapes"
        )
    )]
    BodyLeft {
        /// The number of the solid, from 1.
        solid: usize,
        /// The step.
        step: u64,
    },

    /// A body that the fluid moves is as fast as sound.
    #[error("solid {solid}, which the fluid moves, reaches Mach {mach:.2} at step {step}")]
    #[diagnostic(
        code(L0519),
        help(
            "take shorter time steps: a smaller `fluid.velocity`, or in SI units a smaller `units.step`; a body that is much lighter than \
             the fluid, or a stiff spring, needs more cells across the body"
        )
    )]
    BodyFast {
        /// The number of the solid, from 1.
        solid: usize,
        /// The step.
        step: u64,
        /// Its speed at its fastest point over that of sound.
        mach: f64,
    },

    /// A solid that the fluid does not move is to be changed.
    #[error("the fluid does not move solid {solid}: it cannot be set or pushed")]
    #[diagnostic(code(L0520), help("give it `motion = {{ free = true, density = 1 }}` in the case"))]
    NotMoved {
        /// The number of the solid, from 1.
        solid: usize,
    },

    /// A body that does not turn is to be turned.
    #[error("solid {solid} does not turn: it has no angular velocity to set, and a torque has no effect")]
    #[diagnostic(code(L0521), help("leave `rotation` out of its `hold` in the case"))]
    NotTurned {
        /// The number of the solid, from 1.
        solid: usize,
    },

    /// A moving solid reaches a place where the grid cannot be refined to the level that its surface needs.
    #[error(
        "a solid moves to the block of level {level} at ({}, {}, {}), in blocks of its level, which cannot be refined",
        place[0], place[1], place[2]
    )]
    #[diagnostic(
        code(L0510),
        help(
            "pinned blocks, and those at faces along which values vary, stay as they are: keep them away from its way; else there is no \
             room for more blocks: raise `refinement.memory`"
        )
    )]
    CoarseWay {
        /// Level of the block.
        level: usize,
        /// Its position, in blocks of its level.
        place: [usize; 3],
    },

    /// A wet-node boundary condition with too few cells between two opposite faces.
    #[error("`{rule}` at {face} needs three cells along its axis, and the domain has {cells}")]
    #[diagnostic(code(L0511), help("take more cells, or a link-wise boundary condition such as `bounce_back`"))]
    Thin {
        /// Name of the face.
        face: &'static str,
        /// Name of the rule.
        rule: String,
        /// Cells along the axis.
        cells: usize,
    },
    /// A rule that works on one level only, on a grid of several levels.
    #[error("{face}: `{rule}` works on one level only, and the grid has several")]
    #[diagnostic(
        code(L0512),
        help(
            "a boundary condition on several levels is a symmetry plane, `f[i] <- mirrored[i]`, and nothing else, or \
             does not read `mirrored`; and its parameters are the same in the cells and steps of all levels, as \
             velocities are"
        )
    )]
    OneLevelRule {
        /// Name of the face.
        face: &'static str,
        /// The rule.
        rule: String,
    },

    /// The bundle has no kernels for solids or for values that vary along a face.
    #[error("the bundle of `{spec}` has no kernels for solids, or for values that vary along a face")]
    #[diagnostic(code(L0513), help("generate it with `--solids`"))]
    NoSolids {
        /// The method.
        spec: String,
    },

    /// Links are cut where this is not supported.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Solid(#[from] crate::geometry::solid::SolidError),

    /// The method has no such boundary condition.
    #[error("{face}: the method has no boundary condition `{rule}`")]
    #[diagnostic(code(L0501), help("it has: {known}, and `periodic`"))]
    Rule {
        /// Name of the face.
        face: &'static str,
        /// The requested rule.
        rule: String,
        /// The available rules.
        known: String,
    },

    /// A given parameter does not exist.
    #[error("{owner} has no parameter `{name}`")]
    #[diagnostic(code(L0502), help("it has: {known}"))]
    SurplusParam {
        /// The method, or the face and its rule.
        owner: String,
        /// The parameter.
        name: String,
        /// The available parameters.
        known: String,
    },

    /// A required parameter is missing.
    #[error("{owner} needs the parameter `{name}`{}", if .doc.is_empty() { String::new() } else { format!(" ({doc})") })]
    #[diagnostic(code(L0503), help("its parameters are: {known}"))]
    MissingParam {
        /// The method, or the face and its rule.
        owner: String,
        /// The parameter.
        name: String,
        /// Its description.
        doc: String,
        /// The available parameters.
        known: String,
    },

    /// A parameter has the wrong number of components.
    #[error("`{name}` of {owner} has {expected} component(s), given: {found}")]
    #[diagnostic(code(L0504))]
    Components {
        /// The method, or the face and its rule.
        owner: String,
        /// The parameter.
        name: String,
        /// Number of components that it has.
        expected: usize,
        /// Number of components given.
        found: usize,
    },

    /// A parameter is outside its range or not finite.
    #[error("`{name}` of {owner} is {value}")]
    #[diagnostic(code(L0505), help("it must be {allowed}"))]
    Range {
        /// The method, or the face and its rule.
        owner: String,
        /// The parameter.
        name: String,
        /// The given value.
        value: f64,
        /// The allowed values.
        allowed: String,
    },

    /// The grid has several levels, and the bundle has no kernels for refinement interfaces.
    #[error("the kernels of `{spec}` are for one level, the grid has several")]
    #[diagnostic(code(L0514), help("generate the bundle with a coupling: `--coupling volumetric_shifted`"))]
    NoCoupling {
        /// The method.
        spec: String,
    },

    /// Steps of the flow have no adjoint.
    #[error("there is no adjoint of this flow: {why}")]
    #[diagnostic(code(L0523), help("docs/adjoint.md lists what gradients go with"))]
    NoAdjoint {
        /// Why.
        why: String,
    },

    /// States of a flow have no room on disk, or cannot be read again.
    #[error("a state of the flow cannot be {what} on disk: {error}")]
    #[diagnostic(
        code(L0526),
        help(
            "`gradient.disk` is the room that states may take there: free so much, or take less and more `gradient.states` in memory"
        )
    )]
    Shelf {
        /// What cannot be done.
        what: &'static str,
        /// What the system says.
        error: String,
    },

    /// A snapshot has another size than the grid.
    #[error("the snapshot has {found:?} cells, the grid {expected:?}")]
    #[diagnostic(code(L0515))]
    SnapshotSize {
        /// Size of the snapshot.
        found: [usize; 3],
        /// Size of the grid.
        expected: [usize; 3],
    },

    /// A snapshot lacks a field.
    #[error("the snapshot has no component `{name}`")]
    #[diagnostic(code(L0516), help("the method starts from: {known}"))]
    SnapshotComponent {
        /// The component.
        name: String,
        /// The required components.
        known: String,
    },

    /// A grid without room for other blocks cannot be adapted.
    #[error("the grid of this simulation cannot change: there is no room for other blocks")]
    #[diagnostic(code(L0517), help("make the simulation with `Adaptivity::during`"))]
    StaysAsItIs,

    /// The grid is invalid.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Grid(#[from] ForestError),

    /// The bundle cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Kernel(#[from] KernelError),

    /// The device failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
}

impl StepError {
    /// The error of a free body that has left what its flow permits; `sound`: the speed of sound.
    pub(crate) fn astray(astray: Astray, step: u64, sound: f64) -> StepError {
        match astray {
            Astray::Outside { number } => StepError::BodyLeft { solid: number + 1, step },
            Astray::Fast { number, speed } => StepError::BodyFast { solid: number + 1, step, mach: speed / sound },
        }
    }

    /// Adds the level on which a parameter is out of range.
    pub(crate) fn on_level(self, level: usize) -> StepError {
        match self {
            StepError::Range { owner, name, value, allowed } => {
                StepError::Range { owner: format!("{owner} on level {level}"), name, value, allowed }
            }
            other => other,
        }
    }
}
