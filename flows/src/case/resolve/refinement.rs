//! Refined regions against the domain, and the finest level against the method.

use lbm_bundle::Boundary;
use lbm_bundle::criteria::{self, Variable};

use super::resolver::{Grid, Resolver, Values, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::Formula;
use crate::case::keys::faces::RawFace;
use crate::case::keys::refinement::{RawBox, RawFollow, RawIndicator, RawYPlus};
use crate::case::refinement::{COUPLING, Follow, Indicator, RefinedBox, Refinement};
use crate::case::resolved::Scales;
use crate::case::stop::Stop;
use crate::case::units::{Dimension, Units};
use crate::case::walls::{FACES, Face, Wall};

/// Times after the first at which a threshold is looked at.
const TIMES: usize = 64;
/// Most places at which a target level is looked at.
const MOST_PLACES: usize = 1 << 20;

/// The first centre of a cell of level 0 where a formula is not finite, and its value there: of all cells, or of every so many of a large grid.
fn undefined(formula: &Formula, size: [usize; 3]) -> Option<([f64; 3], f64)> {
    let cells: usize = size.iter().product();
    let centre =
        |cell: usize| [cell % size[0], cell / size[0] % size[1], cell / (size[0] * size[1])].map(|at| at as f64 + 0.5);
    let values = (0..cells).step_by(cells.div_ceil(MOST_PLACES).max(1)).map(centre).map(|at| (at, formula.at(at, 0.0)));
    values.into_iter().find(|(_, value)| !value.is_finite())
}

impl Resolver<'_> {
    /// Where the case is refined; `cell` is the size of a cell in the units of the case.
    pub(super) fn refinement(
        &mut self,
        Grid { size, cell }: Grid,
        params: Option<&Values>,
        scales: &Scales,
        units: &Units,
        walls: &[Wall],
    ) -> Option<Refinement> {
        let raw = self.raw.refinement.as_ref()?;
        let finest = &raw.finest;
        if let Some(level) = &raw.level
            && let Some(name) = level.value.beyond(self.dim)
        {
            let message = format!("{} has {} axes, and no `{name}`", self.manifest.main().lattice, self.dim);
            return self.report.add(diag::WRONG_DIMENSION, &level.span, message, "no such axis", None);
        }
        let level = raw.level.as_ref().map(|level| level.value.on(size, cell));
        if let (Some(formula), Some(given)) = (&level, &raw.level)
            && let Some((at, value)) = undefined(formula, size)
        {
            let places = at[..self.dim].iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            let message =
                format!("`level` is {} at ({places}) in cells", if value.is_nan() { "no number" } else { "infinite" });
            let help = "a target level is a finite number at the centre of every cell: see what is divided by 0 there, or has no root"
                .to_string();
            return self.report.add(diag::BAD_VALUE, &given.span, message, "not finite", help);
        }
        let boxes: Vec<Option<RefinedBox>> =
            raw.boxes.iter().map(|given| self.refined_box(given, finest.value, size, cell)).collect();
        let boxes = boxes.into_iter().collect::<Option<Vec<_>>>()?;
        if let Some(coarsest) = raw.coarsest.as_ref().filter(|coarsest| coarsest.value >= finest.value) {
            let message = format!("level {} is not coarser than the finest, {}", coarsest.value, finest.value);
            return self.report.add(diag::BAD_VALUE, &coarsest.span, message, "too fine", None);
        }
        let follow = match &raw.follow {
            None => None,
            Some(follow) => Some(self.follow(follow, finest.value as usize, (size, cell), (scales, units), walls)?),
        };
        let follows = follow.is_some();
        let refinement = Refinement {
            coarsest: raw.coarsest.as_ref().map_or(0, |level| level.value as usize),
            memory: raw.memory,
            follow,
            finest: finest.value as usize,
            level,
            boxes,
            coupling: raw.coupling.as_ref().map_or(COUPLING, |name| &name.value).to_string(),
        };
        let block = self.manifest.block.map(|cells| cells as usize);
        let count: [usize; 3] = std::array::from_fn(|axis| size[axis].div_ceil(block[axis].max(1)));
        let refines = |at: usize| {
            let place = [at % count[0], at / count[0] % count[1], at / (count[0] * count[1])];
            refinement.refines(lbm_runtime::geometry::Block { level: 0, place }, block)
        };
        let told = !follows && refinement.coarsest == 0 && self.raw.solids.is_empty();
        if told && !(0..count.iter().product()).any(refines) {
            let message = "no block of the coarsest level is refined";
            let help = "a block is refined where `level` is 1 or more at the centre of one of its cells".to_string();
            self.report.add::<()>(diag::NO_LEVELS, &raw.span, message, "refines nothing", help);
        }
        self.rates_of_levels(finest, params);
        self.vectors_of_levels(&raw.span, params);
        Some(refinement)
    }

    /// Warns of faces that are not on one level and have a wet-node boundary condition that gives values: the nodes lie elsewhere on each level.
    pub(super) fn nodes_of_levels(
        &mut self,
        faces: &[Option<Spanned<RawFace>>; 6],
        refinement: Option<&Refinement>,
        size: [usize; 3],
    ) {
        let Some(refinement) = refinement else { return };
        let block = self.manifest.block.map(|cells| cells as usize);
        for (at, face) in faces.iter().enumerate() {
            let Some(Spanned { value: RawFace { rule, .. }, .. }) = face else { continue };
            let is_rule = |known: &&Boundary| known.name == rule.value && known.nodes && !known.params.is_empty();
            if !self.manifest.boundaries.iter().any(|known| is_rule(&known)) {
                continue;
            }
            let may = refinement.follow.is_some() && refinement.coarsest < refinement.finest;
            if may || !refinement.has_one_level(Face { axis: at / 2, high: at % 2 == 1 }, size, block) {
                let (name, how) = (FACES[at], if may { "may be" } else { "is" });
                let message = format!(
                    "the face `{name}` {how} on several levels, and the wall of `{}` lies elsewhere on each",
                    rule.value
                );
                let help = "take a link-wise boundary condition (`moving_wall`, `anti_bounce_back`, `bounce_back`), or \
                            put the face on one level";
                self.report.add::<()>(
                    diag::NODES_OF_LEVELS,
                    &rule.span,
                    message,
                    "a wet-node boundary condition",
                    help.to_string(),
                );
            }
        }
    }

    fn refined_box(&mut self, given: &Spanned<RawBox>, finest: f64, size: [usize; 3], cell: f64) -> Option<RefinedBox> {
        let level = given.value.level.as_ref()?;
        if level.value > finest {
            let message = format!("level {} is finer than the finest, {finest}", level.value);
            let help = format!("raise `finest` to {}", level.value);
            return self.report.add(diag::BAD_VALUE, &level.span, message, "too fine", help);
        }
        let (from, to) = self.corners(given, size, cell)?;
        Some(RefinedBox { level: level.value as usize, from, to })
    }

    /// The corners of a box, in cells; both 0 beyond the dimension.
    fn corners(&mut self, given: &Spanned<RawBox>, size: [usize; 3], cell: f64) -> Option<([f64; 3], [f64; 3])> {
        let RawBox { from, to, .. } = &given.value;
        for corner in [from, to] {
            if corner.value.len() != self.dim {
                self.wrong_dimension(&corner.span, "a corner of a box", corner.value.len());
                return None;
            }
        }
        let place = |corner: &Spanned<Vec<Spanned<f64>>>| -> [f64; 3] {
            std::array::from_fn(|axis| corner.value.get(axis).map_or(0.0, |at| at.value / cell))
        };
        let (from, to) = (place(from), place(to));
        let wrong = (0..self.dim)
            .find(|axis| !(from[*axis] < to[*axis] && from[*axis] < size[*axis] as f64 && to[*axis] > 0.0));
        if let Some(axis) = wrong {
            let message = format!(
                "the box has no cell of the domain: along {} it goes from {} to {} cells, the domain from 0 to {}",
                super::resolver::axis_name(axis),
                short(from[axis]),
                short(to[axis]),
                size[axis]
            );
            return self.report.add(diag::OUTSIDE, &given.span, message, "outside", None);
        }
        Some((from, to))
    }

    /// What the grid follows.
    fn follow(
        &mut self,
        raw: &RawFollow,
        finest: usize,
        (size, cell): ([usize; 3], f64),
        (scales, units): (&Scales, &Units),
        walls: &[Wall],
    ) -> Option<Follow> {
        let mut indicators = vec![];
        if let Some(indicator) = &raw.indicator {
            indicators.push(self.indicator(indicator, finest, size, scales, units)?);
        }
        if let Some(y_plus) = &raw.y_plus {
            indicators.push(self.y_plus(y_plus, finest, size, scales, walls)?);
        }
        let pinned: Vec<_> = raw.pinned.iter().map(|given| self.corners(given, size, cell)).collect();
        Some(Follow { indicators, every: raw.every, pinned: pinned.into_iter().collect::<Option<_>>()? })
    }

    /// What of the flow the grid follows. Criteria of the method are measured in the case's reference velocity and length, formulas of the case
    /// in cells and steps of level 0.
    fn indicator(
        &mut self,
        raw: &RawIndicator,
        finest: usize,
        size: [usize; 3],
        scales: &Scales,
        units: &Units,
    ) -> Option<Indicator> {
        let variables = criteria::variables(self.dim, &self.manifest.component_names());
        let named = self.manifest.criteria.iter().find(|criterion| criterion.name == raw.criterion.value);
        let (formula, unit) = match named {
            None => (raw.formula.clone(), 1.0),
            Some(criterion) => {
                let (time, unit) = (scales.length / scales.velocity, criterion.unit);
                let unit = scales.length.powi(unit.length) * time.powi(unit.time);
                if !(unit.is_finite() && unit > 0.0) {
                    let message =
                        format!("`{}` is measured in the reference velocity over the reference length", criterion.name);
                    let help = "give `fluid.velocity`; nothing else of the case has a velocity".to_string();
                    return self.report.add(diag::MISSING_KEY, &raw.criterion.span, message, "no unit for it", help);
                }
                (Formula::from(criterion.formula.clone()), unit)
            }
        };
        let formula = formula.on(size, 1.0);
        if let Some(error) = formula.unknown(&|name| variables.contains_key(name)) {
            let is_field =
                |variable: &Variable| !matches!(variable, Variable::Position(_) | Variable::Width | Variable::Time);
            let fields = variables.iter().filter(|(_, variable)| is_field(variable));
            let fields: Vec<&str> = fields.map(|(name, _)| name.as_str()).collect();
            let help = format!("{}; fields of the method: {}", error.help, fields.join(", "));
            return self.report.add(diag::FORMULA, &raw.criterion.span, error.message, error.label, help);
        }
        if let Some(value) = formula.constant().filter(|value| !value.is_finite()) {
            let message = format!("the criterion is {value} everywhere");
            let help = "a criterion is a finite number that depends on the flow: `criterion = \"abs(dx_uy - dy_ux)\"`"
                .to_string();
            return self.report.add(diag::BAD_VALUE, &raw.criterion.span, message, "not finite", help);
        }
        let mut levels = self.raw.solids.iter().filter_map(|solid| solid.value.level.as_ref());
        if let Some(level) = levels.find(|level| level.value < finest as f64) {
            let message = format!("a solid on level {}, where the grid changes up to level {finest}", level.value);
            let help = "leave `level` out: the criterion would refine its surface".to_string();
            return self.report.add(diag::BAD_VALUE, &level.span, message, "coarser than the finest", help);
        }
        let (formula, threshold) = self.threshold(raw, formula, size, units)?;
        let thresholds: Vec<f64> =
            (1..=finest).map(|level| threshold * unit / raw.ratio.powi((finest - level) as i32)).collect();
        Some(Indicator { formula, thresholds, hysteresis: raw.hysteresis })
    }

    /// What refines walls at faces by their y+. The friction is that of the velocity in the cells at the wall, so y+ is known before a
    /// level is there: half as large as that of the next coarser one.
    fn y_plus(
        &mut self,
        raw: &RawYPlus,
        finest: usize,
        size: [usize; 3],
        scales: &Scales,
        walls: &[Wall],
    ) -> Option<Indicator> {
        let span = &raw.bound.span;
        let Some(viscosity) = scales.viscosity.filter(|viscosity| *viscosity > 0.0) else {
            let message = "y+ is not known where the viscosity is not one number".to_string();
            let help = "give `criterion` a formula that refines the walls".to_string();
            return self.report.add(diag::BAD_VALUE, span, message, "no viscosity", help);
        };
        let known = self.manifest.component_names();
        let names = &["ux", "uy", "uz"][..self.dim];
        let of_wall = |wall: &Wall| wall.y_plus_of_level_0(size, names, viscosity);
        let found: Vec<String> = walls.iter().filter_map(of_wall).collect();
        let has_velocity = names.iter().all(|name| known.iter().any(|known| known == name));
        let text = found.into_iter().reduce(|all, wall| format!("max({all}, {wall})"));
        let Some(text) = text.filter(|_| has_velocity) else {
            let message = "no face is a wall whose y+ is known".to_string();
            let help = "y+ is that of faces to which the fluid sticks, at rest or with one velocity, or which have a `wall_function`; surfaces \
                        of solids have the level of `solids.level`"
                .to_string();
            return self.report.add(diag::BAD_VALUE, span, message, "of no wall", help);
        };
        let formula = Formula::parse_with_names(&text).expect("a formula of numbers and names that are known");
        let thresholds = (0..finest).map(|level| raw.bound.value * 2f64.powi(level as i32)).collect();
        Some(Indicator { formula, thresholds, hysteresis: raw.hysteresis })
    }

    /// The threshold of the finest level, and what is compared with it: where the threshold depends on time, the criterion over it with 1.
    fn threshold(
        &mut self,
        raw: &RawIndicator,
        criterion: Formula,
        size: [usize; 3],
        units: &Units,
    ) -> Option<(Formula, f64)> {
        let Spanned { value: threshold, span } = &raw.threshold;
        if threshold.varies_in_place() {
            let message = "a threshold depends on the time alone";
            let help =
                "put the position into the criterion: `criterion = \"abs(dx_uy - dy_ux) * (1 - x / lx)\"`".to_string();
            return self.report.add(diag::FORMULA, span, message, "depends on the position", help);
        }
        let threshold = threshold.on(size, 1.0).in_steps(units.scale(Dimension::TIME));
        let steps = Stop::new(&self.raw.stop, units).steps as f64;
        let at = |number: usize| threshold.at([0.0; 3], steps * number as f64 / TIMES as f64);
        if let Some(wrong) = (0..=TIMES).map(at).find(|value| !(value.is_finite() && *value > 0.0)) {
            let message = format!("the threshold must be positive, and is {}", short(wrong));
            return self.report.add(diag::BAD_VALUE, span, message, "not positive", None);
        }
        match threshold.constant() {
            Some(number) => Some((criterion, number)),
            None => Some((criterion.over_formula(&threshold), 1.0)),
        }
    }

    /// Refuses vectors of which nothing says how they change between levels, whose cells and steps are smaller. Numbers without
    /// a rule are taken for pure ones.
    fn vectors_of_levels(&mut self, span: &Span, params: Option<&Values>) {
        let unit = |name: &str| self.manifest.params.iter().find(|param| param.name == name)?.unit;
        let vectors = params.into_iter().flatten().filter(|(name, values)| values.len() > 1 && unit(name).is_none());
        let moving = vectors.filter(|(_, values)| values.iter().any(|value| *value != 0.0));
        for name in moving.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            let message = format!(
                "`{name}` has no unit, so its value on finer levels, with smaller cells and steps, is \
                                   unknown"
            );
            let help = format!(
                "declare its unit in the spec, such as `param {name}[a]: length / time^2;` for a force on a cell; or \
                 take one level, or make it zero"
            );
            self.report.add::<()>(diag::METHOD_PARAMETER, span, message, "several levels", help);
        }
    }

    /// Refuses a finest level on which a parameter would leave its range.
    fn rates_of_levels(&mut self, finest: &Spanned<f64>, params: Option<&Values>) {
        let (Some(_), Some(params)) = (&self.manifest.coupling, params) else { return };
        let mut values: Vec<Vec<f64>> = params.iter().map(|(_, values)| values.clone()).collect();
        for level in 1..=finest.value as usize {
            values = self.manifest.finer(&values);
            for (param, values) in self.manifest.params.iter().zip(&values) {
                let leaves = |value: &&f64| param.range.is_some_and(|(low, high)| !(**value > low && **value < high));
                if let Some(value) = values.iter().find(leaves) {
                    let message = format!("`{}` would be {} on level {level}", param.name, short(*value));
                    let help = "take fewer levels, or another viscosity".to_string();
                    return self
                        .report
                        .add::<()>(diag::RATE_OUT_OF_RANGE, &finest.span, message, "too fine for this rate", help)
                        .unwrap_or_default();
                }
            }
        }
    }
}
