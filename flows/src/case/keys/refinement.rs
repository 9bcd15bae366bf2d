//! `[refinement]`.

use super::reader::Reader;
use super::solids::RawSolid;
use super::table::{Key, key};
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::Formula;
use crate::case::takes::{BOXES, COUNT, FORMULA, LEVEL, QUANTITY, TEXT};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key(
        "refinement.finest",
        COUNT,
        "the finest level: its cells and time steps are those of level 0 divided by 2^finest",
    ),
    key("refinement.level", FORMULA, "target level: a formula of position"),
    key(
        "refinement.criterion",
        TEXT,
        "refinement criterion: vorticity, q, velocity_gradient, density_gradient, a criterion of the spec, or a formula \
         of fields, position and time",
    ),
    key(
        "refinement.threshold",
        FORMULA,
        "value of the criterion from which on the target level is the finest: a number, or a formula of the time",
    ),
    key("refinement.ratio", QUANTITY, "ratio of the thresholds of successive levels; default: 2"),
    key(
        "refinement.y_plus",
        QUANTITY,
        "y+ above which walls at faces are refined: of half a cell, with a law of the wall of the height at which it applies",
    ),
    key("refinement.hysteresis", QUANTITY, "fraction of its threshold below which a level is coarsened; default: 0.5"),
    key(
        "refinement.every",
        COUNT,
        "time steps of level 0 between changes of the grid, which follows the criterion and moving solids",
    ),
    key("refinement.pinned", BOXES, "boxes whose blocks do not change: { from = [0, 0], to = [16, 16] }"),
    key("refinement.coarsest", LEVEL, "the coarsest level that the grid may have; default: 0"),
    key(
        "refinement.memory",
        TEXT,
        "memory that the grid may take on each device: \"8 GiB\"; default: most of the device's memory",
    ),
    key("refinement.boxes", BOXES, "boxes with a target level: { level = 1, from = [0, 0], to = [16, 16] }"),
    key("refinement.coupling", TEXT, "coupling at refinement interfaces; default: volumetric_shifted"),
];

/// Levels beyond the coarsest that a case may have: a block of the finest is then still numbered with 32 bits.
const MOST_LEVELS: f64 = (lbm_runtime::mesh::forest::LEVELS - 1) as f64;

/// `[refinement]`.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawRefinement {
    pub(in crate::case) span: Span,
    pub(in crate::case) finest: Spanned<f64>,
    pub(in crate::case) coarsest: Option<Spanned<f64>>,
    pub(in crate::case) level: Option<Spanned<Formula>>,
    pub(in crate::case) boxes: Vec<Spanned<RawBox>>,
    pub(in crate::case) coupling: Option<Spanned<String>>,
    pub(in crate::case) memory: Option<usize>,
    pub(in crate::case) follow: Option<RawFollow>,
}

/// What the grid of `[refinement]` follows.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawFollow {
    /// Besides solids that move.
    pub(in crate::case) indicator: Option<RawIndicator>,
    /// And walls.
    pub(in crate::case) y_plus: Option<RawYPlus>,
    pub(in crate::case) every: u64,
    pub(in crate::case) pinned: Vec<Spanned<RawBox>>,
}

/// What of the flow the grid follows.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawIndicator {
    pub(in crate::case) criterion: Spanned<String>,
    /// The same as a formula, which it is unless the method has a criterion of that name.
    pub(in crate::case) formula: Formula,
    /// A number, or a formula of the time.
    pub(in crate::case) threshold: Spanned<Formula>,
    pub(in crate::case) ratio: f64,
    pub(in crate::case) hysteresis: f64,
}

/// By which y+ walls are refined.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawYPlus {
    pub(in crate::case) bound: Spanned<f64>,
    pub(in crate::case) hysteresis: f64,
}

/// A box of `[refinement]`, in m or in cells.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawBox {
    /// None for a box of pinned blocks.
    pub(in crate::case) level: Option<Spanned<f64>>,
    pub(in crate::case) from: Spanned<Vec<Spanned<f64>>>,
    pub(in crate::case) to: Spanned<Vec<Spanned<f64>>>,
}

