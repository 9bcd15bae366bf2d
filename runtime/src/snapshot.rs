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

    /// Position of a cell in `Component::data`.
    pub fn index(&self, x: usize, y: usize, z: usize) -> usize {
        x + self.size[0] * (y + self.size[1] * z)
    }
}
