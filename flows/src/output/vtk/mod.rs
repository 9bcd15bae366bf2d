//! Fields for ParaView: image data (`.vti`) on grids of one level, overlapping AMR (`.vtkhdf`) or unstructured grids
//! (`.vtu`) on refined ones, and time series (`.pvd`, `.series`).
//!
//! Image data and unstructured grids are XML followed by raw little-endian data. Each array is preceded by its number
//! of bytes as a 64-bit integer. Data are not compressed: zlib saves only a fifth for the fields of a flow, and keeps
//! all processors busy.

mod amr;
mod hdf5;
mod points;
mod polygons;
mod unstructured;

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use lbm_bundle::Real;
use lbm_bundle::plain::shown_line;
use rayon::prelude::*;
use serde_json::{Value, json};

pub use amr::write_amr;
pub use points::{PointGrid, write_points};
pub use polygons::{Polygons, write_polygons};
pub use unstructured::write_unstructured;

use lbm_runtime::geometry::Block;
use lbm_runtime::solver::snapshot::Snapshot;

use super::derived::Derived;
use crate::case::{Dimension, Quantity, Units, Vtk};

/// Number of cells encoded together, by all threads, while the previous ones are written.
const CELLS_AT_ONCE: usize = 1 << 20;
/// Number of cells that a thread encodes at a time.
const CELLS_OF_THREAD: usize = 1 << 13;

/// File name of the fields of a step.
pub(super) fn frame_name(step: u64, format: Vtk) -> String {
    format!("fields_{step:08}.{}", format.ending())
}

/// An array; the component runs fastest.
struct Array<'a> {
    name: String,
    components: usize,
    /// VTK name of the type.
    ty: &'static str,
    values: Values<'a>,
}

/// The values of an array.
enum Values<'a> {
    /// Bytes as they are written.
    Bytes(Vec<u8>),
    /// A field, rounded to a type.
    Field(Kind<'a>, Real),
}

impl Values<'_> {
    /// Length in bytes.
    fn len(&self) -> usize {
        match self {
            Values::Bytes(bytes) => bytes.len(),
            Values::Field(kind, real) => kind.cells() * kind.components * real.bytes(),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Values::Bytes(bytes) => out.write_all(bytes),
            Values::Field(kind, real) => kind.write(*real, out),
        }
    }
}

/// Arrays appended after the XML.
#[derive(Default)]
struct Appended<'a> {
    arrays: Vec<Values<'a>>,
}

impl<'a> Appended<'a> {
    /// Adds an array; returns its XML.
    fn add(&mut self, array: Array<'a>) -> String {
        let Array { name, components, ty, values } = array;
        let offset: usize = self.arrays.iter().map(|values| size_of::<u64>() + values.len()).sum();
        self.arrays.push(values);
        let name = attribute(&name);
        format!(
            r#"<DataArray type="{ty}" Name="{name}" NumberOfComponents="{components}" format="appended" offset="{offset}"/>"#
        )
    }

