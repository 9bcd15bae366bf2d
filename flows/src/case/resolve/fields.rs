//! Fields of the case's own against those of the method.

use lbm_bundle::{Formula, statistics};

use super::resolver::Resolver;
use crate::case::diag;
use crate::case::quantity::Quantity;
use crate::case::words;

impl Resolver<'_> {
    /// What `[fields]` defines. Each is used, and its name is its own.
    pub(super) fn own_fields(&mut self) -> Vec<Quantity> {
        let (raw, components) = (self.raw, self.manifest.component_names());
        let slopes = statistics::slopes(self.dim, &components);
        let known: Vec<&str> = components.iter().chain(slopes.keys()).map(String::as_str).collect();
        let of_method = Quantity::all(self.manifest);
        let taken = |name: &str| {
            components.iter().any(|component| component == name)
                || of_method.iter().any(|field| field.name() == name || field.columns().iter().any(|it| it == name))
        };
        let mut found = vec![];
        for field in &raw.fields {
            let name = &field.name.value;
            if taken(name) {
                let message = format!("`{}` has a field `{name}`", self.manifest.spec);
                let help = "give this one another name".to_string();
                self.report.add::<()>(diag::CONFLICT, &field.name.span, message, "taken", help);
                continue;
            }
            if raw.output_fields().all(|used| used.value != *name) {
                let message = format!("`{name}` has no effect: no output has this field");
                let help =
                    format!("name it in `output.fields`, a probe, a picture or statistics: `fields = [\"{name}\"]`");
                self.report.add::<()>(diag::NO_EFFECT, &field.name.span, message, "has no effect", help);
                continue;
            }
            let pi = || Formula::number(std::f64::consts::PI);
            let formula = field.formula.value.with(&|name| (name == "pi").then(pi));
            if let Some(unknown) = formula.names().into_iter().find(|name| !known.contains(name)) {
                let message = format!("`{}` has no component `{unknown}`", self.manifest.spec);
                let help = words::suggest(unknown, &known);
                self.report.add::<()>(diag::FORMULA, &field.formula.span, message, "unknown name", help);
                continue;
            }
            found.push(Quantity::of_formula(self.manifest, name, formula));
        }
        found
    }
}
