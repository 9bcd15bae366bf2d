//! Where boundary conditions put the wall, in words.

use lbm_dsl::prove::channel;
use lbm_setup::walls::Place;

/// Prints a line for each.
pub fn tell(places: &[Place]) {
    if places.is_empty() {
        return;
    }
    let heights = channel::HEIGHTS.map(|height| height.to_string());
    println!("wall positions, from steady channel flows of {} cells near rest", heights.join(", "));
    for Place { rule, parameters, text, .. } in places {
        let given: String = parameters.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
        println!("  {rule}{given}: {text}");
    }
}
