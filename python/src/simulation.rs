//! Flows step by step: their fields and populations, set and read; pictures of them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use lbm_flows::case::{Colours, Contours, Frames, Picture, Quantity};
use lbm_flows::flow::{self, AtEnd, ByFields};
use lbm_flows::output::{derived, picture};
use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::resident::Resident;
use lbm_runtime::solver::snapshot::{Component, Snapshot};
use lbm_runtime::solver::{self, PlaceValues};
use miette::{IntoDiagnostic, Report, Result, miette};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::array::Array;
use crate::body::{self, Lying};
use crate::case::Prepared;
use crate::cells::Cells;
use crate::error::{detached, raise};
use crate::method::choose;

/// Seconds between looks for signals.
const GLANCE: f64 = 0.1;

thread_local! {
    /// The flow whose objective this thread computes, and that nothing else may use then.
    static DERIVED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Arrays by name.
type Named = Vec<(String, Array)>;

/// A flow.
#[pyclass(frozen, module = "lbmc._lbmc")]
pub struct Simulation {
    flow: Mutex<solver::Simulation>,
    prepared: Arc<Prepared>,
}

impl Simulation {
    pub fn new(flow: solver::Simulation, prepared: Arc<Prepared>) -> Simulation {
        Simulation { flow: Mutex::new(flow), prepared }
    }

    /// What tells it from others.
    fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Does something with the flow, without the lock of the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut solver::Simulation, &Prepared) -> Result<T> + Send,
    ) -> PyResult<T> {
        if DERIVED.get() == self.id() {
            let help = "take all that it needs before: an objective is given the fields at the end";
            return Err(raise(
                py,
                &miette!(code = "L0709", help = help, "an objective cannot use the flow that is derived"),
            ));
        }
        detached(py, || {
            let mut flow = self.flow.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut flow, &self.prepared)
        })
    }
}

/// Cells of a level along z, y, x, or y, x.
fn shape(flow: &solver::Simulation, level: usize) -> Vec<usize> {
    let (size, dim) = (flow.grid().size(), flow.grid().dim());
    (0..dim).rev().map(|axis| size[axis] << level).collect()
}

/// A field of the flow by its name.
fn quantity(flow: &solver::Simulation, name: &str) -> Result<Quantity> {
    let all = Quantity::all(flow.manifest());
    let names: Vec<&str> = all.iter().map(Quantity::name).collect();
    let known = names.join(", ");
    let found = all.iter().find(|quantity| quantity.name() == name).cloned();
    found.ok_or_else(|| miette!(code = "L0701", help = format!("fields: {known}"), "there is no field `{name}`"))
}

/// Refuses a level that the grid does not have.
fn is_level(flow: &solver::Simulation, level: usize) -> Result<()> {
    match flow.grid().levels().len() {
        levels if level < levels => Ok(()),
        1 => Err(miette!(code = "L0702", help = "the grid has level 0 alone", "there is no level {level}")),
        levels => {
            let help = format!("the grid has the levels 0 to {}", levels - 1);
            Err(miette!(code = "L0702", help = help, "there is no level {level}"))
        }
    }
}

/// The number of a cell in an array with x fastest.
fn index(size: [usize; 3], at: [usize; 3]) -> usize {
    at[0] + size[0] * (at[1] + size[1] * at[2])
}

/// The values of an array, which must be so many.
fn values(py: Python<'_>, buffer: &PyBuffer<f64>, wanted: &[usize], name: &str) -> PyResult<Vec<f64>> {
    if buffer.shape() != wanted {
        let report = miette!(
            code = "L0703",
            help = format!("the shape is {wanted:?}: x is the last index"),
            "{name} has the shape {:?}",
            buffer.shape()
        );
        return Err(raise(py, &report));
    }
    let values = buffer.to_vec(py)?;
    match values.iter().all(|value| value.is_finite()) {
        true => Ok(values),
        false => Err(raise(py, &miette!(code = "L0704", "{name} has values that are not finite"))),
    }
}

