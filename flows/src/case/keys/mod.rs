//! The keys of a case file: a module for each subject, which says what its keys are called, what values they take, what they are for, into what
//! raw values they are read, and which exclude each other or have no effect without others.
//!
//! After: every value has the right type and a unit of the right kind. What depends on the method is left to `resolve`.
//!
//! | module | keys |
//! | --- | --- |
//! | `table` | what is said of a key; the macro for tables whose keys are read one by one |
//! | `reader` | what reads values of the tree; its methods are in the modules of their subjects |
//! | `given` | which keys a table has: missing, unknown, exclusive, without effect |
//! | `values` | single values: texts, words, numbers, quantities, formulas |
//! | `lists` | lists of tables |
//! | `top`, `units`, `domain` | those at the top of the file, `[units]`, `[domain]` |
//! | `params`, `fluid` | `[params]`, `[fluid]` |
//! | `faces`, `patches`, `turbulence` | `[faces]`, patches of faces and of surfaces, eddies at faces |
//! | `absorbing`, `start`, `refinement`, `stop` | `[absorbing]`, `[start]`, `[refinement]`, `[stop]` |
//! | `shapes`, `solids`, `free`, `layer` | `[[solids]]`: those of shapes, all others, those of bodies that the fluid moves, and of boundary layers |
//! | `output`, `fields`, `report`, `gradient` | `[output]`, `[fields]`, `[report]`, `[gradient]` |
//! | `probes`, `pictures`, `views`, `statistics`, `fluxes`, `recordings` | `[[probes]]`, `[[pictures]]`, `[[views]]`, `[[statistics]]`, `[[fluxes]]`, `[[recordings]]` |

#[macro_use]
pub(super) mod table;

pub(super) mod absorbing;
pub(super) mod domain;
pub(super) mod faces;
pub(super) mod fields;
pub(super) mod fluid;
pub(super) mod fluxes;
pub(super) mod free;
mod given;
pub(super) mod gradient;
pub(super) mod layer;
mod lists;
pub(super) mod output;
pub(super) mod params;
pub(super) mod patches;
pub(super) mod pictures;
pub(super) mod probes;
pub(super) mod reader;
pub(super) mod recordings;
pub(super) mod refinement;
pub(super) mod report;
pub(super) mod shapes;
pub(super) mod solids;
pub(super) mod start;
pub(super) mod statistics;
pub(super) mod stop;
pub(super) mod top;
pub(super) mod turbulence;
pub(super) mod units;
pub(super) mod values;
pub(super) mod views;
