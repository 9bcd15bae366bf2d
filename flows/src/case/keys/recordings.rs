//! `[[recordings]]`, and recordings as the velocity of a face.

use std::sync::Arc;

use super::lists::{List, same_file};
use super::reader::Reader;
use super::values::{Interval, RawSlice};
use crate::case::diag::Spanned;
use crate::case::recording::{MOST_RECORDINGS, RecordingFile};
use crate::case::takes::{FROM, PLANE, STEPS, TEXT};
use crate::case::tree::{Kind, Table};

keys! {
    /// A plane whose velocity is recorded.
    RawRecording, "recordings." {
        name: Spanned<String> = file_name(), TEXT,
            "name of a plane whose velocity is recorded for other runs, under `[[recordings]]`; the file is `NAME.lbmplane`", else "what its file is called", "`name = \"channel\"` for `channel.lbmplane`";
        plane: Spanned<RawSlice> = plane(), PLANE,
            "the plane, through the whole domain: { normal = \"x\", at = 31.5 }", else "the plane that is recorded", "`plane = { normal = \"x\", at = 31.5 }`";
        every: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between frames", else "steps between frames", "for example `every = 2`";
        from: Spanned<Interval> = first_step(), FROM,
            "first step that is recorded, or a time; default: 0";
        until: Spanned<Interval> = interval(), STEPS,
            "last step that is recorded, or a time; default: the end of the run";
    }
}

/// A recording that a face takes as its velocity.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawPlayed {
    pub(in crate::case) file: Spanned<String>,
    pub(in crate::case) repeat: bool,
    /// Once it has been opened.
    pub(in crate::case) opened: Option<Arc<RecordingFile>>,
}

impl Reader {
    pub(in crate::case) fn recordings(&mut self, root: &Table) -> Vec<Spanned<RawRecording>> {
        let list = List {
            name: "recordings",
            one: "a recording",
            most: MOST_RECORDINGS,
            fewer: None,
            keys: RawRecording::KEYS,
        };
        let all = self.list(root, &list, RawRecording::read);
        let help = "each has a file of its name: give it another";
        self.named_apart(&all, list.name, |recording| &recording.name, same_file, help);
        all
    }

    /// The recording that is the `velocity` of a face or a patch, if it is one; `None` where it cannot be read.
    pub(super) fn played(&mut self, face: &Table) -> Option<Option<Spanned<RawPlayed>>> {
        let Some(entry) = face.get("velocity") else { return Some(None) };
        let Kind::Table(table) = &entry.value.kind else { return Some(None) };
        self.only_keys(table, &["recording", "repeat"], "a velocity that has been recorded")?;
        if table.get("recording").is_none() {
            let help = "for example `velocity = { recording = \"channel.lbmplane\" }`".to_string();
            return self.missing(&entry.value.span, "recording", "the file of the recording", help);
        }
        if let Some(turbulence) = face.get("turbulence") {
            let message = "a recording has its own turbulence: `turbulence` excludes it";
            return self.report.add(crate::case::diag::CONFLICT, &turbulence.span, message, "one too many", None);
        }
        let file = self.text(table, "recording")?;
        let repeat = match table.get("repeat") {
            Some(_) => self.truth(table, "repeat")?,
            None => false,
        };
        Some(Some(Spanned { value: RawPlayed { file, repeat, opened: None }, span: entry.span.clone() }))
    }
}