#[pymethods]
impl Simulation {
    /// Does steps. A signal ends that between two of them.
    fn step(&self, py: Python<'_>, steps: u64) -> PyResult<()> {
        let (mut left, mut some) = (steps, 1);
        while left > 0 {
            let now = left.min(some);
            let began = Instant::now();
            self.with(py, |flow, _| flow.run(now).map_err(Report::new))?;
            left -= now;
            let seconds = began.elapsed().as_secs_f64();
            some = if seconds > GLANCE { (now / 2).max(1) } else { (now * 2).max(some) };
            py.check_signals()?;
        }
        self.with(py, |flow, _| {
            let Some(place) = flow.check_fields()?.not_finite else { return Ok(()) };
            let (cell, component, step) = (place.cell, &place.component, flow.step());
            Err(miette!(
                code = "C0701",
                help = "the grid is too coarse for this Reynolds number, or the velocity too high: lower them, refine the grid, or take a more \
                        stable collision",
                "the flow is not finite: `{component}` at cell {:?} of level {}; found at step {step}",
                cell.at,
                cell.level
            ))
        })
    }

    /// Steps done.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |flow, _| Ok(flow.step()))
    }

    /// Cells along z, y, x, or y, x, of a level.
    #[pyo3(signature = (level=0))]
    fn shape(&self, py: Python<'_>, level: usize) -> PyResult<Vec<usize>> {
        self.with(py, |flow, _| {
            is_level(flow, level)?;
            Ok(shape(flow, level))
        })
    }

    /// Number of levels of the grid.
    #[getter]
    fn levels(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |flow, _| Ok(flow.grid().levels().len()))
    }

    /// Million cell updates a second, so far.
    #[getter]
    fn mlups(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |flow, _| Ok(flow.mlups()))
    }

    /// What it runs on.
    #[getter]
    fn device(&self) -> String {
        self.prepared.placement.first().describe()
    }

    /// Names of the fields that can be read.
    #[getter]
    fn fields(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |flow, _| {
            Ok(Quantity::all(flow.manifest()).iter().map(|quantity| quantity.name().to_string()).collect())
        })
    }

    /// Fields of the method, which can be set: names and numbers of components.
    #[getter]
    fn own_fields(&self, py: Python<'_>) -> PyResult<Vec<(String, u32)>> {
        self.with(py, |flow, _| {
            let own = flow.manifest().fields.iter().filter(|field| field.is_own());
            Ok(own.map(|field| (field.name.clone(), field.components)).collect())
        })
    }

    /// Names of what cells keep for parameters that vary.
    #[getter]
    fn places(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |flow, _| {
            let places = flow.manifest().fields.iter().filter(|field| field.place);
            Ok(places.map(|field| field.name.clone()).collect())
        })
    }

    /// The velocity of each population, in cells per step.
    #[getter]
    fn velocities(&self, py: Python<'_>) -> PyResult<Vec<Vec<i32>>> {
        self.with(py, |flow, _| {
            let dim = flow.grid().dim();
            Ok(flow.manifest().directions.iter().map(|direction| direction.c[..dim].to_vec()).collect())
        })
    }

    /// A field in lattice units on the cells of a level, `[component,] [z,] y, x`: the mean of finer cells, or the value of a coarser
    /// one. A copy, in 64 bits.
    fn field(&self, py: Python<'_>, name: String, level: usize) -> PyResult<Array> {
        self.with(py, |flow, _| {
            is_level(flow, level)?;
            let field = quantity(flow, &name)?;
            let snapshot = flow.snapshot()?;
            let no_slopes = || miette!(code = "L0701", "`{name}` needs a velocity, which the method does not have");
            let columns = derived::columns(&snapshot, &field).ok_or_else(no_slopes)?;
            let mut of_array = shape(flow, level);
            let cells: usize = of_array.iter().product();
            let values = match snapshot.is_uniform() && level == 0 {
                true => columns.concat(),
                false => {
                    let size = snapshot.size_of(level);
                    let mut values = vec![0.0; cells * columns.len()];
                    for (column, values) in columns.iter().zip(values.chunks_mut(cells)) {
                        for (number, value) in values.iter_mut().enumerate() {
                            let at = [number % size[0], number / size[0] % size[1], number / (size[0] * size[1])];
                            [*value] = snapshot.read(Cell { level, at }, &|at| [column[at]]);
                        }
                    }
                    values
                }
            };
            if columns.len() > 1 {
                of_array.insert(0, columns.len());
            }
            Ok(Array::own(values, of_array))
        })
    }

    /// Cells along the axes of an array of all cells: `[z,] y, x`, on a refined grid `block, [z,] y, x`.
    fn all_cells(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        self.with(py, |flow, _| Ok(Cells::of(flow)?.shape()))
    }

    /// Centres of all cells, `axis, ..`, and their volumes, both in cells of the coarsest level. Cells that are solid or beyond the domain have the volume 0.
    fn places_of_cells(&self, py: Python<'_>) -> PyResult<(Array, Array)> {
        self.with(py, |flow, _| {
            let (cells, shape, dim) = (flow.snapshot()?, Cells::of(flow)?.shape(), flow.grid().dim());
            let count: usize = shape.iter().product();
            let centres = (0..dim).flat_map(|axis| (0..count).map(move |at| (axis, at)));
            let centres = centres.map(|(axis, at)| cells.cell(at).centre()[axis]).collect();
            let is_fluid = |at: usize| !cells.solid.get(at).is_some_and(|solid| *solid);
            let volume = |at: usize| if is_fluid(at) { cells.volume(at / cells.block_cells()) } else { 0.0 };
            let volumes = (0..count).map(volume).collect();
            Ok((Array::own(centres, [&[dim], &shape[..]].concat()), Array::own(volumes, shape)))
        })
    }

    /// Components of the fields of the method in all cells.
    fn components(&self, py: Python<'_>) -> PyResult<Named> {
        self.with(py, |flow, _| {
            let (snapshot, shape) = (flow.snapshot()?, Cells::of(flow)?.shape());
            let of = |own: Component| (own.name, Array::own(own.data, shape.clone()));
            Ok(snapshot.components.into_iter().map(of).collect())
        })
    }

    /// Which cells are solid: 1 and 0.
    fn solid(&self, py: Python<'_>) -> PyResult<Array> {
        self.with(py, |flow, _| {
            let (snapshot, shape) = (flow.snapshot()?, Cells::of(flow)?.shape());
            let mut solid: Vec<f64> = snapshot.solid.iter().map(|solid| f64::from(u8::from(*solid))).collect();
            solid.resize(shape.iter().product(), 0.0);
            Ok(Array::own(solid, shape))
        })
    }

    /// Populations after the last collision, `population, ..`, or the moments that are stored in their place. A copy, in 64 bits.
    fn populations(&self, py: Python<'_>) -> PyResult<Array> {
        self.with(py, |flow, _| {
            let (cells, components) = (Cells::of(flow)?, flow.manifest().values());
            let mut shape = cells.shape();
            let count: usize = shape.iter().product();
            let mut values = vec![0.0; count * components];
            flow.visit_populations(|cell, populations| {
                let Some(at) = cells.at(cell) else { return };
                populations.iter().enumerate().for_each(|(component, value)| values[component * count + at] = *value);
            })?;
            shape.insert(0, components);
            Ok(Array::own(values, shape))
        })
    }

    /// Sets them.
    fn set_populations(&self, py: Python<'_>, array: PyBuffer<f64>) -> PyResult<()> {
        let (cells, components) = self.with(py, |flow, _| Ok((Cells::of(flow)?, flow.manifest().values())))?;
        let shape = cells.shape();
        let count: usize = shape.iter().product();
        let values = values(py, &array, &[&[components], &shape[..]].concat(), "the array of populations")?;
        self.with(py, |flow, _| {
            let change = |cell: Cell, populations: &mut [f64]| {
                let Some(at) = cells.at(cell) else { return };
                let components = populations.iter_mut().enumerate();
                components.for_each(|(component, value)| *value = values[component * count + at]);
            };
            flow.update_cells(change).into_diagnostic()
        })
    }

    /// Sets fields of the method, each by its name with an array `[component,] ..` of all cells; others stay. Populations are then in equilibrium at them, with the
    /// viscous stress of the velocity where the viscosity is known.
    fn set_fields(&self, py: Python<'_>, fields: Vec<(String, PyBuffer<f64>)>) -> PyResult<()> {
        let known: Vec<(String, usize, usize)> = self.with(py, |flow, _| {
            let mut first = 0;
            let place = |field: &lbm_bundle::Field| {
                first += field.components as usize;
                (field.name.clone(), first - field.components as usize, field.components as usize)
            };
            Ok(flow.manifest().fields.iter().map(place).collect())
        })?;
        let of_cells = self.all_cells(py)?;
        let mut given: Vec<(usize, Vec<f64>)> = vec![];
        for (name, array) in fields {
            let Some((_, first, components)) = known.iter().find(|(known, ..)| *known == name) else {
                let names: Vec<&str> = known.iter().map(|(name, ..)| &name[..]).collect();
                let help = format!("fields of the method: {}", names.join(", "));
                return Err(raise(py, &miette!(code = "L0701", help = help, "`{name}` cannot be set")));
            };
            let wanted = if *components > 1 { [&[*components], &of_cells[..]].concat() } else { of_cells.clone() };
            let values = values(py, &array, &wanted, &format!("`{name}`"))?;
            let cells = values.len() / components;
            given.extend(values.chunks(cells).map(<[f64]>::to_vec).enumerate().map(|(at, part)| (first + at, part)));
        }
        self.with(py, |flow, prepared| {
            let mut snapshot = flow.snapshot()?;
            for (component, values) in given {
                let data = &mut snapshot.components[component].data;
                if data.len() != values.len() {
                    return Err(miette!(
                        code = "L0703",
                        help = "set fields while no other thread does steps",
                        "the grid has changed while its fields were set"
                    ));
                }
                *data = values;
            }
            flow.init_fields(&snapshot)?;
            if let Some(viscosity) = prepared.case.scales.viscosity {
                flow.start_with_stress(viscosity)?;
            }
            Ok(())
        })
    }

    /// The objective of the case after so many steps and its derivatives: numbers as JSON, those of all cells by their names, by what cells keep for
    /// parameters that vary, and by populations. The flow stays where it is. `of_case`: it is at the start of its case, on which parameters have an
    /// influence. In place of the objective of the case: `objective` is given the components of fields at the end, by their names, and returns its value
    /// and its derivatives by components.
    fn gradient(
        &self,
        py: Python<'_>,
        steps: u64,
        of_case: bool,
        objective: Option<Py<PyAny>>,
    ) -> PyResult<(String, Named, Named, Array)> {
        let mut raised = None;
        let of_cells = self.all_cells(py)?;
        let names = self.with(py, |flow, _| Ok(flow.manifest().component_names()))?;
        let mut of_fields = |snapshot: &Snapshot| -> Result<(f64, ByFields)> {
            let found = Python::attach(|py| {
                let Some(objective) = &objective else { return Ok((0.0, vec![])) };
                let component = |own: &Component| (own.name.clone(), Array::own(own.data.clone(), of_cells.clone()));
                let given: Named = snapshot.components.iter().map(component).collect();
                let outer = DERIVED.replace(self.id());
                let called = objective.call1(py, (given,));
                DERIVED.set(outer);
                let (value, slopes): (f64, Vec<(String, PyBuffer<f64>)>) = called?.extract(py)?;
                let slope = |(name, array): (String, PyBuffer<f64>)| {
                    let at = names.iter().position(|known| *known == name);
                    let values = values(py, &array, &of_cells, &format!("the derivative by `{name}`"))?;
                    Ok::<_, PyErr>(at.map(|at| (at, values)))
                };
                let slopes = slopes.into_iter().map(slope).collect::<PyResult<Vec<_>>>()?;
                Ok::<_, PyErr>((value, slopes.into_iter().flatten().collect()))
            });
            found.map_err(|error| {
                raised = Some(error);
                Report::msg("the objective has raised an exception")
            })
        };
        let is_own = objective.is_some();
        let mut signal = None;
        let mut pace = |_| {
            Python::attach(|py| py.check_signals()).map_err(|error| {
                signal = Some(error);
                Report::msg("a signal has ended it")
            })
        };
        let found = self.with(py, |flow, prepared| {
            let (case, placement) = (&prepared.case, &prepared.placement);
            let at_end: Option<AtEnd<'_, Report>> = if is_own { Some(&mut of_fields) } else { None };
            let found =
                flow::gradient(case, prepared.kernels(), placement, flow, (steps, of_case), (at_end, &mut pace))?;
            let (Some((found, populations)), Some(gradient)) = (found, &case.gradient) else {
                let help = "give the case an objective: `[gradient] objective = \"(ux^2 + uy^2) / 2\"`";
                return Err(miette!(
                    code = "L0706",
                    help = help,
                    "the case does not say of what derivatives are wanted"
                ));
            };
            let manifest = flow.manifest();
            let components = found.cells.components.iter();
            let cells = components.map(|own| (own.name.clone(), Array::own(own.data.clone(), of_cells.clone())));
            let first = manifest.first_state();
            let is_place = |name: &str| manifest.fields.iter().any(|field| field.place && field.name == name);
            let places = manifest.states.iter().enumerate().filter(|(_, state)| is_place(&state.name));
            let places = places
                .map(|(at, own)| (own.name.clone(), Array::own(populations[first + at].clone(), of_cells.clone())));
            let all = [&[populations.len()], &of_cells[..]].concat();
            let (cells, places) = (cells.collect(), places.collect());
            Ok((found.described(gradient).to_string(), cells, places, Array::own(populations.concat(), all)))
        });
        raised.or(signal).map_or(found, Err)
    }

    /// Sets a parameter of the method from the next step on, all its components.
    fn set_parameter(&self, py: Python<'_>, name: String, values: Vec<f64>) -> PyResult<()> {
        self.with(py, |flow, _| flow.set_param(&name, &values).map_err(Report::new))
    }

    /// Sets what cells keep for parameters that vary, all of it: an array `[z,] y, x` each, in the order of `places`.
    fn set_places(&self, py: Python<'_>, arrays: Vec<PyBuffer<f64>>) -> PyResult<()> {
        let of_cells = self.shape(py, 0)?;
        let arrays: Vec<Vec<f64>> =
            arrays.iter().map(|array| values(py, array, &of_cells, "a place")).collect::<PyResult<_>>()?;
        self.with(py, |flow, _| {
            let size = flow.grid().size();
            let places: PlaceValues = Arc::new(move |centre, out| {
                let at = std::array::from_fn(|axis| (centre[axis].max(0.0) as usize).min(size[axis] - 1));
                out.iter_mut().zip(&arrays).for_each(|(out, array)| *out = array[index(size, at)]);
            });
            flow.set_places(places).map_err(Report::new)
        })
    }

    /// The force on each solid in the step that comes next, in lattice units.
    fn forces(&self, py: Python<'_>) -> PyResult<Array> {
        self.with(py, |flow, _| {
            let (forces, dim) = (flow.forces()?, flow.grid().dim());
            let values = forces.iter().flat_map(|force| &force[..dim]).copied().collect();
            Ok(Array::own(values, vec![forces.len(), dim]))
        })
    }

    /// The torque on each solid that turns about its pivot in the step that comes next, in lattice units; 0 of others.
    fn torques(&self, py: Python<'_>) -> PyResult<Array> {
        self.with(py, |flow, _| {
            let (exchanges, dim) = (flow.exchanges()?, flow.grid().dim());
            let about = if dim == 2 { 2..3 } else { 0..3 };
            let values = exchanges.iter().flat_map(|exchange| &exchange.torque[about.clone()]).copied().collect();
            Ok(Array::own(values, vec![exchanges.len(), about.len()]))
        })
    }

    /// Number of solids of the case.
    #[getter]
    fn bodies(&self) -> usize {
        self.prepared.case.bodies().count()
    }

    /// Where a solid is and how it moves.
    fn body(&self, py: Python<'_>, number: usize) -> PyResult<Lying> {
        self.with(py, |flow, prepared| body::lying(flow, &prepared.case, number))
    }

    /// The force of the fluid on a solid in the step that comes next, and the torque.
    fn load(&self, py: Python<'_>, number: usize) -> PyResult<(Vec<f64>, Vec<f64>)> {
        self.with(py, |flow, prepared| body::load(flow, &prepared.case, number))
    }

    /// Changes a body that the fluid moves: what is given of its displacement, its velocity and its angular velocity, and the momentum and
    /// angular momentum that it gets besides.
    #[allow(clippy::too_many_arguments)]
    fn change_body(
        &self,
        py: Python<'_>,
        number: usize,
        displacement: Option<Vec<f64>>,
        velocity: Option<Vec<f64>>,
        angular_velocity: Option<Vec<f64>>,
        force: Option<Vec<f64>>,
        torque: Option<Vec<f64>>,
    ) -> PyResult<()> {
        self.with(py, |flow, prepared| {
            let change = body::change(flow.grid().dim(), displacement, velocity, angular_velocity, force, torque)?;
            let entry = body::entries(&prepared.case, number).start;
            flow.change_body(entry, &change).map_err(Report::new)
        })
    }

    /// The sum of each set of populations, by its name: the mass first.
    fn sums(&self, py: Python<'_>) -> PyResult<Vec<(String, f64, Vec<f64>)>> {
        self.with(py, |flow, _| {
            let dim = flow.grid().dim();
            Ok(flow.sums()?.into_iter().map(|sum| (sum.name, sum.mass, sum.momentum[..dim].to_vec())).collect())
        })
    }

    /// Arrays where they lie: `populations` of a level, or `fields`.
    fn memory(slf: Bound<'_, Self>, what: String, level: usize) -> PyResult<Array> {
        let found: Resident = slf.get().with(slf.py(), |flow, _| {
            let of_fields = choose("array", &what, &[("populations", false), ("fields", true)])?;
            let found = if of_fields { flow.resident_fields()? } else { flow.resident_populations(level)? };
            found.ok_or_else(|| {
                miette!(
                    code = "L0705",
                    help = "take a level that there is, a case without `devices`, and on a GPU no moments of 16 bits, which lie side by side",
                    "there is no array of `{what}` on level {level}"
                )
            })
        })?;
        Ok(Array::resident(slf.unbind(), found))
    }

    /// The blocks that cover the domain: slot, level, and place along x, y, z in blocks of their level.
    fn blocks(&self, py: Python<'_>) -> PyResult<Vec<[usize; 5]>> {
        self.with(py, |flow, _| {
            let leaves = flow.grid().leaves()?;
            let row = |leaf: &lbm_runtime::mesh::forest::Leaf| {
                let [x, y, z] = leaf.block.place;
                [leaf.slot.index(), leaf.block.level, x, y, z]
            };
            Ok(leaves.iter().map(row).collect())
        })
    }

    /// What each population is at rest, which is not stored.
    #[getter]
    fn rest(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.with(py, |flow, _| Ok(solver::fields::rest(flow.manifest())))
    }

    /// A picture (PNG) of a field, with what `[[pictures]]` have. Contour lines are a number of them, or their values.
    #[allow(clippy::too_many_arguments)]
    fn picture(
        &self,
        py: Python<'_>,
        field: String,
        title: Option<String>,
        range: Option<[f64; 2]>,
        log: bool,
        colours: Option<String>,
        contours: Option<(Option<usize>, Vec<f64>)>,
        streamlines: bool,
        grid: bool,
        size: usize,
    ) -> PyResult<Vec<u8>> {
        self.with(py, |flow, prepared| {
            let all = Quantity::all(flow.manifest());
            if streamlines && all.iter().all(|any| any.name() != "speed") {
                return Err(miette!(code = "L0701", "a method without a velocity has no streamlines"));
            }
            let whole = Picture::of(quantity(flow, &field)?, Frames::one(""));
            let wanted = Picture {
                title,
                range,
                log,
                colours: match colours {
                    Some(name) => choose("colour map", &name, &Colours::ALL)?,
                    None => whole.colours,
                },
                contours: contours.map(|(count, values)| count.map_or(Contours::At(values), Contours::Between)),
                streamlines,
                grid,
                size,
                ..whole
            };
            wanted
                .check()
                .map_err(|wrong| miette!(code = "C0107", help = wrong.help, "`{}`: {}", wrong.key, wrong.message))?;
            let snapshot = flow.snapshot()?;
            let drawn = picture::draw(&prepared.case, &snapshot, &wanted);
            let canvas = drawn.ok_or_else(|| miette!(code = "L0701", "there is nothing to draw"))?;
            Ok(canvas.png())
        })
    }
}
