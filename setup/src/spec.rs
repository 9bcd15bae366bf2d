//! Finds a spec and the modules it uses: files first, then what is shipped.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lbm_bundle::input::{self, Limit};
use lbm_bundle::plain::{listed, shown_line};
use lbm_bundle::variation::Variation;
use lbm_bundle::{Bundle, Layout};
use lbm_codegen::lower::signature;
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, Plans};
use lbm_dsl::Chosen;
use lbm_dsl::latex::Equations;
use lbm_dsl::model::Model;
use lbm_dsl::model::levels::Coupling;
use lbm_dsl::reading::{Proposal, Reading};
use lbm_dsl::shipped::{self, Beside, Library, Prelude};
use lbm_dsl::source::Source;
use lbm_flows::case::{InputFile, Method, Parameter, nearest};
use lbm_runtime::device::cache::{Cache, Key};
use lbm_runtime::program;
use miette::{Report, Result, miette};

use crate::cases::Shipped;
use crate::files;
use crate::notes;
use crate::params;

/// A spec and where it came from.
pub struct Spec {
    source: Source,
    /// The folder whose modules come before the shipped ones.
    folder: Option<PathBuf>,
    /// Texts of the modules that were read from there, by name.
    read: RefCell<BTreeMap<String, String>>,
}

impl Spec {
    fn new(source: Source, folder: Option<PathBuf>) -> Spec {
        Spec { source, folder, read: RefCell::default() }
    }

    /// The text of the file `path` as somebody writes it.
    pub fn written(path: &Path, text: &str) -> Spec {
        Spec::new(Source::new(&path.display().to_string(), text), path.parent().map(Path::to_path_buf))
    }

    /// The spec in the file `name`; else the shipped one of that name.
    pub fn find(name: &str) -> Result<Spec> {
        let path = Path::new(name);
        match shipped::spec(name) {
            Some(text) if !path.is_file() => {
                let stem = name.trim_end_matches(".lbm");
                Ok(Spec::new(Source::new(&format!("{stem}.lbm"), text), None))
            }
            _ => {
                let text = input::text_if_there(path, Limit::SPEC).ok_or_else(|| no_spec(name))?;
                let text = text.map_err(|error| files::unreadable(&error))?;
                Ok(Spec::written(path, &text))
            }
        }
    }

    /// The parameters of the spec `name`, if it can be had; nothing is reported.
    pub fn parameters(name: &str) -> Option<Vec<Parameter>> {
        let spec = Spec::find(name).ok()?;
        let model = lbm_dsl::compile_with(&spec.source, &spec.library(), &[], None, None).ok()?;
        Some(params::parameters(&model))
    }

    /// Modules beside the spec's file, then the shipped ones.
    fn library(&self) -> impl Library {
        Beside(|name: &str| {
            let path = self.folder.as_ref()?.join(format!("{name}.lbm"));
            let text = input::text_if_there(&path, Limit::SPEC)?;
            let source = |text: String| {
                self.read.borrow_mut().insert(name.to_string(), text.clone());
                Source::new(&path.display().to_string(), &text)
            };
            Some(text.map(source).map_err(|error| error.to_string()))
        })
    }

    /// Its text and those of the modules of its own that were used so far, as files that can lie together; its own is first.
    pub fn files(&self) -> Vec<InputFile> {
        let own = Path::new(self.source.name()).file_name().map(|name| name.to_string_lossy().into_owned());
        let spec = InputFile { name: own.unwrap_or_default(), bytes: self.source.text().into() };
        let module = |(name, text): (&String, &String)| InputFile {
            name: format!("{name}.lbm"),
            bytes: text.as_bytes().to_vec(),
        };
        std::iter::once(spec).chain(self.read.borrow().iter().map(module)).collect()
    }

    /// Reads it for an editor.
    pub fn reading(&self) -> Reading {
        Reading::new(self.source.clone(), &self.library())
    }

    /// What may stand at a byte of its text, as it was read.
    pub fn proposals(&self, reading: &Reading, byte: usize) -> Vec<Proposal> {
        reading.proposals(byte, &self.library())
    }

    /// Its equations as LaTeX.
    pub fn equations(&self) -> Result<Equations> {
        self.model()?;
        Ok(Equations::new(&self.source, &self.library())?)
    }

    /// Parses and checks it.
    pub fn model(&self) -> Result<Model> {
        self.model_with(&[], None, None, &[])
    }

    /// What cases are told of its method before it is compiled for them.
    pub fn method(&self) -> Result<Method> {
        let model = lbm_dsl::compile(&self.source, &self.library())?;
        let own = |field: &lbm_dsl::model::Field| lbm_bundle::Field::own(&field.name, field.components.len());
        Ok(Method {
            name: model.name().into(),
            dim: model.lattice().dim(),
            params: model.params().iter().map(signature::param).collect(),
            fields: model.fields().iter().map(own).collect(),
            rate: signature::rate(&model),
        })
    }

