//! `[faces]`.

use super::params::RawParam;
use super::reader::Reader;
use super::recordings::RawPlayed;
use super::table::{Key, key};
use super::turbulence::RawTurbulence;
use super::values::RawVector;
use crate::case::diag::{Span, Spanned};
use crate::case::formula::Formula;
use crate::case::takes::FACE;
use crate::case::tree::{Entry, Kind, Table};
use crate::case::walls::FACES;

/// Whether a face is called so, or all others.
pub(in crate::case) fn is_face(name: &str) -> bool {
    FACES.contains(&name) || name == "others"
}

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key(
        "faces.left",
        FACE,
        "boundary condition at the lowest x; its parameters are numbers, or formulas of position and time; `patches` are parts of the \
         face with others, and `turbulence` adds eddies to its velocity, which may be a recording: `velocity = { recording = \"channel.lbmplane\" }`",
    ),
    key("faces.right", FACE, "boundary condition at the highest x"),
    key("faces.bottom", FACE, "boundary condition at the lowest y"),
    key("faces.top", FACE, "boundary condition at the highest y"),
    key("faces.back", FACE, "boundary condition at the lowest z"),
    key("faces.front", FACE, "boundary condition at the highest z"),
    key("faces.others", FACE, "boundary condition at the faces not named"),
];

/// What a face is.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawFace {
    pub(in crate::case) rule: Spanned<String>,
    pub(in crate::case) params: Vec<RawParam>,
    pub(in crate::case) turbulence: Option<Spanned<RawTurbulence>>,
    /// A recording that is its velocity, which `params` does not have then.
    pub(in crate::case) played: Option<Spanned<RawPlayed>>,
    pub(in crate::case) patches: Vec<RawPatch>,
}

/// Parameters without a velocity that is a recording.
pub(super) fn given(mut params: Vec<Entry>) -> Vec<Entry> {
    params.retain(|entry| entry.key != "velocity" || !matches!(entry.value.kind, Kind::Table(_)));
    params
}

impl RawFace {
    /// One of which nothing but its rule is said.
    pub(in crate::case) fn of(rule: Spanned<String>) -> RawFace {
        RawFace { rule, params: vec![], turbulence: None, played: None, patches: vec![] }
    }

    /// The recordings that it and its patches take.
    pub(in crate::case) fn played_mut(&mut self) -> impl Iterator<Item = &mut RawPlayed> {
        let of_patches = self.patches.iter_mut().filter_map(|patch| patch.face.played.as_mut());
        self.played.iter_mut().chain(of_patches).map(|played| &mut played.value)
    }

    /// What it is and what its patches are.
    pub(in crate::case) fn all(&self) -> impl Iterator<Item = &RawFace> {
        std::iter::once(self).chain(self.patches.iter().map(|patch| &patch.face))
    }

    /// All formulas of parameters and regions, each with a place that shows it.
    pub(in crate::case) fn formulas(&mut self) -> impl Iterator<Item = (&Span, &mut Formula)> {
        let of_patches = self.patches.iter_mut().flat_map(RawPatch::formulas);
        own_formulas(&mut self.params, &mut self.turbulence).chain(of_patches)
    }
}

/// Those of parameters and of eddies.
fn own_formulas<'a>(
    params: &'a mut [RawParam],
    turbulence: &'a mut Option<Spanned<RawTurbulence>>,
) -> impl Iterator<Item = (&'a Span, &'a mut Formula)> {
    let of_eddies = turbulence.iter_mut().flat_map(|turbulence| turbulence.value.formulas());
    params.iter_mut().flat_map(RawParam::formulas).chain(of_eddies)
}

/// `[faces]`.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawFaces {
    pub(in crate::case) span: Span,
    /// In the order of [`FACES`], with the place of the name.
    pub(in crate::case) named: [Option<Spanned<RawFace>>; 6],
    pub(in crate::case) others: Option<Spanned<RawFace>>,
}

/// A part of a face.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawPatch {
    pub(in crate::case) region: RawRegion,
    pub(in crate::case) span: Span,
    /// Without patches.
    pub(in crate::case) face: RawFace,
}

impl RawPatch {
    /// All formulas of its region and its parameters.
    pub(in crate::case) fn formulas(&mut self) -> impl Iterator<Item = (&Span, &mut Formula)> {
        let region = match &mut self.region {
            RawRegion::Where(formula) => Some((&formula.span, &mut formula.value)),
            _ => None,
        };
        region.into_iter().chain(own_formulas(&mut self.face.params, &mut self.face.turbulence))
    }
}

/// Which part, in m or in cells.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawRegion {
    Box {
        from: RawVector,
        to: RawVector,
    },
    Disc {
        centre: RawVector,
        radius: Spanned<f64>,
    },
    Where(Spanned<Formula>),
    /// What a solid of that name is of the surface in an STL file.
    Solid(Spanned<String>),
}

impl Reader {
    pub(in crate::case) fn faces(&mut self, table: &Table) -> RawFaces {
        RawFaces {
            span: table.span.clone(),
            named: std::array::from_fn(|face| self.face(table, FACES[face])),
            others: self.face(table, "others"),
        }
    }

    fn face(&mut self, table: &Table, name: &str) -> Option<Spanned<RawFace>> {
        let entry = table.get(name)?;
        let face = match &entry.value.kind {
            Kind::Text(rule) => {
                let rule = Spanned { value: rule.clone(), span: entry.value.span.clone() };
                RawFace::of(rule)
            }
            Kind::Table(inner) => {
                if inner.get("rule").is_none() {
                    let key = format!("faces.{name}.rule");
                    let help = String::from("for example `{ rule = \"moving_wall\", velocity = [0.1, 0] }`");
                    return self.missing(&entry.value.span, &key, "the boundary condition", help);
                }
                let is_param = |key: &str| !["rule", "patches", "turbulence"].contains(&key);
                let rest: Vec<_> = inner.entries.iter().filter(|entry| is_param(&entry.key)).cloned().collect();
                let (turbulence, played, patches) = (self.turbulence(inner), self.played(inner), self.patches(inner));
                let params = self.params(&given(rest));
                let face = RawFace::of(self.text(inner, "rule")?);
                RawFace { params, turbulence: turbulence?, played: played?, patches: patches?, ..face }
            }
            _ => {
                let help = String::from(
                    "the name of a boundary condition, or `{ rule = \"...\", ... }` with its \
                                         parameters",
                );
                return self.wrong_type(&entry.value, "a string or a table", help);
            }
        };
        Some(Spanned { value: face, span: entry.span.clone() })
    }
}