    /// The XML of the fields on the cells.
    fn cells(&mut self, snapshot: &'a Snapshot, fields: Option<&[Quantity]>, units: &Units, real: Real) -> String {
        let arrays = arrays(snapshot, fields, units, real);
        let first = |components| arrays.iter().find(|array| array.components == components).map(|array| &array.name);
        let mut active = String::new();
        for (kind, name) in [("Scalars", first(1)), ("Vectors", first(3))] {
            if let Some(name) = name {
                active += &format!(r#" {kind}="{}""#, attribute(name));
            }
        }
        let mut xml = format!("      <CellData{active}>\n");
        for array in arrays {
            xml += &format!("        {}\n", self.add(array));
        }
        xml + "      </CellData>\n"
    }

    /// Writes a file of a type: the time, the XML of its content with its opening and closing tag, and the arrays.
    fn write(self, out: &mut dyn Write, ty: &str, time: f64, opening: &str, content: &str) -> io::Result<()> {
        writeln!(out, r#"<?xml version="1.0"?>"#)?;
        writeln!(out, r#"<VTKFile type="{ty}" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#)?;
        writeln!(out, "  {opening}")?;
        writeln!(out, r#"    <FieldData>"#)?;
        writeln!(
            out,
            r#"      <DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{time}</DataArray>"#
        )?;
        writeln!(out, r#"    </FieldData>"#)?;
        write!(out, "{content}")?;
        writeln!(out, "  </{ty}>")?;
        write!(out, r#"  <AppendedData encoding="raw">_"#)?;
        for values in &self.arrays {
            out.write_all(&(values.len() as u64).to_le_bytes())?;
            values.write(out)?;
        }
        writeln!(out)?;
        writeln!(out, r#"  </AppendedData>"#)?;
        writeln!(out, r#"</VTKFile>"#)
    }
}

/// Escapes text for an XML attribute, in double quotes, and so for any text of XML or HTML: <https://www.w3.org/TR/xml/#NT-AttValue>. Characters
/// not permitted in XML are replaced.
pub(crate) fn attribute(text: &str) -> String {
    let mut written = String::new();
    for letter in shown_line(text).chars() {
        match letter {
            '&' => written += "&amp;",
            '<' => written += "&lt;",
            '>' => written += "&gt;",
            '"' => written += "&quot;",
            '\u{fffe}' | '\u{ffff}' => written.push('\u{fffd}'),
            letter => written.push(letter),
        }
    }
    written
}

fn time(snapshot: &Snapshot, units: &Units) -> f64 {
    snapshot.step as f64 * units.scale(Dimension::TIME)
}

/// Writes a snapshot of one level in the units of the case: the given fields, or all fields of the snapshot. Vectors
/// have three components. `rho` is named `density` and `u` is named `velocity`.
pub fn write_image(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    fields: Option<&[Quantity]>,
    units: &Units,
    real: Real,
) -> io::Result<()> {
    // In two dimensions the extent along z is 0: the cells are pixels, not voxels.
    let extent: Vec<String> =
        (0..3).map(|axis| format!("0 {}", if axis < snapshot.dim() { snapshot.size()[axis] } else { 0 })).collect();
    let (extent, cell) = (extent.join(" "), units.scale(Dimension::LENGTH));
    let opening = format!(r#"<ImageData WholeExtent="{extent}" Origin="0 0 0" Spacing="{cell} {cell} {cell}">"#);
    let mut appended = Appended::default();
    let cells = appended.cells(snapshot, fields, units, real);
    let content = format!("    <Piece Extent=\"{extent}\">\n{cells}    </Piece>\n");
    appended.write(out, "ImageData", time(snapshot, units), &opening, &content)
}

/// Writes a time series of XML files (`.pvd`): pairs of a time and the name of a file in the same folder.
pub fn write_series(out: &mut dyn Write, entries: &[(f64, &str)]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">"#)?;
    writeln!(out, r#"  <Collection>"#)?;
    for (time, file) in entries {
        writeln!(out, r#"    <DataSet timestep="{time}" part="0" file="{}"/>"#, attribute(file))?;
    }
    writeln!(out, r#"  </Collection>"#)?;
    writeln!(out, r#"</VTKFile>"#)
}

/// Writes a time series of files of any format (`.series`) in the same way.
pub fn write_file_series(out: &mut dyn Write, entries: &[(f64, &str)]) -> io::Result<()> {
    let files: Vec<Value> = entries.iter().map(|(time, name)| json!({ "name": name, "time": time })).collect();
    serde_json::to_writer_pretty(&mut *out, &json!({ "file-series-version": "1.0", "files": files }))?;
    writeln!(out)
}

/// A field as it is written: a scalar, or a vector with three components.
struct Kind<'a> {
    name: String,
    components: usize,
    /// Factor to the units of the case.
    scale: f64,
    /// Values for each axis of the grid.
    parts: Vec<Cow<'a, [f64]>>,
}

impl Kind<'_> {
    /// Number of cells.
    fn cells(&self) -> usize {
        self.parts[0].len()
    }

    /// Writes the values of all cells, the component fastest, rounded to a type, little-endian.
    fn write(&self, real: Real, out: &mut dyn Write) -> io::Result<()> {
        let (mut ready, mut next) = (vec![], vec![]);
        for start in (0..self.cells()).step_by(CELLS_AT_ONCE) {
            let cells = start..self.cells().min(start + CELLS_AT_ONCE);
            let mut written = Ok(());
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| self.encode(cells, real, &mut next));
                written = out.write_all(&ready);
            });
            written?;
            std::mem::swap(&mut ready, &mut next);
        }
        out.write_all(&ready)
    }

    /// Encodes the values of some cells.
    fn encode(&self, cells: Range<usize>, real: Real, bytes: &mut Vec<u8>) {
        let of_cell = self.components * real.bytes();
        bytes.resize(cells.len() * of_cell, 0);
        bytes.par_chunks_mut(CELLS_OF_THREAD * of_cell).enumerate().for_each(|(piece, bytes)| {
            let first = cells.start + piece * CELLS_OF_THREAD;
            for component in 0..self.components {
                let part = self.parts.get(component).map_or(&[][..], |part| &part[first..]);
                let values = part.iter().map(|value| value * self.scale).chain(std::iter::repeat(0.0));
                match real {
                    Real::F32 | Real::F16F32 => {
                        let to = bytes.as_chunks_mut().0[component..].iter_mut().step_by(self.components);
                        to.zip(values).for_each(|(to, value)| *to = (value as f32).to_le_bytes());
                    }
                    Real::F64 => {
                        let to = bytes.as_chunks_mut().0[component..].iter_mut().step_by(self.components);
                        to.zip(values).for_each(|(to, value)| *to = value.to_le_bytes());
                    }
                }
            }
        });
    }
}

/// The given fields by name, or else all fields of a snapshot: components `ax`, `ay` (and `az`) form a vector `a`.
fn kinds<'a>(snapshot: &'a Snapshot, fields: Option<&[Quantity]>, units: &Units) -> Vec<Kind<'a>> {
    let mut kinds = vec![];
    if let Some(fields) = fields {
        let kind = |field: &Quantity| {
            let parts: Vec<_> = Derived::new(snapshot, field)?.columns().into_iter().map(Cow::from).collect();
            let components = if parts.len() > 1 { 3 } else { 1 };
            Some(Kind { name: field.name().to_string(), components, scale: field.scale(units), parts })
        };
        return fields.iter().filter_map(kind).collect();
    }
    for component in &snapshot.components {
        let vector = component.name.strip_suffix('x').and_then(|stem| Some((stem, snapshot.vector(stem)?)));
        if let Some((stem, parts)) = vector {
            let (name, scale) = match stem {
                "u" => ("velocity", units.scale(Dimension::VELOCITY)),
                _ => (stem, 1.0),
            };
            kinds.push(Kind {
                name: name.to_string(),
                components: 3,
                scale,
                parts: parts.into_iter().map(Cow::from).collect(),
            });
        } else if !is_later_component(snapshot, &component.name) {
            let (name, scale) = match &component.name[..] {
                "rho" => ("density", units.scale(Dimension::DENSITY)),
                name => (name, 1.0),
            };
            kinds.push(Kind { name: name.to_string(), components: 1, scale, parts: vec![Cow::from(&component.data)] });
        }
    }
    kinds
}

/// Flag in `vtkGhostType` for a hidden cell (vtkDataSetAttributes).
const HIDDEN: u8 = 32;

/// The values of the cells in the domain, which blocks may reach beyond, given those of all cells.
fn inside<T: Copy>(snapshot: &Snapshot, values: impl Iterator<Item = T>) -> Vec<T> {
    if !snapshot.is_padded() {
        return values.collect();
    }
    let is_inside = |(at, value): (usize, T)| snapshot.domain.contains(snapshot.cell(at)).then_some(value);
    values.enumerate().filter_map(is_inside).collect()
}

/// The fields on all cells. On a refined grid also the level of each cell; with solids also whether a cell is solid,
/// and solid cells are hidden.
fn arrays<'a>(snapshot: &'a Snapshot, fields: Option<&[Quantity]>, units: &Units, real: Real) -> Vec<Array<'a>> {
    let array = |kind: Kind<'a>| Array {
        name: kind.name.clone(),
        components: kind.components,
        ty: real_name(real),
        values: Values::Field(kind, real),
    };
    let mut kinds = kinds(snapshot, fields, units);
    if snapshot.is_padded() {
        for part in kinds.iter_mut().flat_map(|kind| &mut kind.parts) {
            *part = Cow::from(inside(snapshot, part.iter().copied()));
        }
    }
    let mut arrays: Vec<Array<'_>> = kinds.into_iter().map(array).collect();
    if !snapshot.is_uniform() {
        arrays.retain(|array| array.name != "level");
        let of_block = |block: &Block| std::iter::repeat_n(block.level as u8, snapshot.block_cells());
        let bytes = inside(snapshot, snapshot.blocks().iter().flat_map(of_block));
        arrays.push(Array { name: "level".into(), components: 1, ty: "UInt8", values: Values::Bytes(bytes) });
    }
    if snapshot.has_solids() {
        for (name, value) in [("solid", 1), ("vtkGhostType", HIDDEN)] {
            let bytes = inside(snapshot, snapshot.solid.iter().map(|solid| if *solid { value } else { 0 }));
            arrays.push(Array { name: name.into(), components: 1, ty: "UInt8", values: Values::Bytes(bytes) });
        }
    }
    arrays
}

/// Whether a component is the y or z component of a vector.
fn is_later_component(snapshot: &Snapshot, name: &str) -> bool {
    name.strip_suffix(['y', 'z']).is_some_and(|stem| snapshot.vector(stem).is_some())
}

fn real_name(real: Real) -> &'static str {
    match real {
        Real::F32 | Real::F16F32 => "Float32",
        Real::F64 => "Float64",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use lbm_runtime::geometry::Domain;
    use lbm_runtime::solver::snapshot::Component;

    use super::*;

    #[test]
    fn names_of_strangers_are_text_in_xml() {
        let name = "probe_a\"><evil x=\"&amp;\u{1b}\u{ffff}.vti";
        let mut file = vec![];
        write_series(&mut file, &[(0.5, name)]).unwrap();
        let text = String::from_utf8(file).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let sets: Vec<_> = document.descendants().filter(|node| node.has_tag_name("DataSet")).collect();
        assert!(!document.descendants().any(|node| node.has_tag_name("evil")));
        let expected = "probe_a\"><evil x=\"&amp;?\u{fffd}.vti";
        assert_eq!(sets.iter().map(|set| set.attribute("file")).collect::<Vec<_>>(), [Some(expected)]);
    }

    fn snapshot(dim: usize) -> Snapshot {
        let size = [70, 50, if dim == 3 { 8 } else { 1 }];
        let cells = size.iter().product::<usize>();
        let names = ["rho", "ux", "uy", "uz"].into_iter().take(dim + 1);
        let components = names
            .enumerate()
            .map(|(at, name)| Component {
                name: name.to_string(),
                data: (0..cells).map(|cell| (cell * 10 + at) as f64).collect(),
            })
            .collect();
        Snapshot::uniform(20, Domain { dim, size, periodic: [true; 3] }, components)
    }

    /// Reads an array back, independently of the writer.
    pub(crate) fn read(file: &[u8], name: &str) -> (usize, Vec<u8>) {
        let marker = b"<AppendedData encoding=\"raw\">_";
        let start = file.windows(marker.len()).position(|window| window == marker).unwrap() + marker.len();
        let xml = String::from_utf8_lossy(&file[..start]).into_owned();
        let tag = xml.lines().find(|line| line.contains(&format!("Name=\"{name}\""))).unwrap();
        let attribute = |key: &str| -> usize {
            let from = tag.find(&format!("{key}=\"")).unwrap() + key.len() + 2;
            tag[from..].split('"').next().unwrap().parse().unwrap()
        };
        let data = &file[start + attribute("offset")..];
        let count = u64::from_le_bytes(data[..8].try_into().unwrap()) as usize;
        let values = data[8..8 + count].to_vec();
        (attribute("NumberOfComponents"), values)
    }

    #[test]
    fn fields_by_name_are_in_the_place_of_those_of_the_method() {
        use lbm_runtime::solver::velocity::Velocity;
        let (_, snapshot) = crate::output::fixture::cavity(32);
        let units = Units { si: true, cell: 0.5, step: 0.25, density: Some(2.0) };
        let all = Quantity::all(&lbm_runtime::fixture::manifest()).into_iter();
        let fields: Vec<Quantity> = all.filter(|field| ["vorticity", "velocity"].contains(&field.name())).collect();
        let mut file = vec![];
        write_image(&mut file, &snapshot, Some(&fields), &units, Real::F64).unwrap();
        assert!(!String::from_utf8_lossy(&file).contains("density"));
        let (components, vorticity) = read(&file, "vorticity");
        assert_eq!((components, read(&file, "velocity").0), (1, 3));
        let slopes = Velocity::new(&snapshot).unwrap();
        for (at, bytes) in vorticity.as_chunks::<8>().0.iter().enumerate() {
            let expected = slopes.vorticity(at)[2] / units.step;
            assert!((f64::from_le_bytes(*bytes) - expected).abs() < 1e-14, "{at}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (dim, real) in [(2, Real::F32), (3, Real::F64)] {
            let snapshot = snapshot(dim);
            let units = Units { si: true, cell: 0.5, step: 0.25, density: Some(2.0) };
            let mut file = vec![];
            write_image(&mut file, &snapshot, None, &units, real).unwrap();
            let number = |bytes: &[u8], at: usize| match real {
                Real::F32 | Real::F16F32 => {
                    f64::from(f32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap()))
                }
                Real::F64 => f64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().unwrap()),
            };
            let (components, density) = read(&file, "density");
            assert_eq!((components, density.len()), (1, 70 * 50 * snapshot.size()[2] * real.bytes()));
            let (components, velocity) = read(&file, "velocity");
            assert_eq!((components, velocity.len()), (3, 3 * density.len()));
            for cell in [0, 1, 3499] {
                assert_eq!(number(&density, cell), 2.0 * (10 * cell) as f64);
                for axis in 0..3 {
                    let expected = if axis < dim { 2.0 * (10 * cell + axis + 1) as f64 } else { 0.0 };
                    assert_eq!(number(&velocity, 3 * cell + axis), expected);
                }
            }
            let text = String::from_utf8_lossy(&file);
            let extent = if dim == 2 { "0 70 0 50 0 0" } else { "0 70 0 50 0 8" };
            assert!(text.contains(&format!(r#"WholeExtent="{extent}" Origin="0 0 0" Spacing="0.5 0.5 0.5""#)));
            assert!(text.contains(r#"format="ascii">5</DataArray>"#), "20 steps of 0.25 s");
            assert!(text.contains(r#"<CellData Scalars="density" Vectors="velocity">"#));
        }
    }

    #[test]
    fn solid_cells_are_marked_and_hidden() {
        let mut snapshot = snapshot(2);
        let written = |snapshot: &Snapshot| {
            let mut file = vec![];
            write_image(&mut file, snapshot, None, &Units::LATTICE, Real::F32).unwrap();
            file
        };
        assert!(!String::from_utf8_lossy(&written(&snapshot)).contains("vtkGhostType"));
        snapshot.solid = (0..70 * 50).map(|cell| cell % 7 == 3).collect();
        let file = written(&snapshot);
        for (name, value) in [("solid", 1), ("vtkGhostType", 32)] {
            let expected: Vec<u8> = snapshot.solid.iter().map(|solid| if *solid { value } else { 0 }).collect();
            assert_eq!(read(&file, name), (1, expected), "{name}");
        }
    }

    #[test]
    fn a_series_lists_times_and_files() {
        let mut file = vec![];
        write_series(&mut file, &[(0.0, "a.vti"), (0.5, "b.vti")]).unwrap();
        let text = String::from_utf8(file).unwrap();
        assert!(text.contains(r#"<DataSet timestep="0.5" part="0" file="b.vti"/>"#));
    }
}
