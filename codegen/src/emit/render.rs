//! Templates, and a view in one of them.

use serde::Serialize;
use tera::{Context, Tera};

use super::storage::Storage;
use super::target::Dialect;

/// What the kernel templates of both targets include.
const SHARED: [(&str, &str); 32] = [
    ("kernel", include_str!("../../../templates/shared/kernel.c")),
    ("states", include_str!("../../../templates/shared/states.c")),
    ("fields", include_str!("../../../templates/shared/fields.c")),
    ("ghost_kernels", include_str!("../../../templates/shared/ghost_kernels.c")),
    ("inbox_kernels", include_str!("../../../templates/shared/inbox_kernels.c")),
    ("method", include_str!("../../../templates/shared/method.c")),
    ("arithmetic", include_str!("../../../templates/shared/arithmetic.c")),
    ("params", include_str!("../../../templates/shared/params.c")),
    ("transfer", include_str!("../../../templates/shared/transfer.c")),
    ("remap", include_str!("../../../templates/shared/remap.c")),
    ("reduce", include_str!("../../../templates/shared/reduce.c")),
    ("ghosts", include_str!("../../../templates/shared/ghosts.c")),
    ("inbox", include_str!("../../../templates/shared/inbox.c")),
    ("interface", include_str!("../../../templates/shared/interface.c")),
    ("places", include_str!("../../../templates/shared/places.c")),
    ("moments", include_str!("../../../templates/shared/moments.c")),
    ("cells", include_str!("../../../templates/shared/cells.c")),
    ("adjoint", include_str!("../../../templates/shared/adjoint.c")),
    ("walls", include_str!("../../../templates/shared/walls.c")),
    ("rule", include_str!("../../../templates/shared/rule.c")),
    ("arrives", include_str!("../../../templates/shared/arrives.c")),
    ("stencil", include_str!("../../../templates/shared/stencil.c")),
    ("slopes", include_str!("../../../templates/shared/slopes.c")),
    ("slope", include_str!("../../../templates/shared/slope.c")),
    ("tables", include_str!("../../../templates/shared/tables.c")),
    ("noise", include_str!("../../../templates/shared/noise.c")),
    ("recorded", include_str!("../../../templates/shared/recorded.c")),
    ("nodes", include_str!("../../../templates/shared/nodes.c")),
    ("around", include_str!("../../../templates/shared/around.c")),
    ("in_place", include_str!("../../../templates/shared/in_place.c")),
    ("gather", include_str!("../../../templates/shared/gather.c")),
    ("solids", include_str!("../../../templates/shared/solids.c")),
];

/// Renders a template with a view, which may use what is shared, the forms of a target and those of what is stored: all are ours and do not
/// depend on what a user writes, so failure is our bug.
pub fn render(dialect: &Dialect, storage: &Storage, name: &str, template: &str, view: &impl Serialize) -> String {
    let mut tera = Tera::new();
    let text = tera
        .add_raw_templates(SHARED.iter().copied().chain([
            ("words", dialect.words),
            ("forms", dialect.forms),
            ("stored cells", storage.cells),
            ("stored numbers", storage.numbers),
            (name, template),
        ]))
        .and_then(|()| tera.render(name, &Context::from_serialize(view)?))
        .unwrap_or_else(|error| panic!("template {name}: {error:?}"));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_string() + "\n"
}
