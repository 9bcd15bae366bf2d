//! Finds a case file: a file first, then one that is shipped. Shipped cases are inside the program, so that a name is enough to
//! run one from any folder.

use std::fs::File;
use std::path::{Path, PathBuf};

use lbm_bundle::input::{self, Limit};
use lbm_bundle::plain::shown_line;
use lbm_dsl::shipped as specs;
use lbm_flows::case;
use miette::miette;

use crate::files;

macro_rules! shipped {
    ($folder:literal: $($name:literal)*) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../../", $folder, "/", $name, ".toml")) },)*]
    };
}

/// Every shipped case.
pub const SHIPPED: &[Shipped] = shipped!("cases":
    "ahmed_body" "building" "cavity2d" "cavity2d_adaptive" "cavity2d_refined" "cavity2d_si" "cavity3d" "channel" "coarse_channel" "cylinder_on_springs" "double_shear_layer" "natural_convection" "oscillating_cylinder"
    "pipe_bend" "pipe_stl" "porous_channel" "porous_spheres" "power_foil" "propeller" "rayleigh_taylor" "rising_bubble" "rising_bubble_adaptive" "rotating_cylinder" "scalar_cavity"
    "schaefer_turek_2d1" "schaefer_turek_2d2" "sedimenting_sphere" "square_cylinder" "stirrer" "taylor_green3d" "turbulent_channel"
    "turbulent_channel_refined" "turbulent_inlet" "wall_cube" "womersley"
);

/// Cases that are there to be timed (`lbmc bench`): they can be run by name, too, but most want a GPU.
const BENCHMARKS: &[Shipped] = shipped!("benchmarks":
    "aerofoil" "billion" "cavity240" "cavity2d_agal" "cavity3d_adaptive" "cavity3d_agal" "cavity512" "cube_channel" "smooth_sphere" "sphere" "square_cylinder_agal"
    "subcritical_sphere" "taylor_green_box" "wind_on_building" "wind_tunnel"
);

/// The files that shipped cases read, by name.
const FILES: &[(&str, &[u8])] = &[
    ("ahmed_25.stl", include_bytes!("../../cases/ahmed_25.stl")),
    ("ahmed_35.stl", include_bytes!("../../cases/ahmed_35.stl")),
    ("naca0012.stl", include_bytes!("../../benchmarks/naca0012.stl")),
    ("naca0015.stl", include_bytes!("../../cases/naca0015.stl")),
    ("pipe.stl", include_bytes!("../../cases/pipe.stl")),
    ("porous_spheres.nrrd", include_bytes!("../../cases/porous_spheres.nrrd")),
    ("propeller.stl", include_bytes!("../../cases/propeller.stl")),
];

/// A shipped case.
#[derive(Debug)]
pub struct Shipped {
    /// Its name, without `.toml`.
    pub name: &'static str,
    /// Its text, whose first comment says what it shows, and whose second how long it takes.
    pub text: &'static str,
}

impl Shipped {
    /// The one of that name, with or without `.toml`.
    pub fn find(name: &str) -> Option<&'static Shipped> {
        let stem = name.strip_suffix(".toml").unwrap_or(name);
        SHIPPED.iter().chain(BENCHMARKS).find(|case| case.name == stem)
    }

    /// What it shows, in a sentence.
    pub fn summary(&self) -> &'static str {
        self.comment(0)
    }

    /// About how long it takes: `20 s on two cores, 1 s on a GPU`.
    pub fn time(&self) -> &'static str {
        let line = self.comment(1);
        let sentence = line.split(". ").next().unwrap_or_default();
        sentence.strip_prefix("Takes ").unwrap_or(sentence).trim_end_matches('.')
    }

    fn comment(&self, at: usize) -> &'static str {
        self.text.lines().nth(at).and_then(|line| line.strip_prefix("# ")).unwrap_or_default()
    }
}