    /// The first of some variations whose formulas have a field that is computed with the parameter, and the field.
    pub fn circular<'v>(&self, variations: &'v [Variation]) -> Result<Option<(&'v Variation, String)>> {
        let ast = lbm_dsl::parse(&self.source)?;
        Ok(variations.iter().find_map(|variation| Some((variation, ast.circular(variation)?))))
    }

    /// Parses and checks it, with those of the named boundary rules, the coupling and the criterion that it lacks and the prelude
    /// has, and with parameters that vary. What is remarkable about it is reported on standard error.
    pub fn model_with(
        &self,
        rules: &[&str],
        coupling: Option<&str>,
        criterion: Option<&str>,
        variations: &[Variation],
    ) -> Result<Model> {
        let model = self.checked(Chosen { rules, coupling, criterion }, variations)?;
        for warning in model.warnings() {
            notes::warning(Report::new(warning.clone()));
        }
        Ok(model)
    }

    fn checked(
        &self,
        chosen: Chosen<'_>,
        variations: &[Variation],
    ) -> std::result::Result<Model, lbm_dsl::diag::Report> {
        lbm_dsl::compile_varied(&self.source, &self.library(), chosen, variations)
    }

    /// Which of the named boundary rules, the coupling and the criterion does not fit it, why, and what to do; nothing where it is
    /// wrong by itself.
    pub fn misfit<'n>(
        &self,
        rules: &[&'n str],
        coupling: Option<&'n str>,
        criterion: Option<&'n str>,
        variations: &[Variation],
    ) -> Option<(&'n str, String, Option<String>)> {
        let none = Chosen::default();
        self.checked(none, variations).ok()?;
        let chosen = rules.iter().map(|rule| (*rule, Chosen { rules: std::slice::from_ref(rule), ..none }));
        let chosen = chosen.chain(coupling.map(|name| (name, Chosen { coupling, ..none })));
        let mut chosen = chosen.chain(criterion.map(|name| (name, Chosen { criterion, ..none })));
        chosen.find_map(|(name, chosen)| {
            let report = self.checked(chosen, variations).err()?;
            let first = report.diagnostics().first()?;
            let help = miette::Diagnostic::help(first).map(|help| help.to_string());
            Some((name, format!("{}: {}", first.code().message(), first.label()), help))
        })
    }

    /// Parses and checks it, with all the named boundary rules and the coupling, its own or the prelude's.
    pub fn model_with_all(&self, rules: &[String], coupling: Option<&str>) -> Result<Model> {
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let model = self.model_with(&rules, coupling, None, &[])?;
        let own: Vec<&str> = model.boundaries().iter().map(|boundary| &boundary.name[..]).collect();
        let Some(unknown) = rules.iter().find(|rule| !own.contains(rule)) else { return Ok(model) };
        let own = own.iter().map(|name| name.to_string());
        let all: BTreeSet<String> = own.chain(self.prelude_rules()?).collect();
        Err(miette!(
            code = "L0104",
            help = meant(unknown, "rules", &all),
            "neither {} nor the prelude has a boundary condition `{unknown}`",
            model.name()
        ))
    }

    /// The same with every boundary rule of the prelude, if all of them fit it.
    pub fn with_every_rule(&self) -> Option<Model> {
        let rules = self.prelude_rules().ok()?;
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        self.checked(Chosen { rules: &rules, coupling: None, criterion: None }, &[]).ok()
    }

    /// Its name, or the path of its file, as a command takes it.
    pub fn name(&self) -> &str {
        match self.folder {
            Some(_) => self.source.name(),
            None => self.source.name().trim_end_matches(".lbm"),
        }
    }

    /// Names of the boundary rules of the prelude.
    pub fn prelude_rules(&self) -> Result<Vec<String>> {
        Ok(shipped::rules(&self.library())?.into_iter().map(|(_, rule)| rule).collect())
    }
}

/// What a shipped method is, in a sentence: the first of the comment at the head of its text.
pub fn summary(text: &str) -> String {
    let head = text.lines().map_while(|line| line.strip_prefix("//"));
    let mut sentence = String::new();
    for word in head.flat_map(str::split_whitespace) {
        sentence.push_str(if sentence.is_empty() { "" } else { " " });
        sentence.push_str(word);
        if word.strip_suffix('.').is_some_and(|word| !is_abbreviation(word)) {
            break;
        }
    }
    sentence
}

/// Whether a full stop behind a word shortens it, as those of `Phys. Rev. E` do, and `et al.`.
fn is_abbreviation(word: &str) -> bool {
    let mut letters = word.chars();
    let rest_is_small = letters.next().is_some_and(char::is_uppercase) && letters.all(char::is_lowercase);
    word == "al" || rest_is_small
}

