//! The kernels of a method: what each does and takes, in one table.
//!
//! [`method_kernels!`](crate::method_kernels) hands the table to a macro of the caller's. Here it becomes [`Role`] and the arguments
//! that a manifest must list ([`Role::args`]); the runtime makes a struct of each row, its fields the arguments, to launch the
//! kernel with. To add a kernel is to add a row and what it computes; to add an argument, a line of a row: what does not follow
//! fails to compile, or is refused when a manifest is loaded.
//!
//! The module `args` says how a row is read; `groups` has what several kernels take together, `gather` what those take that gather.
//! Indices are named by what they count (`slot`, `row`, `wall`) or by their extent: `q`, `values` ([`Manifest::values`]), `cells`,
//! `near` (3^dim), `children` (2^dim), `fields` (components of all fields), `members` (of the struct of parameters), `axes`, `sets` (of populations), `moments` (1 + axes), `around`
//! ([`Manifest::around`]), `stride` ([`Manifest::wall_stride`]).

use serde::{Deserialize, Serialize};

use crate::args::{Declared, roles, same_args};
use crate::{Action, Arg, ArgType, Kernel, Layout, Manifest, Sources, soa};

/// The table of a method's kernels, for [`Layout::Blocks`].
#[macro_export]
macro_rules! method_kernels {
    ($with:ident) => {
        $with! {
            /// Populations of the listed blocks from their macroscopic fields.
            Init = "init" {
                ids: list Int [count] "slots to work on",
                first: value Int "the first of the slots that have fields",
                fields: read Real [slot - first][fields][cells] in lattice "macroscopic fields: {fields}",
                dst: write Stored [slot][rows][pitch] in lattice "initial populations",
                params: value Params "parameters of the method",
            }
            /// What cells of the listed blocks, none of which touches a wall, show to those around them: pulled, and stored beside their populations.
            ///
            /// Of a method that reads values of neighbours, before any block of the step collides.
            Expose = "expose" { gathers Expose [neighbours] }
            /// What cells of the listed blocks show to those around them; neighbours may be walls.
            ///
            /// Of a method that reads values of neighbours.
            ExposeWalls = "expose_walls" { gathers Expose [neighbours walls] }
            /// What cells of the listed blocks, which have solids in them, show to those around them.
            ///
            /// Of a method that reads values of neighbours, after those that know no solids.
            ExposeSolid = "expose_solid" { gathers Expose [neighbours walls links] }
            /// What cells of the listed blocks show to those around them; neighbours may be coarser or refined.
            ///
            /// Of a method that reads values of neighbours, with a coupling of packets.
            ExposeInterface = "expose_interface" { gathers Expose [neighbours inbox] }
            /// What cells of the listed blocks show to those around them; neighbours may be coarser or refined, or walls.
            ///
            /// Of a method that reads values of neighbours, with a coupling of packets.
            ExposeInterfaceWalls = "expose_interface_walls" { gathers Expose [neighbours walls inbox] }
            /// What cells of the listed blocks show to those around them, whose links are cut by faces along which values vary; neighbours may be
            /// coarser or refined, or walls.
            ///
            /// Of a method that reads values of neighbours, with a coupling of packets, after those that know no cut links.
            ExposeInterfaceSolid = "expose_interface_solid" { gathers Expose [neighbours walls inbox links] }
            /// What cells of the listed blocks show to finer cells in the first of these cells' two steps: that of their populations as they are
            /// stored.
            ///
            /// Of a method that reads values of neighbours, with a coupling of packets. These values are made of what collisions conserve.
            ExposeStored = "expose_stored" { gathers Expose [] }
            /// What cells of the listed blocks see in cells of other levels, into the inbox.
            ///
            /// Of a method that reads values of neighbours, with a coupling of packets; before any block of the level collides. On a plane through
            /// each coarser cell, and means of finer cells.
            ExposeAcross = "expose_across" {
                ids: list Int [count] "slots to work on",
                tree: group Nodes,
                parents: read Int [node] "node that each node refines, or -1",
                slots: read Int [node] "slot of each node, or -1",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                rows: read Int [slot] "row of the inbox of each slot at an interface, or -1",
                wall_rules: read Int [wall] "rule of each wall: {rules}",
                coarser: read Stored [slot][rows][pitch] in lattice "what cells of the coarser level show",
                own: read Stored [slot][rows][pitch] in lattice "what cells of this level show",
                finer: read Stored [slot][rows][pitch] in lattice
                    "what cells of the finer level have shown in the first of their two steps",
                inbox: write Real [row][ROW] in lattice "what enters blocks from other levels in this step",
            }
            /// Pulls, collides and stores the listed blocks, none of which touches a wall.
            StreamCollide = "stream_collide" { gathers Collide [neighbours] }
            /// Pulls, collides and stores the listed blocks, none of which touches a wall, in one pass: what cells show is computed for those of
            /// the block and those around it.
            ///
            /// Of a method that reads values of neighbours, on GPUs. What these cells show is then stored nowhere but beside their new populations.
            ExposeStreamCollide = "expose_stream_collide" { gathers ExposeCollide [neighbours] }
            /// Pulls, collides and stores the listed blocks; neighbours may be walls.
            StreamCollideWalls = "stream_collide_walls" { gathers Collide [neighbours walls] }
            /// Pulls, collides and stores the listed blocks, of whose neighbours some are coarser or refined.
            ///
            /// Of a coupling of packets: what comes from another level is read from the block's row of the inbox.
            StreamCollideInterface = "stream_collide_interface" { gathers Collide [neighbours inbox] }
            /// Pulls, collides and stores the listed blocks; neighbours may be coarser or refined, or walls.
            ///
            /// Of a coupling of packets.
            StreamCollideInterfaceWalls = "stream_collide_interface_walls" { gathers Collide [neighbours walls inbox] }
            /// Pulls, collides and stores the listed blocks, whose links are cut by faces along which values vary; neighbours may be coarser or
            /// refined, or walls.
            ///
            /// Of a coupling of packets, if the bundle has rules for surfaces of solids.
            StreamCollideInterfaceSolid = "stream_collide_interface_solid" { gathers Collide [neighbours walls inbox links] }
            /// Pulls, collides and stores the listed blocks at refinement interfaces, leaves or refined; what has streamed in is saved.
            ///
            /// Of a coupling of ghosts.
            StreamCollideGhosts = "stream_collide_ghosts" { gathers Collide [neighbours ghosts] }
            /// Pulls, collides and stores the listed blocks at refinement interfaces and walls; what has streamed in is saved.
            ///
            /// Of a coupling of ghosts.
            StreamCollideGhostsWalls = "stream_collide_ghosts_walls" { gathers Collide [neighbours walls ghosts] }
            /// Pulls, collides and stores the listed blocks at refinement interfaces, leaves or refined, whose links are cut by faces along which
            /// values vary; what has streamed in is saved.
            ///
            /// Of a coupling of ghosts, if the bundle has rules for surfaces of solids.
            StreamCollideGhostsSolid = "stream_collide_ghosts_solid" { gathers Collide [neighbours walls ghosts links] }
            /// From which neighbours the listed blocks read the inbox.
            ///
            /// Of a coupling of packets, when the grid has changed.
            InterfaceMasks = "interface_masks" {
                ids: list Int [count] "slots to work on",
                tree: group Nodes,
                rows: read Int [slot] "row of the inbox of each slot at an interface, or -1",
                wall_rules: read Int [wall] "rule of each wall: {rules}",
                masks: write Int [row] "bit p: what comes from the neighbour p is in the inbox",
                counts: write Int [row] "cells of each block beside refined ones",
            }
            /// Cells of the listed blocks beside refined ones, and what is around these blocks.
            ///
            /// Of a coupling of packets, when the grid has changed.
            InterfaceCells = "interface_cells" {
                ids: list Int [count] "slots to work on",
                tree: group Nodes,
                slots: read Int [node] "slot of each node, or -1",
                rows: read Int [slot] "row of the inbox of each slot at an interface, or -1",
                masks: read Int [row] "bit p: what comes from the neighbour p is in the inbox",
                begins: read Int [row] "place in `cells` of the first of each block",
                tables: write Int [row][around] "what is around each block",
                cell_masks: write Int [row][cells] "bit p: the coarse cell at the place p around each cell is refined",
                cells: write Int [place] "cells beside refined ones, row * CELLS + cell",
            }
            /// What the listed coarse cells send into the inboxes of finer blocks, for both of their steps.
            ///
            /// Of a coupling of packets, once a step of the coarse level, before the first of the two steps of the fine one; with what these
            /// cells send among each other past fine cells.
            ToFine = "to_fine" {
                beside: group Beside,
                across: group ToFiner,
                start: value Int "1 if the step of the coarse level is itself the first of two, 0 if not",
                params: value Params "parameters of the method, on the coarse level",
            }
            /// What enters the listed fine blocks, which touch walls, from coarser ones, for both of their steps.
            ///
            /// Of a coupling of packets.
            ToFineWalls = "to_fine_walls" {
                ids: list Int [count] "slots to work on",
                tree: group Nodes,
                parents: read Int [node] "node that each node refines, or -1",
                slots: read Int [node] "slot of each node, or -1",
                rows: read Int [slot] "row of the inbox of each slot at an interface, or -1",
                walls: group Walls,
                mask: group Mask,
                across: group ToFiner,
                params: value Params "parameters of the method, on the coarse level",
            }
            /// What comes out of fine cells into the inbox, for the listed coarse cells.
            ///
            /// Of a coupling of packets, after the first of the two fine steps; in the only set of populations, in two parts before and after it.
            ToCoarse = "to_coarse" {
                beside: group Beside,
                across: group ToCoarser,
            }
            /// What enters the listed coarse blocks, which touch walls, beside finer ones.
            ///
            /// Of a coupling of packets.
            ToCoarseWalls = "to_coarse_walls" {
                ids: list Int [count] "slots to work on",
                tree: group Nodes,
                slots: read Int [node] "slot of each node, or -1",
                rows: read Int [slot] "row of the inbox of each slot at an interface, or -1",
                walls: group Walls,
                mask: group Mask,
                coarse: read Stored [slot][rows][pitch] in lattice "current populations of the coarse level",
                across: group ToCoarser,
                params: value Params "parameters of the method, on the coarse level",
            }
            /// Pulls, collides and stores the listed blocks, which have solids in them; neighbours may be walls.
            ///
            /// Away from refinement interfaces, if the bundle has rules for surfaces of solids.
            StreamCollideSolid = "stream_collide_solid" { gathers Collide [neighbours walls links] }
            /// Collides the listed blocks, none of which touches a wall, in the only set of populations: what a cell sends along a direction is stored
            /// where what arrives along the opposite one was read.
            ///
            /// Of a bundle with kernels in place, as the next ones; in every other step.
            CollideOut = "collide_out" { gathers CollideOut [neighbours] }
            /// The same; neighbours may be walls.
            CollideOutWalls = "collide_out_walls" { gathers CollideOut [neighbours walls] }
            /// The same for blocks which have solids in them.
            CollideOutSolid = "collide_out_solid" { gathers CollideOut [neighbours walls links] }
            /// The same for blocks of whose neighbours some are coarser or refined: what comes from there is in the inbox, and what goes there stays in
            /// its cell.
            ///
            /// Of a coupling of packets.
            CollideOutInterface = "collide_out_interface" { gathers CollideOut [neighbours inbox] }
            /// The same; neighbours may be walls.
            CollideOutInterfaceWalls = "collide_out_interface_walls" { gathers CollideOut [neighbours walls inbox] }
            /// The same for blocks whose links faces cut along which values vary.
            CollideOutInterfaceSolid = "collide_out_interface_solid" { gathers CollideOut [neighbours walls inbox links] }
            /// Collides the listed blocks, none of which touches a wall, in the only set of populations: what arrives in a cell stands there, and what
            /// it sends stays there.
            ///
            /// In the steps after those of `collide_out`.
            CollideBack = "collide_back" { gathers CollideBack [] }
            /// The same; neighbours may be walls.
            CollideBackWalls = "collide_back_walls" { gathers CollideBack [neighbours walls] }
            /// The same for blocks which have solids in them.
            CollideBackSolid = "collide_back_solid" { gathers CollideBack [neighbours walls links] }
            /// The same for blocks of whose neighbours some are coarser or refined.
            ///
            /// Of a coupling of packets.
            CollideBackInterface = "collide_back_interface" { gathers CollideBack [neighbours inbox] }
            /// The same; neighbours may be walls.
            CollideBackInterfaceWalls = "collide_back_interface_walls" { gathers CollideBack [neighbours walls inbox] }
            /// The same for blocks whose links faces cut along which values vary.
            CollideBackInterfaceSolid = "collide_back_interface_solid" { gathers CollideBack [neighbours walls inbox links] }
            /// Brings populations of the listed blocks, none of which touches a wall, back to the cells that have sent them.
            ///
            /// After a step of `collide_out`, if something but `collide_back` reads them.
            BringBack = "bring_back" { gathers BringBack [neighbours] }
            /// The same; neighbours may be walls.
            BringBackWalls = "bring_back_walls" { gathers BringBack [neighbours walls] }
            /// The same for blocks which have solids in them.
            BringBackSolid = "bring_back_solid" { gathers BringBack [neighbours walls links] }
            /// The same for blocks of whose neighbours some are coarser or refined.
            ///
            /// Of a coupling of packets.
            BringBackInterface = "bring_back_interface" { gathers BringBack [neighbours inbox] }
            /// The same; neighbours may be walls.
            BringBackInterfaceWalls = "bring_back_interface_walls" { gathers BringBack [neighbours walls inbox] }
            /// The same for blocks whose links faces cut along which values vary.
            BringBackInterfaceSolid = "bring_back_interface_solid" { gathers BringBack [neighbours walls inbox links] }
            /// What the listed covered blocks have beside coarse cells, from what has streamed in on the finer level.
            ///
            /// Of a coupling of ghosts.
            Restrict = "restrict" {
                ids: list Int [count] "slots of refined blocks to work on",
                sides: read Int [slot] "bit p: the level changes at place p around each slot",
                child_slots: read Int [slot - first_covered][children] "slots of the blocks that refine each refined one",
                rows: read Int [slot] "row in `saved` of each slot with another level near, or -1",
                first_covered: value Int "the first of the slots of covered blocks",
                saved: write Real [row][q][cells] in lattice "what is kept for other levels",
                dst: write Stored [slot][rows][pitch] in lattice "new post-collision populations",
                params: value Params "parameters of the method, on the level of the refined blocks",
            }
            /// From what has streamed in to what is interpolated, for the listed blocks.
            ///
            /// Of a coupling of ghosts.
            Send = "send" {
                ids: list Int [count] "slots of leaves or refined blocks to work on",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                ghosts: group Ghosts,
                saved: write Real [row][q][cells] in lattice "what is kept for other levels",
                params: value Params "parameters of the method, on the coarse level",
            }
            /// Ghosts of the listed blocks, from what coarser blocks have sent.
            ///
            /// Of a coupling of ghosts.
            Prolong = "prolong" {
                ids: list Int [count] "slots of leaves to work on",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                sides: read Int [slot] "bit p: the level changes at place p around each slot",
                uppers: read Int [slot] "slot of the block that each slot refines, times 2^dim, and its octant",
                rows: read Int [slot] "row in `saved` of each slot with another level near, or -1",
                first_covered: value Int "the first of the slots of covered blocks",
                saved: read Real [row][q][cells] in lattice "what is kept for other levels",
                dst: write Stored [slot][rows][pitch] in lattice "new post-collision populations",
                params: value Params "parameters of the method, on the fine level",
            }
            /// What the listed covered blocks have, from the blocks that refine them.
            ///
            /// Of a coupling of ghosts.
            Hold = "hold" {
                ids: list Int [count] "slots of refined blocks to work on",
                sides: read Int [slot] "bit p: the level changes at place p around each slot",
                child_slots: read Int [slot - first_covered][children] "slots of the blocks that refine each refined one",
                first_covered: value Int "the first of the slots of covered blocks",
                whole: value Int "1 for all cells, 0 for those that no step gives",
                sets: value Int "bit 0: which set is current on the level of the blocks; bit 1: on the next finer one",
                populations_0: write Stored [slot][rows][pitch] in lattice "set 0 of post-collision populations",
                populations_1: write Stored [slot][rows][pitch] in lattice "set 1 of post-collision populations",
            }
            /// What the listed blocks have stays there as that of covered blocks, now that they are refined.
            ///
            /// Of a coupling of ghosts.
            Keep = "keep" {
                ids: list Int [count] "slots to work on",
                nodes: read Int [slot] "node of each slot",
                levels: read Int [node] "level of each node",
                children: read Int [node] "first of the nodes that refine each node, or -1",
                roots: value Int "number of roots",
                first_covered: value Int "the first of the slots of covered blocks",
                sets: group Sets,
            }
            /// What solids and the fluid exchange along the links of the listed blocks, in the step that begins.
            ///
            /// By the exchange of momentum.
            Force = "force" {
                list: group Chunks,
                neighbours: read Int [slot][near] "slots of the neighbours at {place}, or -(w + 1) for wall w",
                walls: group Walls,
                links: group Links,
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
                firsts: read Int [block + chunk] "the first of the entries of each chunk, and of what follows the last",
                block: value Int "where those of the first chunk are",
                solids: read Int [entry] "a solid that links of the chunk may meet",
                exchanged: section Double [entry][1 + axes + sets + torques] in lattice
                    "from the first entry of the first chunk on: the solid, the force of the chunk on it, what it gives to each set of populations, and the torque, on the level at hand",
                owners: read Int [wall]
                    "the solid whose surface each wall is, -1 for none, or -(s + 2) for a link that meets shape s",
                frames: read Double [bodies][axes] in lattice "velocity that each solid moves with",
                torques: value Int "3 if solids rotate, else 0: then there is no torque",
                level: value Int "level of the blocks",
                first: value Int "the first of the walls of single links: those of the cells of places, [place][q][cells]",
                form: read Int [form] "the method and the grid: see `lbm_bundle::cutting`",
                places: read Int [place][5] "row and slot of each place, and its lowest cell",
                kinds: read Int [shape][8] "integers of each shape",
                numbers: read Double [shape][38] "numbers of each shape",
            }
            /// Slides the listed patches of surfaces under turbulent boundary layers: each gets the velocity with which the fluid loses the momentum
            /// that the law of the wall says.
            ///
            /// If a rule of surfaces has the parameters `slip` and `source`. The runtime's `solids::slides` says what the arrays hold, and how the
            /// velocity follows.
            Slide = "slide" {
                ids: list Int [count] "patches to work on",
                ranges: read Int [patch][2] "the cells of each patch: the first, and the one behind the last",
                cells: read Int [entry][5]
                    "place of the block of each cell in `cut`, and the cell; the block around it that its sample lies in, and the cell there; bit i: direction i comes off the surface",
                normals: read Double [entry][2 axes^2 + 3 axes + 2]
                    "at each cell the normal of the surface, into the fluid; the velocity of its wall for what it loses, a matrix; its area; the part of that velocity that it takes; momentum and mass that its links give for a velocity of the wall; the velocity of the surface along itself",
                shapes: read Double [patch][2 axes^2 + 4 axes + 7]
                    "normal, area, stiffness, weight, height, viscosity and law of each patch; momentum and mass that its links give if it slides, if cells differ from it, and for a source",
                laws: read Double [law][512] "logarithm of y+ over that of the Reynolds number of the height",
                weights: read Double [q] "weight of each direction",
                cut: read Int [entry] "slots of blocks with cut links",
                neighbours: read Int [slot][near] "slots of the neighbours at {place}, or -(w + 1) for wall w",
                links: group Links,
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
                wall_rules: read Int [wall] "rule of each wall: {rules}",
                wall_values: write Real [wall][stride] in lattice "parameters of each wall",
                slips: write Double [patch][2 axes + 4] in lattice "velocity, source, density, and velocity of the samples of each patch; stress; y+",
                first: value Int "wall of the first cell; those of the others follow",
                slip: value Int "where the velocity is among the values of a wall",
                source_at: value Int "where the source is among them",
            }
            /// Populations of cells that a solid has left.
            ///
            /// In equilibrium at the mean density around and the velocity of the solid, with the non-equilibrium of a cell beside it: Caiazzo,
            /// Prog. Comput. Fluid Dyn. 8 (2008) 3.
            Refill = "refill" {
                items: list Int [count] "cells of places, place * CELLS + cell",
                places: read Int [place][5] "row and slot of each place, and its lowest cell",
                around: read Int [item]
                    "bit i: the next cell along direction i is fluid, and has been so; -1 where nothing has changed",
                towards: read Int [item] "the direction to the cell whose non-equilibrium each takes, or -1",
                velocities: read Double [item][axes] in lattice "velocity of the solid",
                neighbours: read Int [slot][near] "slots of the neighbours at {place}, or -(w + 1) for wall w",
                populations: write Stored [slot][rows][pitch] in lattice "post-collision populations",
                params: value Params "parameters of the method",
            }
            /// What each chunk of the listed blocks tells: a value that is not finite, a change of velocity.
            CheckFields = "check_fields" {
                list: group Chunks,
                first: value Int "the first of the slots that have fields",
                fields: read Real [slot - first][fields][cells] in lattice "macroscopic fields: {fields}",
                before: read Real [slot - first][fields][cells] in lattice
                    "the same at another time, if `compare` is 1",
                compare: value Int "1 to compare velocities, else 0",
                found: write Double [chunk][2]
                    "of each chunk: the place (entry * cells + cell) * components + component of the first value that \
is not finite, or a place behind all; the square of the largest change of velocity",
            }
            /// Mass and momentum of the fluid in each chunk of the listed blocks.
            Sums = "sums" {
                list: group Chunks,
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
                mask: group Mask,
                sums: write Double [chunk][sets][moments][2] in lattice
                    "mass and momentum of each set, each a sum and what rounding took from it",
            }
            /// What the means of a flow are made of, in the fluid of each chunk of the listed blocks, which are of one level.
            ///
            /// If the fields have a velocity `u`; slopes as the solver's `velocity` says.
            Means = "means" {
                list: group Chunks,
                tree: group Nodes,
                parents: read Int [node] "node that each node refines, or -1",
                slots: read Int [node] "slot of each node, or -1",
                fields: read Real [slot][fields][cells] in lattice "macroscopic fields: {fields}",
                mask: group Mask,
                means: write Double [chunk][7] in lattice
                    "sums over fluid cells of the density, of half the square of the velocity, and of half that of its curl, per cell of \
the level at hand, each a sum and what rounding took from it; the square of the largest speed",
            }
            /// Derivatives by what arrives in cells of the listed blocks, from those by what they become in the collision.
            ///
            /// Of a bundle with an adjoint, as the next ones.
            CollideAdjoint = "collide_adjoint" { gathers CollideAdjoint [neighbours] }
            /// Derivatives by what arrives in cells of the listed blocks, from those by what arrives in the next step.
            ///
            /// Of blocks that read cells alone and that cells alone read: the kernel streams backwards, then collides backwards, in one pass.
            StepAdjoint = "step_adjoint" { gathers StepAdjoint [neighbours] }
            /// The same where neighbours may be walls, of a method whose walls send in proportion to populations: derivatives by what others send
            /// need populations, or values of walls, of the next step.
            StepAdjointWalls = "step_adjoint_walls" { gathers StepAdjoint [neighbours walls] }
            /// Derivatives by what arrives in cells of the listed blocks, from those by what they become; neighbours may be walls.
            CollideAdjointWalls = "collide_adjoint_walls" { gathers CollideAdjoint [neighbours walls] }
            /// The same for blocks which have solids in them.
            CollideAdjointSolid = "collide_adjoint_solid" { gathers CollideAdjoint [neighbours walls links] }
            /// The same where neighbours may be coarser or refined.
            ///
            /// Of a coupling of packets.
            CollideAdjointInterface = "collide_adjoint_interface" { gathers CollideAdjoint [neighbours inbox] }
            /// The same where neighbours may be coarser or refined, or walls.
            ///
            /// Of a coupling of packets.
            CollideAdjointInterfaceWalls = "collide_adjoint_interface_walls" { gathers CollideAdjoint [neighbours walls inbox] }
            /// Derivatives by populations of the listed blocks, from those by what arrives in cells.
            ///
            /// A cell takes the derivative by a population from the cell that reads it.
            StreamAdjoint = "stream_adjoint" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near] "slots of the neighbours at {place}",
                arrived: read Stored [slot][rows][pitch] "derivatives by what arrives in cells",
                adjoint: write Stored [slot][rows][pitch] "derivatives by populations",
            }
            /// The same where neighbours may be walls.
            ///
            /// What a wall sends to a cell is made of populations of the cell, and of values of the wall.
            StreamAdjointWalls = "stream_adjoint_walls" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near] "slots of the neighbours at {place}, or -(w + 1) for wall w",
                walls: group Walls,
                backwards: group Backwards,
                by_groups: group ByGroups,
                adjoint: write Stored [slot][rows][pitch] "derivatives by populations",
            }
            /// The same for blocks which have solids in them or beside them; the objective may contain forces on these.
            StreamAdjointSolid = "stream_adjoint_solid" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near] "slots of the neighbours at {place}, or -(w + 1) for wall w",
                walls: group Walls,
                links: group Links,
                owners: read Int [wall] "the solid whose surface each wall is, or less than 0",
                pulls: read Double [bodies][axes] "derivatives by the force on each solid in the step that begins",
                backwards: group Backwards,
                by_groups: group ByGroups,
                adjoint: write Stored [slot][rows][pitch] "derivatives by populations",
            }
            /// Keeps derivatives by the listed values that blocks have read of the inbox: those by what has arrived in their cells.
            ///
            /// Of a coupling of packets, as the next two. They are in `crossed` three times: of the step at hand, and of both steps in one of the
            /// coarser level.
            ReceiveAdjoint = "receive_adjoint" {
                items: list Int [count] "values to work on",
                places: read Int [value][2] "slot of each value, and direction * CELLS + cell",
                received: value Int "how many values there are",
                later: value Int "1 in the second of two steps in one of the coarser level, else 0",
                arrived: read Stored [slot][rows][pitch] "derivatives by what arrives in cells",
                crossed: write Real [3][value] "derivatives by what blocks have read of the inbox",
            }
            /// Adds derivatives by the listed populations, from those by what the inbox had of them.
            CrossAdjoint = "cross_adjoint" {
                items: list Int [count] "populations to work on",
                shares: group Shares,
                adjoint: write Stored [slot][rows][pitch] "derivatives by populations, which are added to what is there",
            }
            /// The same of what walls have sent back to the listed cells.
            ReturnAdjoint = "return_adjoint" {
                items: list Int [count] "cells to work on",
                shares: group Shares,
                ways: read Int [share][2] "the direction along which it comes back, and the wall",
                walls: group Walls,
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations before the step",
                by_groups: group ByGroups,
                adjoint: write Stored [slot][rows][pitch] "derivatives by populations, which are added to what is there",
            }
            /// Adds derivatives by populations of the listed blocks, from those by their macroscopic fields.
            MacroscopicAdjoint = "macroscopic_adjoint" {
                ids: list Int [count] "slots to work on",
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
                level: value Int "level of the blocks",
                by_fields: read Real [slot][fields][cells] "derivatives by the macroscopic fields: {fields}",
                adjoint: write Stored [slot][rows][pitch] "derivatives by populations, which are added to what is there",
                by_members: write Double [slot][members][cells]
                    "derivatives by the parameters as each cell takes them, which are added to what is there: {members}",
                params: value Params "parameters of the method",
            }
            /// Macroscopic fields of the listed blocks from their populations.
            Macroscopic = "macroscopic" {
                ids: list Int [count] "slots to work on",
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
                first: value Int "the first of the slots that have fields",
                level: value Int "level of the blocks",
                fields: write Real [slot - first][fields][cells] in lattice "macroscopic fields: {fields}",
                params: value Params "parameters of the method",
            }
            /// Populations of the listed blocks from those of the blocks that refined them.
            ///
            /// While a forest changes; mass and momentum stay.
            Average = "average" {
                ids: list Int [count] "slots to work on",
                child_slots: read Int [slot][children] "slots of the blocks that refine each slot's",
                nodes: read Int [slot] "node of each slot",
                levels: read Int [node] "level of each node",
                sets: group Sets,
            }
            /// Populations of the blocks that refine the listed ones from theirs.
            ///
            /// While a forest changes; mass and momentum stay.
            Fill = "fill" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                child_slots: read Int [slot][children] "slots of the blocks that refine each slot's",
                nodes: read Int [slot] "node of each slot",
                levels: read Int [node] "level of each node",
                sets: group Sets,
            }
            /// Fields of the listed blocks from those of the blocks that refined them.
            ///
            /// Their means.
            AverageFields = "average_fields" {
                ids: list Int [count] "slots to work on",
                child_slots: read Int [slot][children] "slots of the blocks that refine each slot's",
                fields: write Real [slot][fields][cells] in lattice "macroscopic fields: {fields}",
            }
            /// Fields of the blocks that refine the listed ones from theirs.
            ///
            /// On a plane through each coarse cell.
            FillFields = "fill_fields" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                first_covered: value Int "the first of the slots of covered blocks",
                child_slots: read Int [slot][children] "slots of the blocks that refine each slot's",
                fields: write Real [slot][fields][cells] in lattice "macroscopic fields: {fields}",
            }
            /// Populations of the listed slots from other slots.
            Relocate = "relocate" {
                ids: list Int [count] "slots to work on",
                from: read Int [slot] "the slot that each slot is filled from",
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
                dst: write Stored [slot][rows][pitch] in lattice "the same in their new slots",
            }
            /// Fields of the listed slots from other slots.
            RelocateFields = "relocate_fields" {
                ids: list Int [count] "slots to work on",
                from: read Int [slot] "the slot that each slot is filled from",
                src: read Real [slot][fields][cells] in lattice "macroscopic fields: {fields}",
                dst: write Real [slot][fields][cells] in lattice "the same in their new slots",
            }
            /// The collision alone, on plain arrays of states.
            Collide = "collide" {
                count: count Int "how many states there are",
                src: read Real [q][count] in lattice "populations before the collision",
                dst: write Real [q][count] in lattice "populations after the collision",
                params: value Params "parameters of the method",
            }
        }
    };
}

