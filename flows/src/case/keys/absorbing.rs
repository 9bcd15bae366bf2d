//! `[absorbing]`.

use lbm_bundle::variation::{FAR_DENSITY, FAR_VELOCITY};

use super::params::RawParam;
use super::reader::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::takes::{QUANTITY, SIDES, VALUE};
use crate::case::tree::{Kind, Table};
use crate::case::units::Dimension;
use crate::case::walls::FACES;
use crate::case::words;

keys! {
    /// `[absorbing]`.
    RawAbsorbing, "absorbing." {
        faces: Spanned<Vec<Spanned<usize>>> = sides(), SIDES,
            "faces in front of which sound and vortices are absorbed",
            else "in front of which faces sound and vortices are absorbed", "`faces = [\"right\", \"top\"]`";
        width: Spanned<f64> = positive(Dimension::LENGTH), QUANTITY,
            "how wide the absorbing layer is: cells, or a length in SI",
            else "how wide the layer is", "`width = 20`";
        velocity: RawParam = far(FAR_VELOCITY), VALUE,
            "velocity that the layer leads to; default: that of its faces";
        density: RawParam = far(FAR_DENSITY), QUANTITY,
            "density that the layer leads to; default: 1, that of the fluid at rest";
    }
}

impl Reader {
    /// Faces by name, as numbers.
    fn sides(&mut self, table: &Table, key: &str) -> Option<Spanned<Vec<Spanned<usize>>>> {
        self.vector(table, key, |reader, value| match &value.kind {
            Kind::Text(text) => FACES.iter().position(|face| face == text).or_else(|| {
                let message = format!("`{text}` is no face");
                let help = words::suggest(text, &FACES);
                reader.report.add(diag::UNKNOWN_WORD, &value.span, message, "unknown face", help)
            }),
            _ => reader.wrong_type(value, "the name of a face", "write `faces = [\"right\", \"top\"]`".to_string()),
        })
    }

    /// What the flow is beyond the layer, as a parameter of the method.
    fn far(&mut self, table: &Table, key: &str, name: &str) -> Option<RawParam> {
        let param = self.params(&[table.get(key)?.clone()]).pop()?;
        Some(RawParam { name: Spanned { value: name.to_string(), ..param.name }, ..param })
    }
}