fn no_spec(name: &str) -> Report {
    if let Some(case) = Shipped::find(name) {
        let help = format!("`lbmc run {}` runs it; `lbmc specs` lists the shipped specs", case.name);
        return miette!(code = "L0103", help = help, "`{name}` is a case, not a spec");
    }
    let shipped: Vec<&str> = shipped::specs().map(|(name, _)| name).collect();
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    let help = match (shipped.contains(&&stem[..]), nearest(&stem, shipped.iter().copied())) {
        (true, _) => format!("the shipped spec of that name is `{stem}`, from any folder"),
        (false, Some(near)) => format!("did you mean the shipped spec `{near}`?"),
        (false, None) => format!("shipped specs: {}", shipped.join(", ")),
    };
    miette!(code = "L0103", help = help, "there is no file `{}`, and no spec of that name is shipped", shown_line(name))
}

/// Which of some names was probably meant, or all of them.
fn meant(name: &str, what: &str, all: &BTreeSet<String>) -> String {
    match nearest(name, all.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{what}: {}", listed(all)),
    }
}

/// Position among the model's couplings of the one with that name.
pub fn coupling(model: &Model, name: &str) -> Result<usize> {
    let is_it = |coupling: &Coupling| coupling.name() == name;
    model.couplings().iter().position(is_it).ok_or_else(|| {
        let shipped = shipped::couplings(&Prelude).unwrap_or_default().into_iter().map(|(_, name)| name);
        let own = model.couplings().iter().map(|coupling| coupling.name().to_string());
        let all: BTreeSet<String> = own.chain(shipped).collect();
        miette!(
            code = "L0105",
            help = meant(name, "couplings", &all),
            "neither {} nor the prelude has a coupling `{name}`",
            model.name()
        )
    })
}

/// Kernels of a model, those of an earlier run if there are any.
pub fn compile(model: &Model, options: &Options) -> Result<Bundle> {
    compile_stored(model, options, false)
}

/// The same with the adjoint of a step.
pub fn compile_adjoint(model: &Model, options: &Options) -> Result<Bundle> {
    let mut cache = Cache::find();
    let bundle = compile_with(&mut cache, model, options, Form { adjoint: true, ..Form::default() });
    cache.notices.iter().for_each(|notice| notes::note(notice));
    bundle
}

/// The same with kernels for steps in the only set of populations.
pub fn compile_in_place(model: &Model, options: &Options) -> Result<Bundle> {
    let mut cache = Cache::find();
    let bundle = compile_with(&mut cache, model, options, Form { in_place: true, ..Form::default() });
    cache.notices.iter().for_each(|notice| notes::note(notice));
    bundle
}

/// In which form a method is compiled.
#[derive(Clone, Copy, Debug, Default)]
struct Form {
    /// With moments in the place of populations.
    in_moments: bool,
    /// With the adjoint of a step.
    adjoint: bool,
    /// With kernels for steps in the only set of populations.
    in_place: bool,
}

/// The same, of moments that are stored in the place of populations if that is asked for.
pub fn compile_stored(model: &Model, options: &Options, in_moments: bool) -> Result<Bundle> {
    let mut cache = Cache::find();
    let bundle = compile_with(&mut cache, model, options, Form { in_moments, ..Form::default() });
    cache.notices.iter().for_each(|notice| notes::note(notice));
    bundle
}

fn compile_with(cache: &mut Cache, model: &Model, options: &Options, form: Form) -> Result<Bundle> {
    let name = entry(model, options, form);
    let earlier = name.as_ref().and_then(|name| cache.fetch(name));
    if let Some(bundle) = earlier.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        return Ok(bundle);
    }
    let plans = pipeline::plan(model, options.layout, &mut |_| ());
    let plans = if form.in_moments { plans.and_then(Plans::in_moments) } else { plans };
    let plans = if form.adjoint { plans.and_then(Plans::with_adjoint) } else { plans };
    let plans = if form.in_place { plans.and_then(Plans::in_place) } else { plans };
    let compiled = plans.and_then(|plans| plans.emit(options)).map_err(|error| miette!(code = "L0108", "{error}"))?;
    if let Some(name) = name {
        let bytes = serde_json::to_vec(&compiled.bundle).expect("a bundle is plain data");
        cache.store(&name, &bytes);
    }
    Ok(compiled.bundle)
}

/// The hash of the program, or of the file that has the compiler: on these depends what it makes. Reading it takes a while, and is done once.
pub(crate) fn program() -> Option<&'static str> {
    static PROGRAM: OnceLock<Option<String>> = OnceLock::new();
    let hash = || {
        let mut key = Key::new("program");
        key.add(std::fs::read(program::file().ok()?).ok()?);
        Some(key.file_name("hash"))
    };
    PROGRAM.get_or_init(hash).as_deref()
}

