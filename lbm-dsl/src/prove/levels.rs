//! What is known of the stencils of a model.

use crate::expr::Rational;
use crate::model::levels::{PointSet, Stencil, Target};

/// A line for each set of points of each stencil.
pub fn lines(stencils: &[Stencil]) -> Vec<String> {
    stencils.iter().flat_map(|stencil| stencil.sets().iter().map(|set| line(stencil, set))).collect()
}

fn line(stencil: &Stencil, set: &PointSet) -> String {
    let list = |values: &[Rational]| values.iter().map(Rational::to_string).collect::<Vec<_>>().join(", ");
    let what = match stencil.target() {
        Target::Value(at) => format!("value at {at}"),
        Target::Derivative(at) => format!("derivative at {at}"),
        Target::Mean(low, high) => format!("mean over ({low}, {high})"),
    };
    let through = match set.degree() {
        0 => "constants".into(),
        1 => "x".into(),
        degree => format!("x^{degree}"),
    };
    let keeps = match stencil.target() {
        Target::Mean(..) => ", both children together keep the mean of their parent",
        _ => "",
    };
    format!(
        "stencil {}: {what} from {}, weights {}: exact through {through}{keeps}; sum of |weights| {}",
        stencil.name(),
        list(set.points()),
        list(set.weights()),
        set.lebesgue()
    )
}