/// A case as it was found.
pub struct CaseFile {
    /// What messages call it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The folder in which files that it names are looked for first.
    folder: PathBuf,
}

impl CaseFile {
    /// A shipped case, whatever files there are.
    pub fn of(shipped: &Shipped) -> CaseFile {
        let (name, text) = (format!("{}.toml", shipped.name), shipped.text.to_string());
        CaseFile { name, text, folder: PathBuf::new() }
    }

    /// The text of the file `path` as somebody writes it.
    pub fn written(path: &Path, text: &str) -> CaseFile {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        CaseFile { name: shown_line(&path.display().to_string()), text: text.to_string(), folder }
    }

    /// The file `path`; else the shipped case of that name, which `note` is told.
    pub fn find(path: &Path, note: impl FnOnce(&str)) -> miette::Result<CaseFile> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(miette!(
                code = "L0102",
                help = "name a case file in it, for example `lbmc run FOLDER/case.toml`",
                "`{name}` is a folder, not a case"
            ));
        }
        if path.extension().is_some_and(|ending| ending == "lbm") || !path.exists() && specs::spec(&name).is_some() {
            return Err(miette!(
                code = "L0102",
                help = format!(
                    "run a case with it: `lbmc run cavity2d --set spec={name}`, or write one with `spec = \"{name}\"`"
                ),
                "`{name}` is a method; `lbmc run` takes a case"
            ));
        }
        if path.exists() {
            return Ok(CaseFile::written(path, &files::read(path, Limit::CASE)?));
        }
        if let Some(shipped) = Shipped::find(&name) {
            note(&format!("using the shipped case {} (`lbmc cases {}` prints it)", shipped.name, shipped.name));
            return Ok(CaseFile::of(shipped));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let help = match (Shipped::find(&stem), case::nearest(&stem, SHIPPED.iter().map(|case| case.name))) {
            (Some(case), _) => format!("`lbmc run {}` runs the shipped case of that name from any folder", case.name),
            (None, Some(near)) => format!("did you mean the shipped case `{near}`?"),
            (None, None) => "check the folder; `lbmc cases` lists the shipped cases, which need no file".to_string(),
        };
        Err(miette!(code = "L0102", help = help, "there is no file `{name}`, and no case of that name is shipped"))
    }

    /// The path of a file that the case names, as seen from where the command runs: beside the case if it is there, else as the
    /// case has it.
    pub fn beside(&self, file: &str) -> String {
        let path = self.folder.join(file);
        if path.is_file() { path.display().to_string() } else { file.to_string() }
    }

    /// The bytes of a surface or an image that the case names, or why there are none. A file that is not there may be one of a shipped
    /// case, of which this one is a copy.
    pub fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        let path = self.beside(file);
        match FILES.iter().find(|(name, _)| *name == file) {
            Some((_, bytes)) if !Path::new(&path).exists() => Ok(bytes.to_vec()),
            _ => files::read_surface(&path),
        }
    }

    /// A file that the case names and that is read piece by piece, with its length in bytes, or why there is none.
    pub fn open(&self, file: &str) -> Result<(File, u64), String> {
        let limit = Limit { what: "a recording", bytes: u64::MAX };
        input::open(Path::new(&self.beside(file)), limit).map_err(|error| error.to_string())
    }

    /// The files that a name with a `*` stands for, in the order of their names: beside the case if there are any, else as the case has it.
    pub fn stack(&self, pattern: &str) -> Result<Vec<String>, String> {
        let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        let Some((begin, end)) = name.split_once('*').filter(|(_, end)| !end.contains('*')) else {
            return Err(format!("`{pattern}` has more than one `*`, or one in the name of a folder"));
        };
        let names = |folder: &Path| -> Vec<String> {
            let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let names = all.filter_map(|entry| entry.file_name().into_string().ok());
            let fits =
                |name: &String| name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end);
            let mut names: Vec<String> = names.filter(fits).collect();
            names.sort();
            names
        };
        let beside = names(&self.folder.join(folder).join("."));
        let found = if beside.is_empty() { names(&Path::new(folder).join(".")) } else { beside };
        match &found[..] {
            [] => Err(format!("no file fits `{pattern}`")),
            [first, ..] if found.iter().any(|name| name.len() != first.len()) => Err(format!(
                "the files of `{pattern}` have names of several lengths: write their numbers with as many digits each"
            )),
            _ => match missing(&found, (begin, end)) {
                Some(name) => {
                    Err(format!("`{name}` of `{pattern}` is missing: the files before and after it are there"))
                }
                None => Ok(found.iter().map(|name| Path::new(folder).join(name).display().to_string()).collect()),
            },
        }
    }
}

