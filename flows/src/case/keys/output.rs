//! `[output]`.

use super::reader::Reader;
use super::values::{Interval, RawSlice};
use crate::case::diag::{self, Span, Spanned};
use crate::case::takes::{FROM, PLANE, STEPS, TEXT, Takes};
use crate::case::tree::{Kind, Table};

/// Most planes that cut solids.
const MOST_SECTIONS: usize = 64;

keys! {
    /// `[output]`.
    RawOutput, "output." {
        directory: Spanned<String> = text(), TEXT,
            "folder for the results, below the one that the command runs in (`--out` may name any); default: out/NAME";
        profiles: bool = truth(), Takes::Truth,
            "write profiles along the centre lines", or false;
        picture: bool = truth(), Takes::Truth,
            "draw the velocity, the vorticity and scalars, at the end", or false;
        slice: Spanned<RawSlice> = plane(), PLANE,
            "plane of the pictures in three dimensions: { normal = \"y\", at = 32 }; default: the middle plane normal to z";
        grid: Spanned<bool> = choice(), Takes::Truth,
            "draw the edges of blocks over the pictures of a refined grid; default: true";
        vtk: Spanned<RawVtk> = vtk(), Takes::Either(&[Takes::Truth, Takes::Word(&["amr", "unstructured"])]),
            "write fields for ParaView: true; for a refined grid also \"amr\" (default in three dimensions) or \"unstructured\" (default in two)";
        fields: Vec<Spanned<String>> = names("fields = [\"velocity\", \"vorticity\"]"), Takes::List(&TEXT),
            "fields in VTK files, by name: [\"velocity\", \"vorticity\"]; default: the fields of the method";
        every: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between VTK files";
        series: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between rows of energy, enstrophy, dissipation and other sums over the flow";
        restart: Spanned<Interval> = interval(), STEPS,
            "interval between restart files (checkpoints), from which `--resume` continues: time steps, or a time; one more at the end";
        forces: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between rows of the force on solids";
        heat: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between rows of the heat, or other scalar, that solids give to the fluid";
        surfaces: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between files of pressure and friction on solids and on walls at faces; one more at the end";
        sections: Vec<Spanned<RawSlice>> = sections(), Takes::List(&PLANE),
            "with `surfaces`, in three dimensions: planes [{ normal = \"y\", at = 32 }] that cut solids; pressure and friction along the \
             cuts are written as tables", or vec![];
        average_from: Spanned<Interval> = interval(), FROM,
            "first step, or a time, of the means of forces, heat, probes and fluxes in summary.json; default: chosen by the run";
        compare: Spanned<String> = text(), TEXT,
            "published profiles, or a published series, to compare with";
    }
}

/// Whether and how fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::case) enum RawVtk {
    /// As suits the grid.
    Default,
    Amr,
    Unstructured,
}

impl Reader {
    pub(in crate::case) fn output(&mut self, table: &Table, span: &Span) -> Option<RawOutput> {
        let output = RawOutput::read(self, table, span)?;
        for key in ["every", "fields"] {
            self.only_where(table, key, "vtk", output.vtk.is_some(), "add `vtk = true`");
        }
        let help = "add `picture = true`; `[[pictures]]` have a `grid` each";
        self.only_where(table, "grid", "picture", output.picture, help);
        self.only_with(table, "sections", "surfaces", "add `surfaces = 1000`");
        Some(output)
    }

    /// Planes that cut solids.
    fn sections(&mut self, table: &Table, key: &str) -> Option<Vec<Spanned<RawSlice>>> {
        let entry = table.get(key)?;
        let help = "for example `sections = [{ normal = \"y\", at = 32 }]`".to_string();
        let Kind::List(list) = &entry.value.kind else {
            return self.wrong_type(&entry.value, "a list of planes", help);
        };
        if let Some(beyond) = list.get(MOST_SECTIONS) {
            let message = format!("{} sections are more than {MOST_SECTIONS}", list.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        Some(list.iter().take(MOST_SECTIONS).filter_map(|value| self.slice(value)).collect())
    }

    fn vtk(&mut self, table: &Table, key: &str) -> Option<Spanned<RawVtk>> {
        let value = &table.get(key)?.value;
        let kind = match &value.kind {
            Kind::Bool(true) => RawVtk::Default,
            Kind::Text(text) => match &text[..] {
                "amr" => RawVtk::Amr,
                "unstructured" => RawVtk::Unstructured,
                _ => {
                    let message = format!("`{text}` is no choice for `vtk`");
                    let help = "vtk is `true`, and of a refined grid also `\"amr\"` or `\"unstructured\"`".to_string();
                    return self.report.add(diag::UNKNOWN_WORD, &value.span, message, "unknown word", help);
                }
            },
            _ => {
                self.truth(table, key).filter(|wanted| *wanted)?;
                RawVtk::Default
            }
        };
        Some(Spanned { value: kind, span: value.span.clone() })
    }
}
