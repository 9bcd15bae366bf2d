//! A simulation: a method's kernels on a grid, advanced step by step.
//!
//! One step is two phases, `stream_collide` on blocks away from walls and `stream_collide_walls` on the others; both read
//! one set of post-collision populations and write the other. Fields are moments of the current set: collision conserves
//! them, so before and after are the same.
//!
//! On a GPU pairs of steps are recorded once and repeated, which spares small grids the cost of launching.

mod error;
mod setup;
mod stress;
mod timing;

use lbm_bundle::{Bundle, Manifest, Populations, Role};

pub use error::StepError;
pub use setup::{FaceSpec, GridSpec, WallSpec};
pub use timing::{Phase, Timings};

use crate::device::{Device, Graph};
use crate::fields::{self, Fields};
use crate::kernels::{Given, Program};
use crate::layout::Layout;
use crate::mesh::{Grid, Tables};
use crate::observe::{Conserved, Sum};
use crate::snapshot::Snapshot;
use setup::{Params, Walls};

/// Pairs of steps in a recording: enough that launching it costs little per step.
const PAIRS_RECORDED: u64 = 8;

/// A method on a grid.
pub struct Simulation {
    program: Program,
    grid: Grid,
    tables: Tables,
    walls: Walls,
    fields: Fields,
    params: Params,
    /// Which of the two sets of populations is current.
    current: usize,
    step: u64,
    recording: Option<Graph>,
    timings: Timings,
}

impl Simulation {
    /// Loads the kernels and allocates the grid. `params` gives each parameter of the method all its components.
    pub fn new(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
    ) -> Result<Self, StepError> {
        let params = Params::new(&bundle.manifest, params)?;
        let (faces, instances) = setup::faces(&bundle.manifest, spec)?;
        let grid = Grid::new(&bundle.manifest, spec.size, faces)?;
        let program = Program::load(device, bundle)?;
        let fields = Fields::new(device, &bundle.manifest, &grid)?;
        let tables = Tables::new(device, &grid)?;
        let walls = Walls::new(device, &bundle.manifest, &instances)?;
        Ok(Simulation {
            program,
            grid,
            tables,
            walls,
            fields,
            params,
            current: 0,
            step: 0,
            recording: None,
            timings: Timings::default(),
        })
    }

    /// Sets the fields of every cell and starts at step 0. `value(cell, out)` writes the components of all fields, in the
    /// order of the manifest (`rho, ux, uy, uz`), for the cell with its centre at `cell + 1/2`.
    pub fn init(&mut self, value: impl Fn([usize; 3], &mut [f64]) + Sync) -> Result<(), StepError> {
        let layout = Layout::fields(self.manifest());
        fields::scatter(&mut self.fields.macroscopic, layout, &self.grid, value)?;
        let count = self.grid.slots();
        let given = vec![
            ("ids", Given::Read(&self.tables.all)),
            ("count", Given::Int(count as i32)),
            ("fields", Given::Read(&self.fields.macroscopic)),
            ("dst", Given::Write(&mut self.fields.populations[self.current])),
        ];
        launch(&self.program, Role::Init, count, given, &self.params)?;
        self.step = 0;
        Ok(())
    }

