
// ---- the same kernels in Rust, for the host ------------------------------------------------------------------------

/// A box of cells in arrays of your own; everything is counted in values. Direction (or component) `i` of a cell lies
/// `i * stride_i + z * stride_z + y * stride_y + x` behind `origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Cells along each axis, 1 beyond the dimension.
    pub extents: [usize; 3],
    /// From a cell to the next along y.
    pub stride_y: usize,
    /// From a cell to the next along z.
    pub stride_z: usize,
    /// From a direction (or component of the fields) to the next.
    pub stride_i: usize,
    /// Position of cell `(0, 0, 0)` in an array.
    pub origin: usize,
}

impl Cells {
    /// Dense arrays with one layer of ghost cells around `extents` cells.
    pub const fn with_ghosts(extents: [usize; 3]) -> Cells {
        let [nx, ny, nz] = extents;
        let stride_y = nx + 2;
        let stride_z = stride_y * (ny + 2);
        let (planes, below) = if DIM == 3 { (nz + 2, stride_z) } else { (1, 0) };
        Cells { extents, stride_y, stride_z, stride_i: stride_z * planes, origin: below + stride_y + 1 }
    }

    /// Where direction (or component) `i` of a cell is; coordinates of ghost cells are -1 and the extents.
    pub const fn at(&self, i: usize, x: isize, y: isize, z: isize) -> usize {
        let cell = z * self.stride_z as isize + y * self.stride_y as isize + x;
        (self.origin + i * self.stride_i).strict_add_signed(cell)
    }
}

/// Cells that are worked on at a time: enough for any vector, few enough for the first-level cache.
const LANES: usize = 32;

/// Hands runs of cells to `lanes`, component `i` of the source from `upwind[i]` values before each cell.
fn for_each_run<const I: usize, const O: usize>(
    cells: &Cells,
    upwind: [isize; I],
    src: &[{{ real }}],
    dst: &mut [{{ real }}],
    lanes: impl Fn(&[[{{ real }}; LANES]; I], &mut [[{{ real }}; LANES]; O]),
) {
    // Lanes behind the end of a row hold what an earlier run left there.
    let (mut before, mut after) = ([[1.0; LANES]; I], [[1.0; LANES]; O]);
    let [nx, ny, nz] = cells.extents;
    for row in 0..ny * nz {
        let row = cells.origin + row / ny * cells.stride_z + row % ny * cells.stride_y;
        for x in (0..nx).step_by(LANES) {
            let count = LANES.min(nx - x);
            for (i, lane) in before.iter_mut().enumerate() {
                let from = (row + x + i * cells.stride_i).strict_sub_signed(upwind[i]);
                lane[..count].copy_from_slice(&src[from..from + count]);
            }
            lanes(&before, &mut after);
            for (i, lane) in after.iter().enumerate() {
                let to = row + x + i * cells.stride_i;
                dst[to..to + count].copy_from_slice(&lane[..count]);
            }
        }
    }
}
{% for kernel in kernels %}
{%- for line in kernel.doc %}
/// {{ line }}
{%- endfor %}
#[allow(non_snake_case)]
pub fn {{ kernel.name }}_lanes<const N: usize>(
    {{ kernel.from }}: &[[{{ real }}; N]; {{ kernel.ins }}],
    {{ kernel.to }}: &mut [[{{ real }}; N]; {{ kernel.outs }}],
{%- if kernel.params %}
    params: Params,
{%- endif %}
) {
{%- for line in kernel.unpack %}
    {{ line }}
{%- endfor %}
    for lane in 0..N {
{%- for input in kernel.inputs %}
        let {{ input.name }} = {{ kernel.from }}[{{ input.text }}][lane];
{%- endfor %}
{%- for line in kernel.body %}
        {{ line }}
{%- endfor %}

{%- for output in kernel.outputs %}
        {{ kernel.to }}[{{ output.text }}][lane] = {{ output.name }};
{%- endfor %}
    }
}

/// {{ kernel.about }}
///
/// # Panics
///
/// Where an array ends before the box does.
pub fn {{ kernel.arrays }}(
    cells: &Cells,
    {{ kernel.from }}: &[{{ real }}],
    {{ kernel.to }}: &mut [{{ real }}],
{%- if kernel.params %}
    params: Params,
{%- endif %}
) {
{%- if kernel.streams %}
    let (sy, sz) = (cells.stride_y as isize, cells.stride_z as isize);
    let upwind = VELOCITIES.map(|[x, y, z]| x as isize + y as isize * sy + z as isize * sz);
{%- else %}
    let upwind = [0; {{ kernel.ins }}];
{%- endif %}
    for_each_run(cells, upwind, {{ kernel.from }}, {{ kernel.to }}, |before, after| {
        {{ kernel.name }}_lanes(before, after{% if kernel.params %}, params{% endif %})
    });
}
{% endfor -%}
