//! Parameters of walls given by formulas of position and time: evaluated on the device before kernels read them.

use std::ops::Range;

use lbm_bundle::formula::Plane;
use lbm_bundle::{Boundary, Manifest};

use crate::device::{Buffer, Device, DeviceError, Double, Int, Real};
use crate::kernels::{self, KernelError, prescribed};
use crate::solver::error::StepError;
use crate::solver::spec::{GridSpec, Varying};

/// A component of a time-dependent parameter of a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Item {
    /// The wall.
    pub(crate) instance: usize,
    /// Index of the component among the values of the wall.
    pub(crate) component: usize,
    /// The number of its formula.
    pub(crate) formula: usize,
    /// The position of the wall, in cells of level 0; arbitrary for a wall that is uniform along its face.
    pub(crate) place: [f64; 3],
    /// Whether the formula is evaluated at the end of a step, as wet-node rules need it. Link-wise rules need the value in the middle of
    /// the step, when populations that have left a cell meet the wall.
    pub(crate) late: bool,
    /// The level of the cells at the wall; `None` for a wall at cells of all levels.
    pub(crate) level: Option<usize>,
}

impl Item {
    /// The items of the wall with the number `instance`.
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
            // The initial values have been checked: the rule has this parameter, with this number of components.
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

/// The items of a grid, on its device.
pub(crate) struct Prescribed {
    kernels: kernels::Prescribed,
    formulas: Buffer<Int>,
    places: Buffer<Double>,
    late: Buffer<Int>,
    entries: Buffer<Int>,
    /// The items of each level, one level after the other.
    lists: Buffer<Int>,
    levels: Vec<Range<usize>>,
    clock: Buffer<Double>,
    /// Windows of recordings, one after the other.
    frames: Buffer<Double>,
    windows: Vec<Window>,
}

/// A recording of which some frames are on the device.
struct Window {
    plane: Plane,
    /// Where its frames begin.
    base: usize,
    loaded: Range<u64>,
}

impl Window {
    /// Puts the frames that these steps read on the device, each in its slot.
    fn load(&mut self, steps: [u64; 2], frames: &mut Buffer<Double>) -> Result<(), StepError> {
        let (slots, length) = (self.plane.slots() as u64, self.plane.length());
        let all = self.plane.shape().frames;
        let needed = if all <= slots { 0..all } else { self.plane.frames_of(steps) };
        for number in needed.clone().filter(|number| !self.loaded.contains(number)) {
            let name = || self.plane.shape().name.clone();
            let frame = self.plane.frame(number).map_err(|why| StepError::Recording { name: name(), why })?;
            let values: Vec<f64> = frame.iter().map(|value| f64::from(*value)).collect();
            frames.write_reals(self.base + (number % slots) as usize * length, &values)?;
        }
        self.loaded = needed;
        Ok(())
    }
}

impl Prescribed {
    /// `None` if no parameter depends on time.
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
        let (mut windows, mut base) = (vec![], 0);
        for plane in kernels.recordings() {
            windows.push(Window { plane: plane.clone(), base, loaded: 0..0 });
            base += plane.slots() * plane.length();
        }
        Ok(Some(Prescribed {
            kernels: kernels.on(device)?,
            formulas: device.ints(&numbers(&|item| item.formula))?,
            places: on_device,
            late: device.ints(&numbers(&|item| usize::from(item.late)))?,
            entries: device.ints(&numbers(&|item| item.instance * manifest.wall_stride as usize + item.component))?,
            lists: device.ints(&lists)?,
            levels: ranges,
            clock: device.alloc_doubles(1)?,
            frames: device.alloc_doubles(base.max(1))?,
            windows,
        }))
    }

    /// Sets the clock to the number of completed steps of level 0.
    pub(crate) fn set_clock(&mut self, step: u64) -> Result<(), DeviceError> {
        self.clock.write_reals(0, &[step as f64])
    }

    /// Reads the frames of recordings that the steps from one to another need.
    pub(crate) fn load(&mut self, steps: [u64; 2]) -> Result<(), StepError> {
        let Prescribed { windows, frames, .. } = self;
        windows.iter_mut().try_for_each(|window| window.load(steps, frames))
    }

    /// Evaluates the items that a step of a level reads, into the values of walls; `half`: the time from the last tick to the middle of the
    /// step, in half steps of the level.
    pub(crate) fn compute(
        &self,
        manifest: &Manifest,
        (level, half): (usize, i32),
        values: &mut Buffer<Real>,
    ) -> Result<(), KernelError> {
        let Prescribed { kernels, formulas, places, late, entries, lists, levels, clock, frames, .. } = self;
        let items = lists.slice(levels[level].clone());
        let level = level as i32;
        kernels.launch(
            manifest,
            prescribed::Prescribe { items, formulas, places, late, entries, clock, frames, level, half, values },
        )
    }

    /// Advances the clock by one step of level 0.
    pub(crate) fn tick(&mut self, manifest: &Manifest) -> Result<(), KernelError> {
        self.kernels.launch(manifest, prescribed::Tick { clock: &mut self.clock })
    }

    /// Whether a level has items.
    pub(crate) fn has(&self, level: usize) -> bool {
        !self.levels[level].is_empty()
    }
}
