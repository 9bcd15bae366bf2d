//! Launches of the kernels of a method: a struct for each row of [`lbm_bundle::method_kernels!`] and for each group of their arguments, and
//! one for all kernels that gather.

use lbm_bundle::{Role, method_groups, method_kernels};

use super::launch::{Arguments, Launch, Params, Put, about, arguments, field, launch, launches, put};
use crate::device::{Buffer, Double, Int, Real, Slice, Stored};

method_groups!(arguments);

macro_rules! of_method {
    ($($rows:tt)*) => { launches! { Role: $($rows)* } };
}

method_kernels!(of_method);

/// A kernel that gathers what arrives in cells of the listed blocks.
#[derive(Debug)]
pub struct Gather<'a> {
    /// Slots to work on.
    pub ids: Slice<'a, Int>,
    /// Where values come from.
    pub sources: Sources<'a>,
    /// What is done with them.
    pub action: Action<'a>,
    /// Parameters of the method.
    pub params: &'a Params,
}

/// Where values come from; if from nowhere else, from the cell itself.
#[derive(Debug, Default)]
pub struct Sources<'a> {
    /// Slots of the neighbours of each slot.
    pub neighbours: Option<&'a Buffer<Int>>,
    /// Walls of the domain.
    pub walls: Option<Walls<'a>>,
    /// What comes from other levels, of a coupling of packets.
    pub inbox: Option<Inbox<'a>>,
    /// Cells beside other levels, and what is kept for these, of a coupling of ghosts.
    pub ghosts: Option<(Ghosts<'a>, &'a mut Buffer<Real>)>,
    /// Links that solids cut.
    pub links: Option<Links<'a>>,
}

/// What is done with that which arrives.
#[derive(Debug)]
pub enum Action<'a> {
    /// It collides.
    Collide {
        /// Post-collision populations.
        src: &'a Buffer<Stored>,
        /// New post-collision populations.
        dst: &'a mut Buffer<Stored>,
    },
    /// What cells show to those around them is computed for these too, and they collide.
    ExposeCollide {
        /// Post-collision populations.
        src: &'a Buffer<Stored>,
        /// New post-collision populations.
        dst: &'a mut Buffer<Stored>,
    },
    /// What cells show to those around them is stored beside their populations.
    Expose {
        /// Post-collision populations, and what cells show.
        populations: &'a mut Buffer<Stored>,
    },
    /// It collides in the only set of populations, and goes to where what arrived was read.
    CollideOut {
        /// Post-collision populations.
        set: &'a mut Buffer<Stored>,
    },
    /// It collides in the only set of populations, of which cells then have their own.
    CollideBack {
        /// Post-collision populations.
        set: &'a mut Buffer<Stored>,
    },
    /// It is brought back to the cells that have sent it.
    BringBack {
        /// Post-collision populations.
        set: &'a mut Buffer<Stored>,
    },
    /// It makes derivatives of an objective by what arrives, of derivatives by what becomes of it.
    CollideAdjoint {
        /// Post-collision populations.
        src: &'a Buffer<Stored>,
        /// Derivatives.
        adjoint: &'a mut Buffer<Stored>,
        /// Derivatives by parameters, cell by cell.
        by_members: &'a mut Buffer<Double>,
    },
    /// The same, of derivatives by what arrives in the next step.
    StepAdjoint {
        /// Post-collision populations.
        src: &'a Buffer<Stored>,
        /// Derivatives by what arrives in the next step.
        arrived: &'a Buffer<Stored>,
        /// Derivatives by values of walls, where there may be some.
        by_groups: Option<ByGroups<'a>>,
        /// Derivatives by what arrives.
        adjoint: &'a mut Buffer<Stored>,
        /// Derivatives by parameters, cell by cell.
        by_members: &'a mut Buffer<Double>,
    },
}

impl<'a> Launch<'a> for Gather<'a> {
    type Role = Role;

    /// # Panics
    /// If no row of the table has this action with these sources.
    fn role(&self) -> Role {
        let Sources { neighbours, walls, inbox, ghosts, links } = &self.sources;
        let action = match self.action {
            Action::Collide { .. } => lbm_bundle::Action::Collide,
            Action::ExposeCollide { .. } => lbm_bundle::Action::ExposeCollide,
            Action::Expose { .. } => lbm_bundle::Action::Expose,
            Action::CollideOut { .. } => lbm_bundle::Action::CollideOut,
            Action::CollideBack { .. } => lbm_bundle::Action::CollideBack,
            Action::BringBack { .. } => lbm_bundle::Action::BringBack,
            Action::CollideAdjoint { .. } => lbm_bundle::Action::CollideAdjoint,
            Action::StepAdjoint { .. } => lbm_bundle::Action::StepAdjoint,
        };
        let sources = lbm_bundle::Sources {
            neighbours: neighbours.is_some(),
            walls: walls.is_some(),
            inbox: inbox.is_some(),
            ghosts: ghosts.is_some(),
            links: links.is_some(),
        };
        Role::of(action, sources).unwrap_or_else(|| panic!("no kernel for {action:?} with {sources:?}"))
    }
}

