//! Triangulated surfaces with values at their points (`.vtp`).

use std::io::{self, Write};

use lbm_runtime::solver::snapshot::Snapshot;

use super::{Appended, Array, Values, time};
use crate::case::Units;

/// A triangulated surface.
pub struct Polygons<'a> {
    /// Positions of the points, in the units of the file.
    pub points: &'a [[f64; 3]],
    /// Corners of triangles as point indices.
    pub triangles: &'a [[usize; 3]],
    /// Unit normals at the points.
    pub normals: &'a [[f64; 3]],
    /// Number of the part to which each triangle belongs, if there are several.
    pub parts: Option<&'a [i32]>,
}

/// Writes a surface with pressure, friction and y+ at its points, in the units of the file.
pub fn write_polygons(
    out: &mut dyn Write,
    surface: &Polygons<'_>,
    pressure: &[f64],
    friction: Option<(&[[f64; 3]], &[f64])>,
    snapshot: &Snapshot,
    units: &Units,
) -> io::Result<()> {
    let mut appended = Appended::default();
    let vectors = |of: &[[f64; 3]]| of.iter().flatten().flat_map(|part| part.to_le_bytes()).collect();
    let numbers = |of: &[f64]| of.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut array = |name: &str, components: usize, ty: &'static str, bytes: Vec<u8>| {
        appended.add(Array { name: name.into(), components, ty, values: Values::Bytes(bytes) })
    };
    let points = array("Points", 3, "Float64", vectors(surface.points));
    let corners = surface.triangles.iter().flatten().flat_map(|point| (*point as i64).to_le_bytes()).collect();
    let connectivity = array("connectivity", 1, "Int64", corners);
    let ends = (1..=surface.triangles.len()).flat_map(|triangle| (3 * triangle as i64).to_le_bytes()).collect();
    let offsets = array("offsets", 1, "Int64", ends);
    let pressure = array("pressure", 1, "Float64", numbers(pressure));
    let normals = array("normals", 3, "Float64", vectors(surface.normals));
    let (friction, active) = match friction {
        Some((friction, y_plus)) => {
            let friction = array("friction", 3, "Float64", vectors(friction));
            let y_plus = array("y_plus", 1, "Float64", numbers(y_plus));
            (format!("        {friction}\n        {y_plus}\n"), " Vectors=\"friction\"")
        }
        None => (String::new(), ""),
    };
    let parts = surface.parts.map_or(String::new(), |parts| {
        let bytes = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
        let part = array("part", 1, "Int32", bytes);
        format!("      <CellData Scalars=\"part\">\n        {part}\n      </CellData>\n")
    });
    let content = format!(
        "    <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n      \
         <PointData Scalars=\"pressure\"{active} Normals=\"normals\">\n        {pressure}\n{friction}        {normals}\n      </PointData>\n{parts}      \
         <Points>\n        {points}\n      </Points>\n      <Polys>\n        {connectivity}\n        {offsets}\n      </Polys>\n    </Piece>\n",
        surface.points.len(),
        surface.triangles.len(),
    );
    appended.write(out, "PolyData", time(snapshot, units), "<PolyData>", &content)
}

#[cfg(test)]
mod tests {
    use lbm_runtime::geometry::Domain;

    use super::*;
    use crate::output::vtk::tests::read;

    #[test]
    fn a_file_has_the_triangles_and_their_values() {
        let snapshot = Snapshot::uniform(4, Domain { dim: 3, size: [4; 3], periodic: [true; 3] }, vec![]);
        let (points, normals) = ([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]; 4]);
        let surface =
            Polygons { points: &points, triangles: &[[0, 1, 2], [0, 2, 3]], normals: &normals, parts: Some(&[0, 2]) };
        let (pressure, friction, y_plus) = ([1.5, 2.5, 3.5, 4.5], [[1.0, 2.0, 3.0]; 4], [30.0, 40.0, 50.0, 60.0]);
        let mut file = vec![];
        write_polygons(&mut file, &surface, &pressure, Some((&friction, &y_plus)), &snapshot, &Units::LATTICE).unwrap();
        let floats = |name: &str| -> Vec<f64> {
            read(&file, name).1.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
        };
        let ints = |name: &str| -> Vec<i64> {
            read(&file, name).1.chunks(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap())).collect()
        };
        assert_eq!(floats("Points"), points.as_flattened());
        assert_eq!((floats("pressure"), floats("friction")), (pressure.to_vec(), friction.as_flattened().to_vec()));
        assert_eq!(floats("y_plus"), y_plus);
        assert_eq!((ints("connectivity"), ints("offsets")), (vec![0, 1, 2, 0, 2, 3], vec![3, 6]));
        let parts = read(&file, "part").1;
        assert_eq!(parts, [0i32, 2].map(i32::to_le_bytes).as_flattened());
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(text.contains("type=\"PolyData\"") && text.contains("NumberOfPolys=\"2\""));
        let surface = Polygons { parts: None, ..surface };
        let mut file = vec![];
        write_polygons(&mut file, &surface, &pressure, None, &snapshot, &Units::LATTICE).unwrap();
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(!text.contains("friction") && !text.contains("y_plus") && !text.contains("part"));
    }
}