impl Reader {
    pub(in crate::case) fn refinement(
        &mut self,
        table: &Table,
        solids: Option<&[Spanned<RawSolid>]>,
    ) -> Option<RawRefinement> {
        let finest = self.finest(table);
        if table.get("finest").is_none() {
            let help = String::from("for example `finest = 2`, for cells of a quarter of the coarsest ones");
            self.missing::<()>(&table.span, "refinement.finest", "the finest level", help);
        }
        if ["level", "boxes", "criterion", "y_plus"].iter().all(|key| table.get(key).is_none()) && solids.is_none() {
            let help = String::from(
                "`level = \"2 - x / 8\"`, `boxes = [{ level = 1, from = [0, 0], to = [16, 16] }]`, or `criterion = \"vorticity\"`",
            );
            self.missing::<()>(&table.span, "refinement.level", "where to refine", help);
        }
        let level = table.get("level").and_then(|entry| {
            let value = self.formula(&entry.value, Dimension::NUMBER)?;
            Some(Spanned { value, span: entry.value.span.clone() })
        });
        let boxes = self.boxes(table, "boxes", true)?;
        let coupling = self.text(table, "coupling");
        let coarsest = table.get("coarsest").and_then(|entry| match entry.value.kind {
            Kind::Integer(level @ 0..) => Some(Spanned { value: level as f64, span: entry.value.span.clone() }),
            _ => self.wrong_type(&entry.value, "a level", String::from("write `coarsest = 0`")),
        });
        let memory = self.bytes(table, "memory", "no amount of memory").map(|bytes| bytes as usize);
        let moves = solids.is_some_and(|solids| solids.iter().any(|solid| solid.value.motion.is_some()));
        let follow = self.follow(table, moves);
        Some(RawRefinement {
            span: table.span.clone(),
            finest: finest?,
            coarsest,
            level,
            boxes,
            coupling,
            memory,
            follow,
        })
    }

    fn finest(&mut self, table: &Table) -> Option<Spanned<f64>> {
        let finest = self.count(table, "finest")?;
        if finest.value > MOST_LEVELS {
            let message = format!("{} levels beyond the coarsest are more than {MOST_LEVELS}", finest.value);
            return self.report.add(diag::BAD_VALUE, &finest.span, message, "too many", None);
        }
        Some(finest)
    }

    /// What the grid follows while it changes; `moves`: whether solids do.
    fn follow(&mut self, table: &Table, moves: bool) -> Option<RawFollow> {
        let [has_criterion, has_y_plus] = ["criterion", "y_plus"].map(|key| table.get(key).is_some());
        let follows_solids = moves && table.get("every").is_some();
        if has_y_plus && !has_criterion {
            for key in ["threshold", "ratio"] {
                if let Some(entry) = table.get(key) {
                    self.no_effect(&entry.span, key, " without `criterion`", None);
                }
            }
        } else if !has_criterion {
            let (of_follow, help) = match (follows_solids, moves) {
                (true, _) => (&[][..], "it belongs to `criterion`: without one the grid follows the solids alone"),
                (_, true) => {
                    (&["pinned"][..], "it belongs to `criterion`, or to `every`: without them the grid does not change")
                }
                _ => (&["every", "pinned"][..], "it belongs to `criterion`: without one the grid does not change"),
            };
            for key in ["threshold", "ratio", "hysteresis"].iter().chain(of_follow) {
                if let Some(entry) = table.get(key) {
                    self.no_effect(&entry.span, key, " without `criterion`", Some(help.to_string()));
                }
            }
            if !follows_solids {
                return None;
            }
        }
        let indicator = if has_criterion { Some(self.indicator(table)?) } else { None };
        if table.get("every").is_none() {
            let help = String::from("for example `every = 32`");
            self.missing::<()>(&table.span, "refinement.every", "steps between two changes of the grid", help);
        }
        let y_plus = if has_y_plus { Some(self.y_plus(table)?) } else { None };
        let every = self.count(table, "every");
        let pinned = self.boxes(table, "pinned", false)?;
        Some(RawFollow { indicator, y_plus, every: every?.value as u64, pinned })
    }

