//! No file that a case is made of or names makes its reader panic or run for long: damaged cases, tables, images, surfaces and fields, the
//! same ones every time. For an hour each: `LBMC_FUZZ_SECONDS=3600 cargo test -p lbm-flows --lib fuzz`.

#[path = "../../../lbm-dsl/tests/texts/damage.rs"]
mod damage;

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use lbm_runtime::geometry::solid::Surface;

use super::cursor::{choices, key_at};
use super::image::{self, Kind, Solid};
use super::raw::RawCase;
use super::samples::{Asked, Samples};
use super::table::TableFile;
use damage::read_damaged;

#[test]
fn damaged_cases_are_cases_or_diagnostics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases");
    let paths = std::fs::read_dir(folder).expect("cases").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    paths.sort();
    let cases: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("a case")).collect();
    read_damaged(&cases, 400, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = (key_at(&text, text.len() / 2), choices(&text, text.len() / 2), choices(&text, text.len()));
        let set = [("re".to_string(), "7".to_string())];
        let Ok(mut raw) = RawCase::parse("fuzz.toml", &text, &set) else { return };
        let _ = raw.find_stacks(|_| Err("none".into()));
        let _ = raw.load(|_| Err("none".into()));
        let _ = (raw.writes_below(), raw.cells(), raw.block(2), raw.fields().len());
        assert!(raw.inputs(&[])[0].bytes.len() < 100 * (bytes.len() + 1000));
    });
}

#[test]
fn damaged_tables_are_tables_or_refused() {
    let tables = ["time, speed\n0, 1e-3\n0.5;2 # peak\n1\t-3\n", "# measured\n-1e300 5\n0 6\n"];
    read_damaged(&tables.map(|table| table.as_bytes().to_vec()), 5000, |bytes| {
        if let Ok(table) = TableFile::read("a.csv", &|_| Ok(bytes.to_vec())) {
            assert!(table.points.len() > 1);
        }
    });
}

#[test]
fn damaged_images_are_images_or_refused() {
    let voxels: Vec<u8> = (0..60).map(|at| u8::from(at % 7 < 3)).collect();
    let mut gzip = GzEncoder::new(vec![], Compression::default());
    gzip.write_all(&voxels).expect("memory");
    let header = |encoding: &str| {
        format!(
            "NRRD0004\n# by hand\ntype: uint8\ndimension: 3\nsizes: 5 4 3\nencoding: {encoding}\nendian: little\n\n"
        )
        .into_bytes()
    };
    let nrrd = [[header("raw"), voxels.clone()].concat(), [header("gzip"), gzip.finish().expect("memory")].concat()];
    let mut png = vec![];
    let mut encoder = png::Encoder::new(&mut png, 10, 6);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&voxels)).expect("memory takes all");
    let read = |kind: Kind, bytes: &[u8], size| {
        for solid in [Solid::OfTwo { larger: true }, Solid::Above(0.5)] {
            if let Ok(found) = image::read(kind, &[bytes.to_vec()], size, solid) {
                assert!(found.solid().count() < 1 << 24);
            }
        }
    };
    read_damaged(&nrrd, 3000, |bytes| read(Kind::Nrrd, bytes, [0; 3]));
    read_damaged(&[png], 2000, |bytes| read(Kind::Png, bytes, [0; 3]));
    read_damaged(&[voxels], 500, |bytes| read(Kind::Raw, bytes, [5, 4, 3]));
}

#[test]
fn damaged_surfaces_are_surfaces_or_refused() {
    let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let mut text = String::from("solid body\n");
    let mut binary = [&[0u8; 80][..], &4u32.to_le_bytes()].concat();
    for face in faces {
        text += "facet normal 0 0 0\nouter loop\n";
        binary.extend([0; 12]);
        for corner in face.map(|at| corners[at]) {
            text += &format!("vertex {} {} {}\n", corner[0], corner[1], corner[2]);
            binary.extend(corner.iter().flat_map(|place| place.to_le_bytes()));
        }
        text += "endloop\nendfacet\n";
        binary.extend([0; 2]);
    }
    read_damaged(&[(text + "endsolid body\n").into_bytes(), binary], 3000, |bytes| {
        if let Ok((surface, names)) = Surface::from_stl(bytes) {
            assert!(surface.area().is_finite() && names.len() <= bytes.len());
            let _ = (surface.open(), surface.doubled(), surface.bounds());
        }
    });
}

