//! What each kernel takes, in order, with shapes and units.

use lbm_bundle::{Arg, ArgType, Manifest, ParamComponent, Role};
use lbm_dsl::expr::{Expr, ExprId, Symbol};
use lbm_dsl::model::Model;
use lbm_dsl::model::levels::Exchange;

use super::super::{claim_params, names::Namer};
use super::names_of_fields;

/// The arguments of a role's kernel.
pub fn args(model: &Model, manifest: &Manifest, role: Role) -> Vec<Arg> {
    let (q, cells, dim) = (manifest.q() as u32, manifest.cells() as u32, manifest.dim);
    let components = manifest.field_components() as u32;
    let arg = |name: &str, ty, doc: String| Arg::new(name, ty, doc);
    let populations = |which: &str| format!("{which} populations [slot][{q}][{cells}], lattice units");
    let field_names: Vec<String> = names_of_fields(manifest);
    let fields = format!("{} [slot][{components}][{cells}], lattice units", field_names.join(", "));
    let ids = arg("ids", ArgType::Ints, "slots to work on [count]".into());
    let count = arg("count", ArgType::Int, "how many slots `ids` lists".into());
    let neighbours = arg(
        "neighbours",
        ArgType::Ints,
        format!(
            "slots of the neighbours [slot][{}] at {}, or -(w + 1) for wall w",
            3u32.pow(dim),
            if dim == 2 { "(dx+1) + 3 (dy+1)" } else { "(dx+1) + 3 (dy+1) + 9 (dz+1)" }
        ),
    );
    let src = arg("src", ArgType::Reals, populations("post-collision"));
    let dst =
        arg("dst", ArgType::RealsOut, populations(if role == Role::Init { "initial" } else { "new post-collision" }));
    let wall_args = || {
        let rules: Vec<String> =
            manifest.boundaries.iter().map(|rule| format!("{} {}", rule.code, rule.name)).collect();
        let values = format!("parameters of each wall [wall][{}], lattice units", manifest.wall_stride);
        [
            arg("wall_rules", ArgType::Ints, format!("rule of each wall [wall]: {}", rules.join(", "))),
            arg("wall_values", ArgType::Reals, values),
        ]
    };
    let ghosts = manifest.coupling.as_ref().is_some_and(|coupling| coupling.ghosts > 0);
    let table = |name| ghost_table(manifest, name);
    let interface = |names: &[&str]| names.iter().map(|name| interface_arg(manifest, name)).collect::<Vec<_>>();
    let inbox_out = || Arg { ty: ArgType::RealsOut, ..interface_arg(manifest, "inbox") };
    let mut args = match role {
        Role::Init => vec![ids, count, arg("fields", ArgType::Reals, fields), dst],
        Role::StreamCollide => vec![ids, count, neighbours, src, dst],
        Role::StreamCollideWalls => [vec![ids, count, neighbours], wall_args().to_vec(), vec![src, dst]].concat(),
        Role::StreamCollideInterface if ghosts => {
            let tables = ["sides", "rows", "held", "saved"].map(table);
            [vec![ids, count, neighbours], tables.to_vec(), vec![src, dst]].concat()
        }
        Role::StreamCollideInterfaceWalls if ghosts => {
            let tables = ["sides", "rows", "held"].map(table);
            [vec![ids, count, neighbours], tables.to_vec(), wall_args().to_vec(), vec![table("saved"), src, dst]]
                .concat()
        }
        Role::Restrict => {
            [vec![ids, count], ["sides", "parts", "rows", "held", "saved"].map(table).to_vec(), vec![dst]].concat()
        }
        Role::Send => [vec![ids, count, neighbours], ["sides", "rows", "held", "saved"].map(table).to_vec()].concat(),
        Role::Prolong => {
            let tables = ["sides", "uppers", "rows", "held"].map(table);
            let saved = Arg { ty: ArgType::Reals, ..table("saved") };
            [vec![ids, count, neighbours], tables.to_vec(), vec![saved, dst]].concat()
        }
        Role::Hold => {
            let whole = arg("whole", ArgType::Int, "1 for all cells, 0 for those that no step gives".into());
            let mut sets = both_sets(manifest);
            sets[0].doc = "bit 0: which set is current on the level of the blocks; bit 1: on the next finer one".into();
            [vec![ids, count], ["sides", "parts", "held"].map(table).to_vec(), vec![whole], sets.to_vec()].concat()
        }
        Role::Keep => {
            let tables = ["children", "roots", "held"].map(table);
            let [nodes, levels, _] = node_args().try_into().expect("three tables");
            [vec![ids, count, nodes, levels], tables.to_vec(), both_sets(manifest).to_vec()].concat()
        }
        Role::StreamCollideInterface => {
            [vec![ids, count, neighbours], interface(&["rows", "masks", "inbox"]), vec![src, dst]].concat()
        }
        Role::StreamCollideInterfaceWalls => {
            let tables = interface(&["rows", "masks", "inbox"]);
            [vec![ids, count, neighbours], tables, wall_args().to_vec(), vec![src, dst]].concat()
        }
        Role::InterfaceMasks => {
            let rules = if manifest.mirror_rules.is_empty() { vec![] } else { wall_args()[..1].to_vec() };
            let masks = Arg { ty: ArgType::IntsOut, ..interface_arg(manifest, "masks") };
            let counts = Arg::new("counts", ArgType::IntsOut, "cells of each block beside refined ones [row]");
            [vec![ids, count], interface(&["nodes", "near", "children", "rows"]), rules, vec![masks, counts]].concat()
        }
        Role::InterfaceCells => {
            let tables = interface(&["nodes", "near", "children", "slots", "rows", "masks", "begins"]);
            let out = |name| Arg { ty: ArgType::IntsOut, ..interface_arg(manifest, name) };
            [vec![ids, count], tables, ["tables", "cell_masks", "cells"].map(out).to_vec()].concat()
        }
        Role::ToFine => {
            let data = interface(&["tables", "cell_masks", "coarse", "fine", "inbox_0", "inbox_1", "start"]);
            [cell_list(manifest), data].concat()
        }
        Role::ToFineWalls => {
            let tables = interface(&["nodes", "near", "children", "parents", "slots", "rows"]);
            let data = interface(&["coarse", "fine", "inbox_0", "inbox_1"]);
            [vec![ids, count], tables, wall_args().to_vec(), data].concat()
        }
        Role::ToCoarse => {
            let data = interface(&["tables", "cell_masks", "before", "after"]);
            [cell_list(manifest), data, vec![inbox_out()]].concat()
        }
        Role::ToCoarseWalls => {
            let tables = interface(&["nodes", "near", "children", "slots", "rows"]);
            let data = interface(&["coarse", "before", "after"]);
            [vec![ids, count], tables, wall_args().to_vec(), data, vec![inbox_out()]].concat()
        }
        Role::StreamCollideSolid => {
            [vec![ids, count, neighbours], wall_args().to_vec(), solid_args(q, cells), vec![src, dst]].concat()
        }
        Role::Force => {
            let forces =
                format!("force of each share on each solid [share][bodies][{dim}], lattice units of the level");
            let last = vec![
                src,
                arg("forces", ArgType::DoublesOut, forces),
                arg("first", ArgType::Int, "the wall that is the surface of the first solid".into()),
                arg("bodies", ArgType::Int, "how many solids there are, on walls that follow each other".into()),
            ];
            [share_args(), vec![neighbours], wall_args().to_vec(), solid_args(q, cells), last].concat()
        }
        Role::Look => {
            let before = format!("the same at another time, if `compare` is 1 [slot][{components}][{cells}]");
            let found = "of each share: the place (entry * cells + cell) * components + component of the first value that is \
                         not finite, or a place behind all; the square of the largest change of velocity [share][2]";
            let last = vec![
                arg("fields", ArgType::Reals, fields),
                arg("before", ArgType::Reals, before),
                arg("compare", ArgType::Int, "1 to compare velocities, else 0".into()),
                arg("found", ArgType::DoublesOut, found.into()),
            ];
            [share_args(), last].concat()
        }
        Role::Sums => {
            let shape = format!("[share][{}][{}][2]", manifest.populations.len(), 1 + dim);
            let sums = format!(
                "mass and momentum of each set, each a sum and what rounding took from it {shape}, lattice units"
            );
            [share_args(), vec![src, arg("sums", ArgType::DoublesOut, sums)]].concat()
        }
        Role::Average => [vec![ids, count], carry_args(manifest)].concat(),
        Role::Fill => [vec![ids, count, neighbours], carry_args(manifest)].concat(),
        Role::AverageFields => vec![ids, count, parts_arg(manifest), arg("fields", ArgType::RealsOut, fields)],
        Role::FillFields => {
            let fields = arg("fields", ArgType::RealsOut, fields);
            vec![ids, count, neighbours, table("held"), parts_arg(manifest), fields]
        }
        Role::Relocate => {
            let values = |which: &str| format!("{which} [slot][components][{cells}]");
            vec![
                ids,
                count,
                arg("from", ArgType::Ints, "the slot that each slot is filled from [slot]".into()),
                arg("components", ArgType::Int, "values of a cell".into()),
                arg("src", ArgType::Reals, values("values as they lie")),
                arg("dst", ArgType::RealsOut, values("values in their new slots")),
            ]
        }
        Role::Wish => {
            [vec![ids, count, neighbours], node_args(), vec![arg("fields", ArgType::Reals, fields)], wish_args()]
                .concat()
        }
        Role::Macroscopic => vec![ids, count, src, arg("fields", ArgType::RealsOut, fields)],
        Role::Collide => vec![
            arg("count", ArgType::Int, "how many states there are".into()),
            arg("src", ArgType::Reals, format!("populations before the collision [{q}][count], lattice units")),
            arg("dst", ArgType::RealsOut, format!("populations after the collision [{q}][count], lattice units")),
        ],
    };
    let has_params = match role {
        Role::Restrict | Role::Send | Role::Prolong => true,
        Role::ToFine | Role::ToFineWalls | Role::ToCoarseWalls => true,
        Role::Force => false,
        _ => role.is_arithmetic(),
    };
    if has_params {
        args.extend(param_args(model, manifest, role));
    }
    args
}

