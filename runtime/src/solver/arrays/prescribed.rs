//! Parameters of walls that formulas of place and time give: computed on the device before what reads them.

use std::ops::Range;

use lbm_bundle::{Boundary, Manifest};

use crate::device::{Buffer, Device, DeviceError, Double, Int, Real};
use crate::kernels::{self, KernelError, prescribed};
use crate::solver::error::StepError;
use crate::solver::spec::{GridSpec, Varying};

/// A component of a parameter of a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Item {
    /// The wall.
    pub(crate) instance: usize,
    /// Where the component is among the wall's values.
    pub(crate) component: usize,
    /// Number of its formula.
    pub(crate) formula: usize,
    /// Where the wall is, in cells of level 0; anywhere for one that is the same all along its face.
    pub(crate) place: [f64; 3],
    /// Whether its value is that at the end of a step, as rules of nodes take it; link-wise ones take that in the middle, when what has
    /// left a cell meets the wall.
    pub(crate) late: bool,
    /// The level whose cells it is at, if that is one.
    pub(crate) level: Option<usize>,
}

impl Item {
    /// What formulas give of a wall, which has the number `instance`.
    pub(crate) fn of_wall(
        spec: &GridSpec,
        varying: &Varying,
        rule: &Boundary,
        instance: usize,
        (place, level): ([f64; 3], Option<usize>),
    ) -> Result<Vec<Item>, StepError> {
        let formulas = spec.prescribed.as_ref().map_or(0, kernels::Prescribed::formulas);
        let mut items = vec![];
        for (name, numbers) in &varying.timed {
            if let Some(missing) = numbers.iter().find(|number| **number >= formulas) {
                return Err(StepError::NoFormula { rule: rule.name.clone(), name: name.clone(), number: *missing });
            }
            // That the rule has such a parameter, and of how many components, has been checked with its first values.
            let before = rule.params.iter().take_while(|param| param.name != *name);
            let first: u32 = before.map(|param| param.components).sum();
            items.extend(numbers.iter().enumerate().map(|(at, formula)| Item {
                instance,
                component: first as usize + at,
                formula: *formula,
                place,
                late: rule.nodes,
                level,
            }));
        }
        Ok(items)
    }
}

/// The items of a grid on its device.
pub(crate) struct Prescribed {
    kernels: kernels::Prescribed,
    formulas: Buffer<Int>,
    places: Buffer<Double>,
    late: Buffer<Int>,
    entries: Buffer<Int>,
    /// Those of each level, one level after the other.
    lists: Buffer<Int>,
    levels: Vec<Range<usize>>,
    clock: Buffer<Double>,
}

impl Prescribed {
    /// None where nothing depends on time.
    pub(crate) fn new(
        device: &Device,
        manifest: &Manifest,
        spec: &GridSpec,
        items: &[Item],
        levels: usize,
    ) -> Result<Option<Prescribed>, StepError> {
        let Some(kernels) = spec.prescribed.clone().filter(|_| !items.is_empty()) else { return Ok(None) };
        let numbers = |of: &dyn Fn(&Item) -> usize| -> Vec<i32> { items.iter().map(|item| of(item) as i32).collect() };
        let (mut lists, mut ranges) = (vec![], vec![]);
        for level in 0..levels {
            let first = lists.len();
            let is_of = |item: &Item| item.level.is_none_or(|of| of == level);
            lists.extend((0..items.len()).filter(|at| is_of(&items[*at])).map(|at| at as i32));
            ranges.push(first..lists.len());
        }
        let places: Vec<f64> = items.iter().flat_map(|item| item.place).collect();
        let mut on_device = device.alloc_doubles(places.len())?;
        on_device.write_reals(0, &places)?;
        Ok(Some(Prescribed {
            kernels: kernels.on(device)?,
            formulas: device.ints(&numbers(&|item| item.formula))?,
            places: on_device,
            late: device.ints(&numbers(&|item| usize::from(item.late)))?,
            entries: device.ints(&numbers(&|item| item.instance * manifest.wall_stride as usize + item.component))?,
            lists: device.ints(&lists)?,
            levels: ranges,
            clock: device.alloc_doubles(1)?,
        }))
    }

    /// Sets the clock: how many steps of level 0 are done.
    pub(crate) fn set_clock(&mut self, step: u64) -> Result<(), DeviceError> {
        self.clock.write_reals(0, &[step as f64])
    }

    /// Computes what a step of a level reads into the values of walls; `half`: halves of its steps from the last tick to its middle.
    pub(crate) fn compute(
        &self,
        manifest: &Manifest,
        (level, half): (usize, i32),
        values: &mut Buffer<Real>,
    ) -> Result<(), KernelError> {
        let Prescribed { kernels, formulas, places, late, entries, lists, levels, clock } = self;
        let items = lists.part(levels[level].clone());
        let level = level as i32;
        kernels.launch(
            manifest,
            prescribed::Prescribe { items, formulas, places, late, entries, clock, level, half, values },
        )
    }

    /// A step of level 0 is done.
    pub(crate) fn tick(&mut self, manifest: &Manifest) -> Result<(), KernelError> {
        self.kernels.launch(manifest, prescribed::Tick { clock: &mut self.clock })
    }

    /// Whether a level has any.
    pub(crate) fn has(&self, level: usize) -> bool {
        !self.levels[level].is_empty()
    }
}