/// The product that a row says, if it says one.
macro_rules! product {
    (gathers $action:ident [$($source:ident)*]) => {
        Some((Action::$action, Sources { $($source: true,)* ..Sources::default() }))
    };
    ($($lines:tt)*) => {
        None
    };
}

macro_rules! role {
    ($($(#[doc = $doc:tt])+ $role:ident = $name:tt { $($lines:tt)* })+) => {
        roles! {
            /// What a kernel does. Rows of [`method_kernels!`](crate::method_kernels) say what each takes.
            Role: $($(#[doc = $doc])+ $role = $name { $($lines)* })+
            /// Changes of populations after a step, from those before it and those of parameters.
            ///
            /// On plain arrays alone, as the next two: blocks have no arguments for it.
            StreamCollideTangent = "stream_collide_tangent" {}
            /// Derivatives of an objective by the populations before a step, from those by the populations after it.
            StreamCollideAdjoint = "stream_collide_adjoint" {}
            /// The same, and derivatives by the parameters.
            StreamCollideAdjointParameters = "stream_collide_adjoint_parameters" {}
        }

        impl Role {
            /// What its kernel does with that which arrives in cells, and from where; nothing of one that does not gather.
            pub fn gathers(self) -> Option<(Action, Sources)> {
                match self {
                    $(Role::$role => product!($($lines)*),)+
                    Role::StreamCollideTangent | Role::StreamCollideAdjoint | Role::StreamCollideAdjointParameters => None,
                }
            }
        }
    };
}

method_kernels!(role);

impl Role {
    /// Whether its kernel is a formula of the spec for every cell, whose cost is counted; others move data, look at them, or work
    /// on a few cells beside level jumps or solids.
    pub fn is_arithmetic(self) -> bool {
        use Role::{Average, AverageFields, Fill, FillFields, Relocate, RelocateFields};
        use Role::{CheckFields, Hold, Keep, Means, Prolong, Refill, Restrict, Send, Slide, Sums};
        use Role::{CrossAdjoint, ReceiveAdjoint, ReturnAdjoint};
        use Role::{InterfaceCells, InterfaceMasks, ToCoarse, ToCoarseWalls, ToFine, ToFineWalls};
        use Role::{StreamAdjoint, StreamAdjointSolid, StreamAdjointWalls};
        let is_backwards = matches!(self, StreamAdjoint | StreamAdjointWalls | StreamAdjointSolid)
            || matches!(self, ReceiveAdjoint | CrossAdjoint | ReturnAdjoint);
        let brings_back = self.gathers().is_some_and(|(action, _)| action == Action::BringBack);
        let moves = matches!(self, Average | Fill | AverageFields | FillFields | Relocate | RelocateFields);
        let crosses = matches!(self, InterfaceMasks | InterfaceCells | ToFine | ToFineWalls | ToCoarse | ToCoarseWalls)
            || self == Role::ExposeAcross;
        !moves
            && !crosses
            && !is_backwards
            && !brings_back
            && !matches!(self, CheckFields | Sums | Means | Restrict | Send | Prolong | Hold | Keep | Refill | Slide)
    }

    /// The arguments of its kernel in a bundle with that layout, method and form of blocks; none where the layout has no such kernel.
    pub fn args(self, manifest: &Manifest) -> Vec<Arg> {
        let declared = match manifest.layout {
            Layout::Blocks => self.declared(),
            Layout::Soa => soa::declared(self),
        };
        let dim = manifest.dim;
        let index = |index: &str| match index {
            "rows" => format!("[{}]", manifest.rows()),
            "q" => format!("[{}]", manifest.q()),
            "cells" => format!("[{}]", manifest.cells()),
            "pitch" => format!("[{}]", manifest.pitch()),
            "near" => format!("[{}]", 3u32.pow(dim)),
            "children" => format!("[{}]", 1 << dim),
            "fields" => format!("[{}]", manifest.field_components()),
            "members" => format!("[{}]", manifest.members.len()),
            "axes" => format!("[{dim}]"),
            "sets" => format!("[{}]", manifest.populations.len()),
            "moments" => format!("[{}]", 1 + dim),
            "around" => format!("[{}]", manifest.around()),
            "stride" => format!("[{}]", manifest.wall_stride),
            beyond if dim == 2 && soa::BEYOND_TWO_AXES.contains(&beyond) => String::new(),
            count => format!("[{count}]"),
        };
        let text = |text: &str| {
            let rules = || manifest.boundaries.iter().map(|rule| format!("{} {}", rule.code, rule.name));
            let place = if dim == 2 { "(dx+1) + 3 (dy+1)" } else { "(dx+1) + 3 (dy+1) + 9 (dz+1)" };
            let members = || manifest.members.iter().map(|member| member.name.as_str());
            text.replace("{fields}", &manifest.component_names().join(", "))
                .replace("{members}", &members().collect::<Vec<_>>().join(", "))
                .replace("{rules}", &rules().collect::<Vec<_>>().join(", "))
                .replace("{place}", place)
        };
        let there = |arg: &&Declared| match arg.ty {
            ArgType::Params => !manifest.members.is_empty(),
            _ if arg.shape.first() == Some(&"members") => !manifest.members.is_empty(),
            _ => dim == 3 || !soa::BEYOND_TWO_AXES.contains(&arg.name),
        };
        declared.iter().filter(there).flat_map(|arg| arg.args(index, text)).collect()
    }
}

impl Kernel {
    /// Whether its arguments are those that its role has in that bundle; their documentation may differ.
    pub fn is_as_declared(&self, manifest: &Manifest) -> bool {
        same_args(&self.args, &self.role.args(manifest))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn parameters_come_last_and_names_are_unique() {
        let names: BTreeSet<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        assert_eq!(names.len(), Role::ALL.len());
        for role in Role::ALL {
            let declared = role.declared();
            let params = declared.iter().position(|arg| arg.ty == ArgType::Params);
            assert!(params.is_none_or(|at| at + 1 == declared.len()), "{role:?}");
            let args: BTreeSet<&str> = declared.iter().map(|arg| arg.name).collect();
            assert_eq!(args.len(), declared.len(), "{role:?}");
        }
    }

    #[test]
    fn every_kernel_but_the_bare_collision_works_on_a_list() {
        let on_blocks = Role::ALL.iter().filter(|role| !role.declared().is_empty());
        let others: Vec<&Role> = on_blocks.filter(|role| !role.is_divisible()).collect();
        assert_eq!(others, [&Role::Collide]);
    }
}