/// What a kernel takes first that sums up shares of a list.
fn share_args() -> Vec<Arg> {
    let arg = |name: &str, ty, doc: &str| Arg::new(name, ty, doc);
    vec![
        arg("shares", ArgType::Ints, "shares of the list to work on [count]"),
        arg("count", ArgType::Int, "how many shares `shares` lists"),
        arg("ids", ArgType::Ints, "the list: slots [size]"),
        arg("size", ArgType::Int, "how many slots `ids` lists"),
        arg("per", ArgType::Int, "slots of a share; the last may have less"),
    ]
}

/// The slots of children.
fn parts_arg(manifest: &Manifest) -> Arg {
    let doc = format!("slots of the blocks that refine each slot's [slot][{}]", 1 << manifest.dim);
    Arg::new("parts", ArgType::Ints, doc)
}

/// The tables of blocks with solids in them.
fn solid_args(q: u32, cells: u32) -> Vec<Arg> {
    let arg = |name: &str, ty, doc: String| Arg::new(name, ty, doc);
    let links = format!(
        "where directions come from [row][{q}][{cells}]: 0 from where they always do, w + 1 off wall w, -1 the cell is solid"
    );
    let distances =
        format!("distance of the surface on the way to it [row][{q}][{cells}], over the length of the link");
    vec![
        arg("rows", ArgType::Ints, "row of each slot [slot] in the next two, -1 for none".into()),
        arg("links", ArgType::Ints, links),
        arg("distances", ArgType::Reals, distances),
    ]
}