/// The first name that is missing among sorted names of equal length, where what is between their beginning and their end are numbers in steps.
fn missing(names: &[String], (begin, end): (&str, &str)) -> Option<String> {
    let digits = |name: &String| name[begin.len()..name.len() - end.len()].to_string();
    let width = digits(names.first()?).len();
    let number =
        |name: &String| Some(digits(name)).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok();
    let numbers: Vec<u64> = names.iter().map(number).collect::<Option<_>>()?;
    let step = numbers.windows(2).map(|pair| pair[1] - pair[0]).min()?;
    let gap = numbers.windows(2).find(|pair| pair[1] - pair[0] != step)?;
    Some(format!("{begin}{:0width$}{end}", gap[0] + step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_the_folders() {
        for (folder, list) in [("cases", SHIPPED), ("benchmarks", BENCHMARKS)] {
            let folder = format!("{}/../{folder}", env!("CARGO_MANIFEST_DIR"));
            let files =
                std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut stems: Vec<String> =
                files.filter_map(|file| Some(file.strip_suffix(".toml")?.to_string())).collect();
            stems.sort();
            assert_eq!(list.iter().map(|case| case.name).collect::<Vec<_>>(), stems);
        }
        for case in SHIPPED {
            let file = CaseFile::of(case);
            for name in case.text.lines().filter_map(|line| line.strip_prefix("file = \"")?.split('"').next()) {
                assert!(file.read(name).is_ok(), "{}: {name}", case.name);
            }
        }
    }

    #[test]
    fn a_stack_is_in_the_order_of_its_numbers_or_refused() {
        let here = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(here.path().join(name), "").unwrap();
        [
            "s_10.png", "s_09.png", "s_08.png", "s.png", "t_01.png", "u_10.png", "u_30.png", "u_50.png", "v_b.png",
            "v_z.png",
        ]
        .iter()
        .for_each(|name| write(name));
        let file = CaseFile { name: String::new(), text: String::new(), folder: here.path().to_path_buf() };
        assert_eq!(file.stack("s_*.png"), Ok(["s_08.png", "s_09.png", "s_10.png"].map(String::from).to_vec()));
        // Every so many, or no numbers.
        assert!(file.stack("u_*.png").is_ok() && file.stack("v_*.png").is_ok());
        write("s_12.png");
        assert!(file.stack("s_*.png").expect_err("a gap").contains("`s_11.png` of `s_*.png` is missing"));
        write("s_3.png");
        assert!(file.stack("s_*.png").expect_err("another length").contains("as many digits"));
        for nothing in ["w_*.png", "s_08.png*.png", "../*/s_*.png", "s_*_*.png"] {
            assert!(file.stack(nothing).is_err(), "{nothing}");
        }
    }

    #[test]
    fn every_case_begins_with_what_it_shows_and_how_long_it_takes() {
        for case in SHIPPED {
            assert!(case.summary().ends_with('.') && case.summary().len() < 110, "{}: {}", case.name, case.summary());
            assert!(case.comment(1).starts_with("Takes "), "{}: {}", case.name, case.comment(1));
        }
    }
}
