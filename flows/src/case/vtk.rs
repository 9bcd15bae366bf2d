//! Formats of fields for ParaView.

/// A format of fields for ParaView.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vtk {
    /// Image data: of a grid of one level.
    Image,
    /// Overlapping AMR in a VTKHDF file.
    Amr,
    /// An unstructured grid.
    Unstructured,
}

impl Vtk {
    /// All of them.
    pub const ALL: [Vtk; 3] = [Vtk::Image, Vtk::Amr, Vtk::Unstructured];

    /// What is written unless the case says more.
    pub fn default_for(refined: bool, dim: usize) -> Vtk {
        match (refined, dim) {
            (false, _) => Vtk::Image,
            (true, 2) => Vtk::Unstructured,
            (true, _) => Vtk::Amr,
        }
    }

    /// Ending of the names of files.
    pub fn ending(self) -> &'static str {
        match self {
            Vtk::Image => "vti",
            Vtk::Amr => "vtkhdf",
            Vtk::Unstructured => "vtu",
        }
    }
}
