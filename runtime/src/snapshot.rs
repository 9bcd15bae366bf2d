//! Macroscopic fields on the host, for output and for tests.

/// One scalar on every cell of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Name: `rho`, `ux`.
    pub name: String,
    /// Values in lattice units, index `x + size[0] * (y + size[1] * z)`.
    pub data: Vec<f64>,
}

/// Fields of the whole domain at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Time step, 0 before the first.
    pub step: u64,
    /// Number of axes.
    pub dim: usize,
    /// Cells along each axis; 1 beyond the dimension. Cell `(x, y, z)` has its centre at `(x + 1/2, y + 1/2, z + 1/2)`.
    pub size: [usize; 3],
    /// Fields, a component each.
    pub components: Vec<Component>,
}

impl Snapshot {
    /// Values of the component with that name.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.components.iter().find(|component| component.name == name).map(|component| &component.data[..])
    }

    /// Values of the vector with that name, a slice for each axis: of `ux`, `uy` (and `uz`) for `u`.
    pub fn vector(&self, name: &str) -> Option<Vec<&[f64]>> {
        ["x", "y", "z"][..self.dim].iter().map(|axis| self.get(&format!("{name}{axis}"))).collect()
    }

    /// Position of a cell in `Component::data`.
    pub fn index(&self, x: usize, y: usize, z: usize) -> usize {
        x + self.size[0] * (y + self.size[1] * z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_has_a_slice_for_each_axis() {
        let component = |name: &str, value: f64| Component { name: name.to_string(), data: vec![value] };
        let components = vec![component("rho", 1.0), component("ux", 2.0), component("uy", 3.0)];
        let mut snapshot = Snapshot { step: 0, dim: 2, size: [1; 3], components };
        assert_eq!(snapshot.vector("u"), Some(vec![&[2.0][..], &[3.0][..]]));
        snapshot.dim = 3;
        assert_eq!(snapshot.vector("u"), None);
    }
}