/// Name of the kernels of a model in the cache: they depend on the model, the options and the compiler.
fn entry(model: &Model, options: &Options, form: Form) -> Option<String> {
    let mut key = Key::new("bundle");
    key.add(program()?);
    key.add(format!("{options:?} {form:?}"));
    key.add(format!("{model:?}"));
    Some(key.file_name("json"))
}

/// Refuses what kernels on plain arrays do not have.
pub fn fits_layout(layout: Layout, boundaries: &[String], coupling: bool, solids: bool) -> Result<()> {
    match layout {
        Layout::Soa if !boundaries.is_empty() => Err(miette!(
            code = "L0109",
            help = "leave out `--boundary`, or take `--layout blocks`; the kernels collide and stream, and boundaries are those of your own program",
            "kernels on plain arrays do not have boundary conditions"
        )),
        Layout::Soa if coupling => Err(miette!(
            code = "L0109",
            help = "leave out `--coupling`, or take `--layout blocks`",
            "kernels on plain arrays do not support refinement interfaces"
        )),
        Layout::Soa if solids => Err(miette!(
            code = "L0109",
            help = "leave out `--solids`, or take `--layout blocks`",
            "kernels on plain arrays do not support solids"
        )),
        _ => Ok(()),
    }
}

/// The block that the user asked for, or `default`; refused where it does not fit the dimension.
pub fn block(asked: Option<&[u32]>, dim: usize, default: [u32; 3]) -> Result<[u32; 3]> {
    let Some(sides) = asked else { return Ok(default) };
    if sides.len() != dim {
        let fitting = Options::default_block(dim).map(|side| side.to_string());
        return Err(miette!(
            code = "L0110",
            help = format!("for example --block {}", fitting[..dim].join("x")),
            "the method has {dim} dimensions, but the block has {}",
            sides.len()
        ));
    }
    let mut block = [1; 3];
    block[..dim].copy_from_slice(sides);
    Ok(block)
}

#[cfg(test)]
mod tests {
    use lbm_bundle::{Real, Target};

    use super::*;

    fn model(name: &str) -> Model {
        Spec::find(name).unwrap().model().unwrap()
    }

    #[test]
    fn a_summary_is_a_whole_sentence() {
        for (name, text) in shipped::specs() {
            let summary = summary(text);
            assert!(summary.ends_with('.') && summary.len() < 350, "{name}: {summary}");
        }
        assert_eq!(
            summary("// After Lee, Phys. Rev. E\n// 91, with BGK. More.\nuse x;"),
            "After Lee, Phys. Rev. E 91, with BGK."
        );
    }

    fn options(real: Real) -> Options {
        let block = Options::default_block(2);
        Options { target: Target::C, real, layout: Layout::Blocks, block, coupling: None, solids: false }
    }

    fn cache(folder: &tempfile::TempDir) -> Cache {
        Cache::open(&folder.path().join("kernels"))
    }

    #[test]
    fn cached_kernels_are_those_that_were_made() {
        let folder = tempfile::tempdir().unwrap();
        let (model, options) = (model("d2q9_trt"), options(Real::F64));
        let made = compile_with(&mut cache(&folder), &model, &options, Form::default()).unwrap();
        let name = entry(&model, &options, Form::default()).unwrap();
        let cached: Bundle = serde_json::from_slice(&cache(&folder).fetch(&name).unwrap()).unwrap();
        assert_eq!(cached, made);
    }

    #[test]
    fn kernels_of_an_earlier_run_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let (model, options) = (model("d2q9_bgk"), options(Real::F32));
        let mut bundle = compile_with(&mut cache(&folder), &model, &options, Form::default()).unwrap();
        bundle.source.text.push_str("// of an earlier run");
        let name = entry(&model, &options, Form::default()).unwrap();
        cache(&folder).store(&name, &serde_json::to_vec(&bundle).unwrap());
        assert_eq!(compile_with(&mut cache(&folder), &model, &options, Form::default()).unwrap(), bundle);
    }

    #[test]
    fn kernels_of_other_methods_and_options_have_other_names() {
        let names = [("d2q9_bgk", Real::F32), ("d2q9_bgk", Real::F64), ("d2q9_trt", Real::F32)];
        let names: BTreeSet<_> =
            names.map(|(spec, real)| entry(&model(spec), &options(real), Form::default()).unwrap()).into();
        assert_eq!(names.len(), 3);
    }

    #[test]
    fn what_cannot_be_read_back_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let (model, options) = (model("d2q9_bgk"), options(Real::F32));
        let name = entry(&model, &options, Form::default()).unwrap();
        cache(&folder).store(&name, b"{}");
        let made = compile_with(&mut cache(&folder), &model, &options, Form::default()).unwrap();
        assert_eq!(made, pipeline::compile(&model, &options).unwrap().bundle);
    }
}
