//! How texts differ by what is stored of a cell: functions and components, each in a template of its own, so that others need not ask.

use lbm_bundle::{Manifest, Real};

/// The templates of what is stored.
pub struct Storage {
    /// Populations, or moments in their place.
    pub cells: &'static str,
    /// Numbers as they are computed with, or of 16 bits.
    pub numbers: &'static str,
}

impl Storage {
    /// Populations as they are computed with.
    pub const WHOLE: Storage = Storage {
        cells: include_str!("../../../templates/stored/populations.c"),
        numbers: include_str!("../../../templates/stored/whole.c"),
    };

    /// That of a method.
    pub fn of(manifest: &Manifest) -> Storage {
        let mut storage = Storage::WHOLE;
        if !manifest.moments.is_empty() {
            storage.cells = include_str!("../../../templates/stored/moments.c");
        }
        if manifest.real == Real::F16F32 {
            storage.numbers = include_str!("../../../templates/stored/half.c");
        }
        storage
    }
}