impl<'a> Put<'a> for Gather<'a> {
    fn put(self, arguments: &mut Arguments<'a>) {
        let Gather { ids, sources: Sources { neighbours, walls, inbox, ghosts, links }, action, params } = self;
        let (ghosts, saved) = ghosts.unzip();
        arguments.list(ids);
        neighbours.into_iter().for_each(|neighbours| arguments.read(neighbours));
        inbox.into_iter().for_each(|inbox| inbox.put(arguments));
        ghosts.into_iter().for_each(|ghosts| ghosts.put(arguments));
        walls.into_iter().for_each(|walls| walls.put(arguments));
        links.into_iter().for_each(|links| links.put(arguments));
        saved.into_iter().for_each(|saved| arguments.write(saved));
        let collides = !matches!(action, Action::BringBack { .. });
        match action {
            Action::CollideOut { set } | Action::CollideBack { set } | Action::BringBack { set } => {
                arguments.write(set)
            }
            Action::Collide { src, dst } | Action::ExposeCollide { src, dst } => {
                arguments.read(src);
                arguments.write(dst);
            }
            Action::Expose { populations } => arguments.write(populations),
            Action::CollideAdjoint { src, adjoint, by_members } => {
                arguments.read(src);
                arguments.write(adjoint);
                arguments.write(by_members);
            }
            Action::StepAdjoint { src, arrived, by_groups, adjoint, by_members } => {
                by_groups.into_iter().for_each(|by_groups| by_groups.put(arguments));
                arguments.read(src);
                arguments.read(arrived);
                arguments.write(adjoint);
                arguments.write(by_members);
            }
        }
        if collides {
            arguments.params(params);
        }
    }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::{Arg, ArgType, Real as Precision};

    use super::*;
    use crate::device::{Device, Value};
    use crate::fixture::manifest;

    /// The arrays of all kernels that gather; here that at each position has one more value than it has before it.
    const ARRAYS: [&str; 21] = [
        "ids",
        "neighbours",
        "rows",
        "masks",
        "inbox",
        "sides",
        "wall_rules",
        "wall_values",
        "link_rows",
        "links",
        "distances",
        "saved",
        "src",
        "dst",
        "populations",
        "groups",
        "by_walls",
        "arrived",
        "adjoint",
        "by_members",
        "set",
    ];

    fn len(name: &str) -> usize {
        1 + ARRAYS.iter().position(|other| *other == name).expect("a kernel that gathers takes it")
    }

    #[test]
    fn what_gathers_passes_the_arguments_of_its_role_in_their_order() {
        let device = Device::host(1).unwrap();
        let [ids, neighbours, rows, masks, sides, wall_rules, link_rows, links, groups] =
            ["ids", "neighbours", "rows", "masks", "sides", "wall_rules", "link_rows", "links", "groups"]
                .map(|name| device.ints(&vec![0; len(name)]).unwrap());
        let [inbox, wall_values, distances, mut saved] = ["inbox", "wall_values", "distances", "saved"]
            .map(|name| device.alloc_reals(Precision::F64, len(name)).unwrap());
        let [src, mut dst, mut populations, arrived, mut adjoint, mut set] =
            ["src", "dst", "populations", "arrived", "adjoint", "set"]
                .map(|name| device.alloc_stored(Precision::F64, len(name)).unwrap());
        let [mut by_members, mut by_walls] =
            ["by_members", "by_walls"].map(|name| device.alloc_doubles(len(name)).unwrap());
        let params = Params::new(&manifest(), &[vec![1.0]]);
        for role in Role::ALL {
            let Some((action, of)) = role.gathers() else { continue };
            let kernel = Gather {
                ids: ids.slice(0..1),
                sources: Sources {
                    neighbours: of.neighbours.then_some(&neighbours),
                    walls: of.walls.then_some(Walls { wall_rules: &wall_rules, wall_values: &wall_values }),
                    inbox: of.inbox.then_some(Inbox { rows: &rows, masks: &masks, inbox: &inbox }),
                    ghosts: of.ghosts.then_some((Ghosts { sides: &sides, rows: &rows, first_covered: 0 }, &mut saved)),
                    links: of.links.then_some(Links { link_rows: &link_rows, links: &links, distances: &distances }),
                },
                action: match action {
                    lbm_bundle::Action::Collide => Action::Collide { src: &src, dst: &mut dst },
                    lbm_bundle::Action::ExposeCollide => Action::ExposeCollide { src: &src, dst: &mut dst },
                    lbm_bundle::Action::Expose => Action::Expose { populations: &mut populations },
                    lbm_bundle::Action::CollideOut => Action::CollideOut { set: &mut set },
                    lbm_bundle::Action::CollideBack => Action::CollideBack { set: &mut set },
                    lbm_bundle::Action::BringBack => Action::BringBack { set: &mut set },
                    lbm_bundle::Action::CollideAdjoint => {
                        Action::CollideAdjoint { src: &src, adjoint: &mut adjoint, by_members: &mut by_members }
                    }
                    lbm_bundle::Action::StepAdjoint => Action::StepAdjoint {
                        src: &src,
                        arrived: &arrived,
                        by_groups: of.walls.then_some(ByGroups { groups: &groups, asked: 1, by_walls: &mut by_walls }),
                        adjoint: &mut adjoint,
                        by_members: &mut by_members,
                    },
                },
                params: &params,
            };
            assert_eq!(kernel.role(), *role);
            let arguments = Arguments::of(kernel);
            let passed = |value: &Value<'_>| match value {
                Value::Read(array) | Value::Slice(array, _) => (format!("{array:?}"), false),
                Value::Write(array) | Value::WriteFrom(array, _) | Value::Peer(array) => (format!("{array:?}"), true),
                Value::Int(_) | Value::Struct(_) => (String::new(), false),
            };
            let declared = |Arg { name, ty, .. }: &Arg| match ty {
                ArgType::Int | ArgType::Params => (String::new(), false),
                ArgType::Ints => (format!("{} x i32", len(name)), false),
                _ => (format!("{} x f64", len(name)), ty.is_written()),
            };
            let passed: Vec<_> = arguments.values().iter().map(passed).collect();
            let declared: Vec<_> = role.args(&manifest()).iter().map(declared).collect();
            assert_eq!(passed, declared, "{role:?}");
        }
    }
}