/// What a kernel that fills the inbox takes behind the list, or one that reads it behind the table of neighbours.
fn interface_arg(manifest: &Manifest, name: &str) -> Arg {
    let (q, cells, near) = (manifest.q(), manifest.cells(), 3u32.pow(manifest.dim));
    let ints = |doc: &str| Arg::new(name, ArgType::Ints, doc);
    let level = |which: &str| Arg::new(name, ArgType::Reals, format!("{which} [slot][{q}][{cells}], lattice units"));
    match name {
        "nodes" => ints("node of each slot [slot]"),
        "near" => ints(&format!(
            "nodes of the same level around each node [node][{near}], -(w + 1) for wall w, or the least integer"
        )),
        "children" => ints("first of the nodes that refine each node [node], or -1"),
        "parents" => ints("node that each node refines [node], or -1"),
        "slots" => ints("slot of each node [node], or -1"),
        "rows" => ints("row of the inbox of each slot at an interface [slot], or -1"),
        "masks" => ints("bit p: what comes from the neighbour p is in the inbox [row]"),
        "begins" => ints("place in `cells` of the first of each block [row]"),
        "tables" => ints(&format!("what is around each block [row][{}]", manifest.around())),
        "cell_masks" => {
            ints(&format!("bit p: the coarse cell at the place p around each cell is refined [row][{cells}]"))
        }
        "cells" => ints(&format!("cells beside refined ones, row * {cells} + cell [count]")),
        "inbox" => Arg::new(
            name,
            ArgType::Reals,
            "what enters blocks from other levels in this step [row][ROW], lattice units",
        ),
        "inbox_0" | "inbox_1" => {
            let step = if name == "inbox_0" { "first" } else { "second" };
            let doc = format!(
                "what enters blocks in the {step} of two steps in one of a coarser level [row][ROW], lattice units"
            );
            Arg::new(name, ArgType::RealsOut, doc)
        }
        "start" => {
            Arg::new(name, ArgType::Int, "1 if the step of the coarse level is itself the first of two, 0 if not")
        }
        "coarse" => level("current populations of the coarse level"),
        "fine" | "before" => level("populations of the fine level before the first of its two steps"),
        "after" => level("populations of the fine level after it"),
        _ => unreachable!("there is no argument `{name}`"),
    }
}