    /// What of the flow it follows.
    fn indicator(&mut self, table: &Table) -> Option<RawIndicator> {
        let entry = table.get("criterion")?;
        let criterion = self.text(table, "criterion")?;
        let formula = match Formula::parse_with_names(&criterion.value) {
            Ok(formula) => formula,
            Err(error) => return self.no_formula(&entry.value, &criterion.value, error),
        };
        let ratio = match table.get("ratio") {
            None => Some(2.0),
            Some(_) => Some(self.positive(table, "ratio", Dimension::NUMBER)?.value),
        };
        if let (Some(entry), Some(..=1.0)) = (table.get("ratio"), ratio) {
            let why = "coarser levels have lower thresholds: it must be above 1";
            self.report.add::<()>(diag::BAD_VALUE, &entry.value.span, why, "out of range", None);
        }
        let hysteresis = self.hysteresis(table);
        let threshold = match table.get("threshold") {
            None => {
                let what = "the value of the criterion from which on the target level is the finest";
                let help = "for example `threshold = 2`".to_string();
                self.missing(&table.span, "refinement.threshold", what, help)
            }
            Some(entry) => {
                let formula = match &entry.value.kind {
                    Kind::Text(_) => {
                        self.timed_formula(&entry.value, Some(Dimension::NUMBER)).map(|(formula, _)| formula)
                    }
                    _ => {
                        self.positive(table, "threshold", Dimension::NUMBER).map(|number| Formula::number(number.value))
                    }
                };
                formula.map(|value| Spanned { value, span: entry.value.span.clone() })
            }
        };
        Some(RawIndicator { criterion, formula, threshold: threshold?, ratio: ratio?, hysteresis: hysteresis? })
    }

    /// By which y+ it refines walls.
    fn y_plus(&mut self, table: &Table) -> Option<RawYPlus> {
        let bound = self.positive(table, "y_plus", Dimension::NUMBER);
        let hysteresis = self.hysteresis(table);
        Some(RawYPlus { bound: bound?, hysteresis: hysteresis? })
    }

    /// The share of a threshold below which a level is given up.
    fn hysteresis(&mut self, table: &Table) -> Option<f64> {
        let Some(entry) = table.get("hysteresis") else { return Some(0.5) };
        let share = self.positive(table, "hysteresis", Dimension::NUMBER)?.value;
        if share > 1.0 {
            let why = "a level is coarsened below its threshold: it must be 1 at most";
            return self.report.add(diag::BAD_VALUE, &entry.value.span, why, "out of range", None);
        }
        Some(share)
    }

    fn boxes(&mut self, table: &Table, key: &str, with_level: bool) -> Option<Vec<Spanned<RawBox>>> {
        match table.get(key).map(|entry| &entry.value) {
            None => Some(Vec::new()),
            Some(Value { kind: Kind::List(list), .. }) => {
                Some(list.iter().filter_map(|value| self.refined(value, with_level)).collect())
            }
            Some(value) => {
                let level = if with_level { "level = 1, " } else { "" };
                self.wrong_type(value, "a list", format!("write `{key} = [{{ {level}from = [0, 0], to = [16, 16] }}]`"))
            }
        }
    }

    fn refined(&mut self, value: &Value, with_level: bool) -> Option<Spanned<RawBox>> {
        let level = if with_level { "level = 1, " } else { "" };
        let example = format!("for example `{{ {level}from = [0, 0], to = [16, 16] }}`");
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        let known = if with_level { &["level", "from", "to"][..] } else { &["from", "to"] };
        self.only_keys(table, known, "a box")?;
        if let Some(key) = known.iter().find(|key| table.get(key).is_none()) {
            return self.missing(
                &value.span,
                key,
                if with_level { "a box has a level and two corners" } else { "a box has two corners" },
                example,
            );
        }
        let (level, from, to) = (self.count(table, "level"), self.lengths(table, "from"), self.lengths(table, "to"));
        let level = if with_level { Some(level?) } else { None };
        Some(Spanned { value: RawBox { level, from: from?, to: to? }, span: value.span.clone() })
    }
}
