//! Published profiles that a case can ask to be compared with. The tables with their sources lie in `cases/reference`.

/// A published profile along a centre line of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Axis along which the line runs.
    pub axis: usize,
    /// Component of velocity.
    pub component: usize,
    /// Position over the domain's extent, velocity over the reference velocity.
    pub points: Vec<(f64, f64)>,
}

/// Published profiles of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Authors and year, for legends.
    pub title: &'static str,
    /// Profiles.
    pub curves: Vec<Curve>,
}

/// Name, title, number of axes, Reynolds number, and along y and x the tables of the x and y component of velocity.
type Row = (&'static str, &'static str, usize, f64, &'static str, &'static str);

macro_rules! table {
    ($file:literal) => {
        include_str!(concat!("../../../cases/reference/", $file, ".csv"))
    };
}

/// Lid-driven cavities whose lid is the top face and moves towards +x.
const ROWS: &[Row] = &[
    ("ghia1982", "Ghia et al. (1982)", 2, 100.0, table!("ghia1982_u_re100"), table!("ghia1982_v_re100")),
    ("ghia1982", "Ghia et al. (1982)", 2, 1000.0, table!("ghia1982_u_re1000"), table!("ghia1982_v_re1000")),
    ("ghia1982", "Ghia et al. (1982)", 2, 5000.0, table!("ghia1982_u_re5000"), table!("ghia1982_v_re5000")),
    (
        "albensoeder2005",
        "Albensoeder & Kuhlmann (2005)",
        3,
        1000.0,
        table!("ldc3d_albensoeder2005_u_re1000"),
        table!("ldc3d_albensoeder2005_w_re1000"),
    ),
];

/// Names of the data sets.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = ROWS.iter().map(|row| row.0).collect();
    names.dedup();
    names
}

/// Reynolds numbers that a data set has in `dim` dimensions.
pub(super) fn reynolds_numbers(name: &str, dim: usize) -> Vec<f64> {
    ROWS.iter().filter(|row| row.0 == name && row.2 == dim).map(|row| row.3).collect()
}

/// The profiles of the data set `name` at a Reynolds number (to 0.1 %).
pub fn find(name: &str, dim: usize, re: f64) -> Option<Reference> {
    let fits = |row: &&Row| row.0 == name && row.2 == dim && (row.3 / re - 1.0).abs() < 1e-3;
    let (_, title, _, _, along_y, along_x) = ROWS.iter().find(fits)?;
    let curves = vec![
        Curve { axis: 1, component: 0, points: points(along_y) },
        Curve { axis: 0, component: 1, points: points(along_x) },
    ];
    Some(Reference { title, curves })
}

/// The first two columns of a table whose comments start with `#` and whose first row names the columns.
fn points(text: &str) -> Vec<(f64, f64)> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.filter_map(|row| {
        let mut fields = row.split(',').map(|field| field.trim().parse::<f64>());
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_runs_from_wall_to_wall() {
        for (name, _, dim, re, ..) in ROWS {
            let reference = find(name, *dim, *re).expect("a row finds itself");
            for curve in reference.curves {
                let (first, last) = (curve.points[0], curve.points[curve.points.len() - 1]);
                assert_eq!((first.0, last.0), (0.0, 1.0), "{name} {re}");
                assert_eq!(first.1, 0.0);
                assert_eq!(last.1, if curve.component == 0 { 1.0 } else { 0.0 });
                assert!(curve.points.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }

    #[test]
    fn a_reynolds_number_without_table_finds_nothing() {
        assert!(find("ghia1982", 2, 400.0).is_none());
        assert!(find("ghia1982", 3, 1000.0).is_none());
        assert!(find("ghia1982", 2, 1000.4).is_some());
    }
}