/// The list of cells beside refined ones.
fn cell_list(manifest: &Manifest) -> Vec<Arg> {
    vec![interface_arg(manifest, "cells"), Arg::new("count", ArgType::Int, "how many cells `cells` lists")]
}

/// An argument of a kernel of ghosts.
fn ghost_table(manifest: &Manifest, name: &str) -> Arg {
    let (q, cells, parts) = (manifest.q(), manifest.cells(), 1 << manifest.dim);
    let (ty, doc) = match name {
        "sides" => (ArgType::Ints, "bit p: the level changes at place p around each slot [slot]".into()),
        "parts" => (ArgType::Ints, format!("slots of the blocks that refine each refined one [slot - held][{parts}]")),
        "uppers" => {
            (ArgType::Ints, format!("slot of the block that each slot refines, times {parts}, and its octant [slot]"))
        }
        "rows" => (ArgType::Ints, "row in `saved` of each slot with another level near [slot], or -1".into()),
        "children" => (ArgType::Ints, "first of the nodes that refine each node [node], or -1".into()),
        "roots" => (ArgType::Int, "number of roots".into()),
        "held" => (ArgType::Int, "the first of the slots that refined blocks hold".into()),
        "saved" => (ArgType::RealsOut, format!("what is kept for other levels [row][{q}][{cells}], lattice units")),
        _ => unreachable!("there is no table `{name}`"),
    };
    Arg::new(name, ty, doc)
}

