//! Absorbing layers that a case adds, as statements of the text.
//!
//! In: a tree. After: it has a rate, which the case makes vary in space ([`vary`](crate::vary)), and what the flow is far away, as if the
//! text said
//!
//! ```text
//! param absorbing: 1 / time;
//! param absorbing_density;
//! param absorbing_velocity[a]: length / time;
//! ```
//!
//! and a statement by which every collision acts on populations that are moved towards those of `init` with that density and that velocity,
//! by that part of the difference in a step (Israeli & Orszag, J. Comput. Phys. 41 (1981) 115; Xu & Sagaut, J. Comput. Phys. 245 (2013)
//! 16). What is proved of a method is proved without it.

use lbm_bundle::variation::{ABSORBING, FAR_DENSITY, FAR_VELOCITY};

use crate::ast::{Absorbing, Ast, Binder, Item, Name, ParamDef, Range};
use crate::source::Span;
use crate::unit::Unit;

impl Ast {
    /// Adds an absorbing layer.
    pub fn absorb(&mut self) {
        let span =
            self.items.iter().find_map(|item| if let Item::Collide(block) = item { Some(block.span) } else { None });
        let span: Span = span.unwrap_or_default();
        let name = |text: &str| Name { text: text.into(), span };
        let param = |text: &str, indices: Vec<Binder>, unit: Option<Unit>, doc: &str| {
            Item::Param(ParamDef { name: name(text), indices, default: None, range: None, unit, doc: doc.into() })
        };
        let axes = vec![Binder { name: name("a"), range: Range::Axes }];
        let params = [
            param(ABSORBING, vec![], Some(Unit { length: 0, time: -1 }), "rate of the absorbing layer"),
            param(FAR_DENSITY, vec![], None, "density beyond the absorbing layer"),
            param(FAR_VELOCITY, axes, Some(Unit::VELOCITY), "velocity beyond the absorbing layer"),
        ];
        self.items.extend(params);
        let [rate, density, velocity] = [ABSORBING, FAR_DENSITY, FAR_VELOCITY].map(name);
        self.items.push(Item::Absorbing(Absorbing { rate, density, velocity }));
    }
}
