//! In: the [`Plan`] of each kernel and the [`Manifest`] with their signatures. Out: the files of a bundle.
//!
//! After: the text is finished. Rust decides here, the templates only lay out; a number is printed once, by `number`.
//!
//! Each of these knows only those before it:
//!
//! - `text`, `number`, `formula`, `double`: what a spec says in words; constants, expressions and formulas in 64 bits as text
//! - `target`: what targets write differently; `storage`: what differs by what is stored of a cell
//! - `method`: what is printed; `view`: what templates print of every kernel; `render`: the templates
//! - `banner`, `constants`, `gather`, `items`, `arithmetic`, `signature`: parts of every file and kernel
//! - `walls`, `adjoint`, `around`, `solids`, `moments`, `packets`, `interface`, `transfer`, `inbox`, `ghosts`: what templates print of a subject, and what
//!   fills it; `layout`: all of it, a `View`
//! - `mesh`: kernels that change the forest; `criteria`: those that say which levels blocks should have;
//!   `prescribed`: those of values at walls; `statistics`: those of statistics over time; `cutting`: those that cut links at moving solids
//! - `soa`: kernels on plain arrays; `header`, `rust`, `bindings`: what embeds kernels

mod adjoint;
mod arithmetic;
mod around;
mod banner;
mod bindings;
mod constants;
mod criteria;
mod cutting;
mod double;
mod formula;
mod function;
mod gather;
mod ghosts;
mod header;
mod inbox;
mod interface;
mod items;
mod layout;
mod mesh;
mod method;
pub mod moments;
mod number;
mod packets;
mod prescribed;
mod render;
mod rust;
mod signature;
mod soa;
mod solids;
mod statistics;
mod storage;
mod target;
pub mod text;
mod transfer;
mod view;
mod walls;

pub use criteria::criteria;
pub use cutting::cutting;
pub use mesh::mesh;
pub use method::{
    Around, Derivatives, Interface, Method, Moments, NodeForm, OfLink, PointSet, Rescaled, Stencil, Wall,
};
pub use prescribed::prescribed;
pub use statistics::statistics;

use lbm_bundle::{File, Layout, Manifest};
use render::render;
use storage::Storage;
use target::Dialect;

/// The kernels for the manifest's target and layout.
pub fn source(method: &Method) -> File {
    let Manifest { spec, target, layout, .. } = method.manifest;
    let dialect = Dialect::of(*target);
    let storage = Storage::of(method.manifest);
    let text = match layout {
        Layout::Blocks => render(&dialect, &storage, "kernels", dialect.kernels, &layout::view(method, &dialect)),
        Layout::Soa => render(&dialect, &storage, "soa", dialect.soa, &soa::view(method, dialect)),
    };
    File { name: format!("{spec}.{}", target.ending()), text }
}

/// What embeds the kernels: the C header and the Rust bindings. They are the same for all targets.
pub fn extras(method: &Method) -> Vec<File> {
    vec![header::header(method), bindings::bindings(method)]
}