    /// Sets the fields from a snapshot of the same size and starts at its step.
    pub fn init_fields(&mut self, snapshot: &Snapshot) -> Result<(), StepError> {
        let names = fields::component_names(self.manifest());
        if snapshot.size != self.grid.size() {
            return Err(StepError::SnapshotSize { found: snapshot.size, wanted: self.grid.size() });
        }
        let data = names
            .iter()
            .map(|name| {
                let found = snapshot.get(name);
                found.ok_or_else(|| StepError::SnapshotComponent { name: name.clone(), known: names.join(", ") })
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.init(|[x, y, z], out| {
            let at = snapshot.index(x, y, z);
            for (out, data) in out.iter_mut().zip(&data) {
                *out = data[at];
            }
        })?;
        self.step = snapshot.step;
        Ok(())
    }

    /// Advances by `steps` steps and waits for them.
    pub fn run(&mut self, steps: u64) -> Result<(), StepError> {
        let device = self.program.device().clone();
        device.scope(|| self.run_inside(&device, steps))
    }

    fn run_inside(&mut self, device: &Device, steps: u64) -> Result<(), StepError> {
        let start = device.mark()?;
        let mut left = steps;
        // The phases of these are timed one by one.
        while left > 0 && (self.current == 1 || steps - left < Timings::SAMPLED_STEPS) {
            self.advance_timed(device)?;
            left -= 1;
        }
        if left >= 2 * PAIRS_RECORDED && self.recording.is_none() {
            self.recording = self.record(device)?;
        }
        if let Some(recording) = &self.recording {
            while left >= 2 * PAIRS_RECORDED {
                recording.launch()?;
                self.step += 2 * PAIRS_RECORDED;
                left -= 2 * PAIRS_RECORDED;
            }
        }
        for _ in 0..left {
            self.advance()?;
        }
        let end = device.mark()?;
        self.timings.ran(steps, device.seconds(&start, &end)?);
        self.timings.settle(device)?;
        Ok(())
    }

    /// One step.
    fn advance(&mut self) -> Result<(), StepError> {
        self.stream_collide()?;
        self.stream_collide_walls()?;
        self.swap();
        Ok(())
    }

    /// One step, with marks around its phases.
    fn advance_timed(&mut self, device: &Device) -> Result<(), StepError> {
        let start = device.mark()?;
        self.stream_collide()?;
        let middle = device.mark()?;
        self.stream_collide_walls()?;
        let end = device.mark()?;
        self.swap();
        self.timings.sample(start, middle, end);
        Ok(())
    }

    /// Pairs of steps as one recording; the current set of populations must be the first.
    fn record(&mut self, device: &Device) -> Result<Option<Graph>, StepError> {
        let step = self.step;
        let mut failed = None;
        let recorded = device.record(|| {
            for _ in 0..2 * PAIRS_RECORDED {
                if let Err(error) = self.advance() {
                    failed = Some(error);
                    break;
                }
            }
            Ok(())
        });
        self.step = step;
        self.current = 0;
        match failed {
            Some(error) => Err(error),
            None => Ok(recorded?),
        }
    }

    /// Blocks away from walls.
    fn stream_collide(&mut self) -> Result<(), StepError> {
        let count = self.grid.interior().len();
        let (src, dst) = sets(&mut self.fields, self.current);
        let given = vec![
            ("ids", Given::Read(&self.tables.interior)),
            ("count", Given::Int(count as i32)),
            ("neighbours", Given::Read(&self.tables.neighbours)),
            ("src", Given::Read(src)),
            ("dst", Given::Write(dst)),
        ];
        launch(&self.program, Role::StreamCollide, count, given, &self.params)
    }

    /// Blocks that touch walls.
    fn stream_collide_walls(&mut self) -> Result<(), StepError> {
        let count = self.grid.walls().len();
        let (src, dst) = sets(&mut self.fields, self.current);
        let given = vec![
            ("ids", Given::Read(&self.tables.walls)),
            ("count", Given::Int(count as i32)),
            ("neighbours", Given::Read(&self.tables.neighbours)),
            ("wall_rules", Given::Read(&self.walls.rules)),
            ("wall_values", Given::Read(&self.walls.values)),
            ("src", Given::Read(src)),
            ("dst", Given::Write(dst)),
        ];
        launch(&self.program, Role::StreamCollideWalls, count, given, &self.params)
    }

    fn swap(&mut self) {
        self.current = 1 - self.current;
        self.step += 1;
    }

    /// Macroscopic fields of the current step.
    pub fn snapshot(&mut self) -> Result<Snapshot, StepError> {
        let count = self.grid.slots();
        let given = vec![
            ("ids", Given::Read(&self.tables.all)),
            ("count", Given::Int(count as i32)),
            ("src", Given::Read(&self.fields.populations[self.current])),
            ("fields", Given::Write(&mut self.fields.macroscopic)),
        ];
        launch(&self.program, Role::Macroscopic, count, given, &self.params)?;
        Ok(fields::gather(&self.fields.macroscopic, self.manifest(), &self.grid, self.step)?)
    }

    /// Mass and momentum of each set of populations, summed without loss, in the order of the manifest.
    pub fn sums(&self) -> Result<Vec<Conserved>, StepError> {
        let manifest = self.manifest();
        let current = &self.fields.populations[self.current];
        let sums = fields::sums(current, Layout::populations(manifest), &self.grid)?;
        let of = |set: &Populations| {
            let (sums, directions) = (&sums[set.range()], &manifest.directions[set.range()]);
            let momentum = std::array::from_fn(|axis| {
                let along = directions.iter().zip(sums).map(|(direction, sum)| f64::from(direction.c[axis]) * sum);
                along.collect::<Sum>().value()
            });
            Conserved { name: set.name.clone(), mass: sums.iter().copied().collect::<Sum>().value(), momentum }
        };
        Ok(manifest.populations.iter().map(of).collect())
    }

    /// Mass and momentum of the first populations, summed without loss.
    pub fn conserved(&self) -> Result<Conserved, StepError> {
        Ok(self.sums()?.swap_remove(0))
    }

    /// Mass of the first populations, summed without loss.
    pub fn mass(&self) -> Result<f64, StepError> {
        Ok(self.conserved()?.mass)
    }

    /// Changes a parameter of the method from the next step on.
    pub fn set_param(&mut self, name: &str, values: &[f64]) -> Result<(), StepError> {
        self.params.set(self.program.manifest(), name, values)?;
        self.recording = None;
        Ok(())
    }

    /// Steps done.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Signatures and layout of the method's kernels.
    pub fn manifest(&self) -> &Manifest {
        self.program.manifest()
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        self.program.notices()
    }

    /// Time spent so far.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Million cell updates per second, over all of [`run`](Self::run) so far; 0 before.
    pub fn mlups(&self) -> f64 {
        self.timings.steps_per_second() * self.grid.cells() as f64 / 1e6
    }

    /// Share of a copy bandwidth (bytes per second) that `mlups` million cell updates per second are, counting every
    /// population read and written once.
    pub fn share_of_copy(&self, mlups: f64, bandwidth: f64) -> f64 {
        let bytes = 2 * self.manifest().q() * self.manifest().real.bytes();
        mlups * 1e6 * bytes as f64 / bandwidth
    }
}

/// The current set of populations and the other.
fn sets(fields: &mut Fields, current: usize) -> (&crate::device::Buffer, &mut crate::device::Buffer) {
    let [first, second] = &mut fields.populations;
    if current == 0 { (first, second) } else { (second, first) }
}

/// Launches with the parameters that the kernel takes.
fn launch<'a>(
    program: &Program,
    role: Role,
    count: usize,
    mut given: Vec<(&'a str, Given<'_>)>,
    params: &'a Params,
) -> Result<(), StepError> {
    if count == 0 {
        return Ok(());
    }
    let args = program.manifest().kernel(role).map_or(&[][..], |kernel| &kernel.args[..]);
    let taken = params.args().iter().filter(|(name, _)| args.iter().any(|arg| arg.name == *name));
    given.extend(taken.map(|(name, value)| (name.as_str(), Given::Real(*value))));
    Ok(program.launch(role, count, given)?)
}

#[cfg(test)]
mod tests;
