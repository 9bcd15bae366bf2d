//! Published data that a case can ask to be compared with. The tables with their sources lie in `cases/reference`.

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

/// A row of a published series in time: means over the domain, in units of the reference velocity and length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Time.
    pub time: f64,
    /// Kinetic energy, half the mean square of the velocity.
    pub energy: f64,
    /// Rate at which the energy falls.
    pub dissipation: f64,
    /// Enstrophy, half the mean square of the vorticity.
    pub enstrophy: f64,
}

/// Published data of one flow. The title names authors and year, for legends.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// Profiles along centre lines.
    Profiles {
        /// Authors and year.
        title: &'static str,
        /// The profiles.
        curves: Vec<Curve>,
    },
    /// A series in time.
    Series {
        /// Authors and year.
        title: &'static str,
        /// Its rows, in the order of time.
        moments: Vec<Moment>,
    },
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

/// Name, title, number of axes, Reynolds number, and the table of a series in time.
const SERIES: &[(&str, &str, usize, f64, &str)] =
    &[("tgv3d_re1600", "van Rees et al. (2011)", 3, 1600.0, table!("tgv3d_re1600"))];

/// Name, number of axes and Reynolds number of every table.
fn tables() -> impl Iterator<Item = (&'static str, usize, f64)> {
    let profiles = ROWS.iter().map(|row| (row.0, row.2, row.3));
    profiles.chain(SERIES.iter().map(|row| (row.0, row.2, row.3)))
}

/// Names of the data sets.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = tables().map(|table| table.0).collect();
    names.dedup();
    names
}

/// Reynolds numbers that a data set has in `dim` dimensions.
pub(super) fn reynolds_numbers(name: &str, dim: usize) -> Vec<f64> {
    tables().filter(|table| table.0 == name && table.1 == dim).map(|table| table.2).collect()
}

/// The data set `name` at a Reynolds number (to 0.1 %).
pub fn find(name: &str, dim: usize, re: f64) -> Option<Reference> {
    let fits = |table: (&str, usize, f64)| table.0 == name && table.1 == dim && (table.2 / re - 1.0).abs() < 1e-3;
    if let Some((_, title, _, _, along_y, along_x)) = ROWS.iter().find(|row| fits((row.0, row.2, row.3))) {
        let points = |table| rows(table).map(|[position, velocity]| (position, velocity)).collect();
        let curves = vec![
            Curve { axis: 1, component: 0, points: points(along_y) },
            Curve { axis: 0, component: 1, points: points(along_x) },
        ];
        return Some(Reference::Profiles { title, curves });
    }
    let (_, title, _, _, table) = SERIES.iter().find(|row| fits((row.0, row.2, row.3)))?;
    let moment = |[time, energy, dissipation, enstrophy]: [f64; 4]| Moment { time, energy, dissipation, enstrophy };
    Some(Reference::Series { title, moments: rows(table).map(moment).collect() })
}

/// The first columns of a table whose comments start with `#` and whose first row names the columns.
fn rows<const N: usize>(text: &str) -> impl Iterator<Item = [f64; N]> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.filter_map(|row| {
        let fields: Option<Vec<f64>> = row.split(',').take(N).map(|field| field.trim().parse().ok()).collect();
        fields?.try_into().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_runs_from_wall_to_wall() {
        for (name, _, dim, re, ..) in ROWS {
            let Some(Reference::Profiles { curves, .. }) = find(name, *dim, *re) else { panic!("{name} {re}") };
            for curve in curves {
                let (first, last) = (curve.points[0], curve.points[curve.points.len() - 1]);
                assert_eq!((first.0, last.0), (0.0, 1.0), "{name} {re}");
                assert_eq!(first.1, 0.0);
                assert_eq!(last.1, if curve.component == 0 { 1.0 } else { 0.0 });
                assert!(curve.points.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }

    #[test]
    fn a_series_agrees_with_itself() {
        let Some(Reference::Series { moments, .. }) = find("tgv3d_re1600", 3, 1600.0) else { panic!("no series") };
        assert_eq!((moments.len(), moments[0].energy, moments[100].time), (101, 0.125, 19.98));
        // In an incompressible flow the dissipation is twice the enstrophy over the Reynolds number.
        for moment in &moments {
            assert!((moment.dissipation / (2.0 * moment.enstrophy / 1600.0) - 1.0).abs() < 2e-3, "{moment:?}");
        }
    }

    #[test]
    fn a_reynolds_number_without_table_finds_nothing() {
        assert!(find("ghia1982", 2, 400.0).is_none());
        assert!(find("ghia1982", 3, 1000.0).is_none());
        assert!(find("ghia1982", 2, 1000.4).is_some());
    }
}