/// Which set is current on each level, and both.
fn both_sets(manifest: &Manifest) -> [Arg; 3] {
    let (q, cells) = (manifest.q(), manifest.cells());
    let set = |at: usize| {
        let doc = format!("set {at} of post-collision populations [slot][{q}][{cells}], lattice units");
        Arg::new(&format!("populations_{at}"), ArgType::RealsOut, doc)
    };
    let sets = Arg::new("sets", ArgType::Int, "bit l: which set is current on level l");
    [sets, set(0), set(1)]
}

/// What a kernel takes to know a slot's node.
fn node_args() -> Vec<Arg> {
    let ints = |name: &str, doc: &str| Arg::new(name, ArgType::Ints, doc);
    vec![
        ints("nodes", "node of each slot [slot]"),
        ints("levels", "level of each node [node]"),
        ints("places", "position of each node in blocks of its level [node][3]"),
    ]
}

/// What a kernel takes that moves data between levels, behind the table of neighbours.
fn carry_args(manifest: &Manifest) -> Vec<Arg> {
    let [nodes, levels, _] = node_args().try_into().expect("three tables");
    [vec![parts_arg(manifest), nodes, levels], both_sets(manifest).to_vec()].concat()
}

/// What the kernel of wishes takes behind the fields.
fn wish_args() -> Vec<Arg> {
    let arg = |name: &str, ty, doc: &str| Arg::new(name, ty, doc);
    vec![
        arg("ops", ArgType::Ints, "the program [length][2]: what to do, and an argument"),
        arg("length", ArgType::Int, "how many ops it has"),
        arg("constants", ArgType::Doubles, "constants of the program"),
        arg("finest", ArgType::Int, "the finest level"),
        arg("want", ArgType::IntsOut, "level that each leaf wishes [node]"),
    ]
}

/// What the packets of the coupling in use carry.
fn packets<'a>(model: &'a Model, manifest: &Manifest) -> Option<&'a Vec<ExprId>> {
    let name = &manifest.coupling.as_ref()?.name;
    model.couplings().iter().find(|coupling| coupling.name() == name).and_then(|coupling| match coupling.exchange() {
        Exchange::Packets { values } => Some(values),
        Exchange::Ghosts { .. } => None,
    })
}

/// The method's parameters as arguments, one per component: all of them, or those that a kernel reads which needs few.
fn param_args(model: &Model, manifest: &Manifest, role: Role) -> Vec<Arg> {
    let values = match role {
        Role::Macroscopic => Some(&model.sampled().outputs),
        Role::ToFine | Role::ToFineWalls | Role::ToCoarseWalls => packets(model, manifest),
        _ => None,
    };
    let read = values.map(|values| model.exprs().needed(values));
    let reads = |param: u16, component: u8| {
        let symbol = Expr::Symbol(Symbol::Param { param, component });
        let is_read = |read: &Vec<bool>| model.exprs().iter().any(|(id, node)| read[id.index()] && *node == symbol);
        read.as_ref().is_none_or(is_read)
    };
    let names = claim_params(&mut Namer::default(), model.params());
    let args = names.into_iter().filter(|((param, component), _)| reads(*param, *component));
    let args = args.map(|((param, component), name)| {
        let param = &model.params()[usize::from(param)];
        let axis = if param.components == 1 { "" } else { [", x", ", y", ", z"][usize::from(component)] };
        let range = param.range.as_ref().map_or(String::new(), |(low, high)| format!(" in ({low}, {high})"));
        let doc = if param.doc.is_empty() { "parameter of the method" } else { &param.doc };
        let doc = format!("{doc}{axis}{range}, lattice units");
        let of = ParamComponent { name: param.name.clone(), component: component.into() };
        Arg { name, ty: ArgType::Real, doc, param: Some(of) }
    });
    args.collect()
}