/// Image data of 2 x 1 cells in every encoding, an array of numpy in both orders, an unstructured grid of one cell.
fn fields() -> Vec<Vec<u8>> {
    let raw: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut zlib = ZlibEncoder::new(vec![], Compression::default());
    zlib.write_all(&raw).expect("memory");
    let packed = zlib.finish().expect("memory");
    let numbers = |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
    let head = numbers(&[1, 16, 0, packed.len() as u32]);
    let plain = [numbers(&[16]), raw.clone()].concat();
    let text = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
    let image = |root: &str, array: &str, content: &str, behind: &[u8]| {
        let xml = format!(
            "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" {root}><ImageData WholeExtent=\"0 2 0 1 0 0\"><Piece Extent=\"0 2 0 1 0 \
             0\"><CellData><DataArray type=\"Float64\" Name=\"rho\" {array}>{content}</DataArray></CellData></Piece></ImageData>"
        );
        [xml.as_bytes(), behind, b"</VTKFile>"].concat()
    };
    let appended = |encoding: &str, data: &[u8]| {
        [format!("<AppendedData encoding=\"{encoding}\">_").as_bytes(), data, b"</AppendedData>"].concat()
    };
    let zip = "compressor=\"vtkZLibDataCompressor\"";
    let offset = "format=\"appended\" offset=\"0\"";
    let numpy = |order: &str| {
        let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (1, 2)}}\n");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &raw].concat()
    };
    let array = |ty: &str, name: &str, components: usize, bytes: &[u8]| {
        let content = text(&[&(bytes.len() as u32).to_le_bytes()[..], bytes].concat());
        format!(
            "<DataArray type=\"{ty}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\">{content}</DataArray>"
        )
    };
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let places: Vec<u8> = corners.iter().flat_map(|[x, y]| [*x, *y, 0.0f64]).flat_map(f64::to_le_bytes).collect();
    let ends: Vec<u8> = (0..4u64).flat_map(u64::to_le_bytes).collect();
    let grid = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" \
         NumberOfCells=\"1\"><Points>{}</Points><Cells>{}</Cells><CellData>{}</CellData></Piece></UnstructuredGrid></VTKFile>",
        array("Float64", "Points", 3, &places),
        array("Int64", "connectivity", 1, &ends),
        array("Float64", "rho", 1, &raw[..8])
    );
    vec![
        image("", "format=\"ascii\"", " 1.5\n-2 ", b""),
        image("", "format=\"binary\"", &text(&plain), b""),
        image(zip, "format=\"binary\"", &(text(&head) + &text(&packed)), b""),
        image("", offset, "", &appended("raw", &plain)),
        image(zip, offset, "", &appended("raw", &[head.clone(), packed.clone()].concat())),
        image(zip, offset, "", &appended("base64", (text(&head) + &text(&packed)).as_bytes())),
        numpy("False"),
        numpy("True"),
        grid.into_bytes(),
    ]
}

#[test]
fn damaged_fields_are_fields_or_refused() {
    let files = fields();
    for file in &files {
        Samples::read(file, Asked { dim: 2, name: "rho", si: false, most: 100 }).expect("a field");
    }
    read_damaged(&files, 20_000, |bytes| {
        if let Ok(samples) = Samples::read(bytes, Asked { dim: 2, name: "rho", si: false, most: 100 }) {
            assert!(samples.fits(1) || samples.fits(2) || samples.fits(3));
        }
    });
}
