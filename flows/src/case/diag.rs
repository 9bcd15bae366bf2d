//! What can be wrong with a case file: the table of codes, and reports that point into the file or at a `--set`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::plain::shown;
use miette::{
    LabeledSpan, MietteError, MietteSpanContents, NamedSource, Severity, SourceCode, SourceSpan, SpanContents,
};

/// A row of the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    /// `C0102`: the first two digits say what is at fault (01 the text, 02 units, 03 geometry, 04 the method's side,
    /// 05 physics).
    pub id: &'static str,
    /// Whether it is advice only: the case runs.
    pub warning: bool,
    /// What it means, in a few words.
    pub title: &'static str,
}

macro_rules! codes {
    ($($name:ident $id:literal $kind:ident $title:literal;)*) => {
        $(#[doc = $title] pub const $name: Code =
            Code { id: $id, warning: codes!(@ $kind), title: $title };)*
        /// Every code, in order.
        pub const CODES: &[Code] = &[$($name),*];
    };
    (@ error) => { false };
    (@ warning) => { true };
}

codes! {
    SYNTAX            "C0101" error   "the file is not TOML";
    UNKNOWN_KEY       "C0102" error   "a key that means nothing here";
    WRONG_TYPE        "C0103" error   "a value of the wrong type";
    MISSING_KEY       "C0104" error   "a key that must be given is missing";
    UNKNOWN_WORD      "C0105" error   "a word that is not one of the choices";
    CONFLICT          "C0106" error   "two keys that exclude each other";
    BAD_VALUE         "C0107" error   "a number that cannot be meant";
    BAD_OVERRIDE      "C0108" error   "an override of an unknown or ambiguous key";
    NO_EFFECT         "C0109" warning "an option without effect";
    FORMULA           "C0110" error   "a formula that cannot be read";
    TABLE             "C0111" error   "a file that holds no table";
    NO_IMAGE          "C0112" error   "a file that holds no image";
    SOLID_VOXELS      "C0113" error   "an image that does not say which voxels are solid";
    HOLES_CLOSED      "C0114" warning "a surface whose holes are closed";
    VIEW_OF_PLANE     "C0115" error   "a view of a flow in two dimensions";
    NO_FRICTION       "C0116" warning "a method whose friction on solids is not known";
    NO_SAMPLES        "C0117" warning "statistics, means or recordings without a sample";
    NOT_ACCUMULATED   "C0118" error   "a field that has no statistics";
    MOTION            "C0119" error   "a solid that cannot move so";
    LONG_WAY          "C0120" error   "a solid that comes to too many places of a refined grid";
    SAMPLES           "C0121" error   "a file that holds no field";
    NOT_VARIED        "C0122" error   "a parameter that cannot vary so";
    CIRCULAR          "C0123" error   "a parameter that depends on what is computed with it";
    NO_RESULT         "C0126" error   "a formula of results that the case does not have";
    NO_DEVICES        "C0136" error   "devices that a flow cannot run on";
    NOT_STORED        "C0140" error   "populations that cannot be stored as moments";
    UNSEEN            "C0144" error   "a character that is not seen";
    NO_LAYER          "C0145" error   "an absorbing layer that cannot be";
    NOT_DERIVED       "C0146" error   "a flow that has no adjoint";
    RECORDING         "C0147" error   "a recording that a face cannot take";
    TWO_SETS          "C0148" error   "a flow that needs two sets of populations";
    MISSING_UNIT      "C0201" error   "a value that needs a unit";
    UNKNOWN_UNIT      "C0202" error   "a unit that does not exist";
    WRONG_UNIT        "C0203" error   "a unit of the wrong kind";
    UNIT_IN_LATTICE   "C0204" error   "a unit in a case in lattice units";
    PARTIAL_CELL      "C0205" error   "a length that is not a multiple of the cell size";
    ROUNDED           "C0206" warning "a time that is not a whole number of steps";
    PARTIAL_BLOCK     "C0301" error   "a size that is not a multiple of the block size";
    WRONG_DIMENSION   "C0302" error   "the wrong number of axes";
    PERIODIC_PAIR     "C0303" error   "a periodic face whose opposite is not periodic";
    OUTSIDE           "C0304" error   "a refinement region, a solid or a probe that is not where the flow is";
    NO_LEVELS         "C0305" warning "a refinement that refines nothing";
    TOO_THIN          "C0306" error   "a solid too thin for the grid";
    COVERED           "C0307" error   "a solid that covers a face";
    NO_SURFACE        "C0308" error   "a file that holds no surface";
    OPEN_SURFACE      "C0309" error   "a surface that encloses nothing, or that must be closed";
    THIN_PARTS        "C0310" warning "a solid that is too thin for the grid in parts";
    OVERLAPS          "C0311" warning "a surface whose shells overlap";
    TOO_LARGE         "C0312" error   "a grid that does not fit into memory";
    WELDED            "C0313" warning "a surface whose triangles do not quite meet";
    WITH_HOLES        "C0314" warning "a surface that is taken with its holes";
    UNKNOWN_RULE      "C0401" error   "a boundary condition that the method does not have";
    RULE_PARAMETER    "C0402" error   "a parameter that the boundary condition lacks or does not have";
    COMPONENTS        "C0403" error   "a vector with the wrong number of components";
    METHOD_PARAMETER  "C0404" error   "a parameter that the method lacks or does not have";
    NO_SINGLE_RATE    "C0405" error   "a viscosity or a diffusivity that does not set a parameter of the method by itself";
    NO_SPEC           "C0406" error   "a method that cannot be found or compiled";
    NOT_FOR_SOLIDS    "C0407" error   "a boundary condition that solids and parts of faces cannot have";
    CANNOT_VARY       "C0408" error   "a formula where one value is wanted";
    DOES_NOT_FIT      "C0409" error   "a boundary condition, a coupling or a criterion that does not fit the method";
    RATE_OUT_OF_RANGE "C0501" error   "a relaxation rate outside the method's range";
    RATE_NEAR_LIMIT   "C0502" warning "a relaxation rate close to its limit";
    SUPERSONIC        "C0503" error   "a velocity beyond the lattice's speed of sound";
    COMPRESSIBLE      "C0504" warning "a velocity at which the fluid is visibly compressible";
    NOTHING_MOVES     "C0505" warning "a flow that nothing drives";
    NO_REFERENCE      "C0506" warning "no reference data for this case";
    NO_OUTLET         "C0507" warning "an inlet without an outlet";
    NODES_OF_LEVELS   "C0508" warning "a wet-node boundary condition on several levels";
    UNSTABLE_ENDS     "C0509" warning "a collision that is unstable at refinement interfaces or open faces";
    WALL_DENSITY      "C0510" warning "a wall for a fluid of another density";
}

/// Errors of a case that are listed at most: more than that have one cause.
const LISTED: usize = 50;
/// Diagnostics that are kept, to list the first of them; further errors are counted.
const KEPT: usize = 1000;

/// Most characters of a message, of what stands at the caret and of a help: texts and values of files are quoted in them.
const LONGEST: usize = 2000;
/// Most bytes around a place that are shown, before and after its beginning, where lines are long; and most of a place that are underlined.
const LONG_LINES: usize = 4000;
const AROUND: [usize; 2] = [60, 240];
const UNDERLINED: usize = 120;

/// A range of bytes of the case file or of an override.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) source: Arc<NamedSource<String>>,
    pub(super) range: Range<usize>,
}

/// A value and where it is written.
#[derive(Clone, Debug)]
pub(super) struct Spanned<T> {
    pub(super) value: T,
    pub(super) span: Span,
}

/// One thing that is wrong, or advice.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    code: Code,
    message: String,
    label: String,
    span: Span,
    excerpt: Excerpt,
    /// Further places of the same text.
    also: Vec<Range<usize>>,
    help: Option<String>,
}

impl Diagnostic {
    /// Its row in the table of codes.
    pub fn code(&self) -> Code {
        self.code
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code.id))
    }
    fn severity(&self) -> Option<Severity> {
        Some(if self.code.warning { Severity::Warning } else { Severity::Error })
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let text = self.span.source.inner();
        let label = move |range: &Range<usize>| {
            let end = range.end.min(text.ceil_char_boundary(range.start.saturating_add(UNDERLINED)));
            LabeledSpan::new_with_span(Some(self.label.clone()), range.start..end)
        };
        Some(Box::new(std::iter::once(&self.span.range).chain(&self.also).map(label)))
    }
}

/// A text of which a report shows what is around a place, however long its lines are.
#[derive(Clone, Debug)]
struct Excerpt(Arc<NamedSource<String>>);

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let whole = self.0.read_span(span, before, after)?;
        if whole.data().len() <= LONG_LINES {
            return Ok(whole);
        }
        let (text, first) = (self.0.inner(), whole.span().offset());
        let start = text.floor_char_boundary(span.offset().saturating_sub(if before > 0 { AROUND[0] } else { 0 }));
        let start = start.max(first);
        let end = text.ceil_char_boundary(span.offset().saturating_add(AROUND[1])).min(first + whole.data().len());
        let skipped = &text[first..start];
        let line = whole.line() + skipped.matches('\n').count();
        let column = match skipped.rfind('\n') {
            Some(at) => skipped[at + 1..].chars().count(),
            None => whole.column() + skipped.chars().count(),
        };
        let range = (start, end - start).into();
        let (name, data) = (self.0.name().to_string(), &text.as_bytes()[start..end]);
        let lines = 1 + text[start..end].matches('\n').count();
        Ok(Box::new(MietteSpanContents::new_named(name, data, range, line, column, lines)))
    }
}

/// A text without its middle, where it is too long to be read.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_string(),
        Some((end, _)) => format!("{} … ({} characters)", &text[..end], text.chars().count()),
    }
}

/// Why a case cannot run: at least one error, and the warnings found until then.
#[derive(Clone, Debug)]
pub struct CaseError {
    name: String,
    diagnostics: Vec<Diagnostic>,
    /// How many errors there are, which may be more than are listed.
    errors: usize,
}

impl CaseError {
    /// What is wrong, in the order of the file.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The same without the warnings beside what is wrong.
    pub fn without_warnings(mut self) -> CaseError {
        self.diagnostics.retain(|diagnostic| !diagnostic.code.warning);
        self
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.errors == 1 { "" } else { "s" };
        write!(out, "{} cannot run: {} error{plural}", self.name, self.errors)?;
        if self.errors > LISTED { write!(out, ", of which the first {LISTED} follow") } else { Ok(()) }
    }
}

impl std::error::Error for CaseError {}

impl miette::Diagnostic for CaseError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let first = self.diagnostics.iter().find(|diagnostic| !diagnostic.code.warning)?;
        Some(Box::new(format!("`lbmc explain {}` says more about a code", first.code.id)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        Some(Box::new(self.diagnostics.iter().map(|diagnostic| diagnostic as &dyn miette::Diagnostic)))
    }
}

/// Collects diagnostics, so that one run shows all of a stage.
#[derive(Default)]
pub(super) struct Report {
    diagnostics: Vec<Diagnostic>,
    /// Errors that came when there were [`KEPT`] diagnostics already.
    further: usize,
}

impl Report {
    /// Notes that something at `span` is wrong; `label` stands at the caret. What is wrong in the same way at several places of a
    /// text is reported once, with all of them. Returns `None` for the value that is lost.
    pub(super) fn add<T>(
        &mut self,
        code: Code,
        span: &Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Option<T> {
        // Texts of files are quoted in them.
        let (message, label) = (cut(&shown(&message.into())), cut(&shown(&label.into())));
        let same = |old: &&mut Diagnostic| {
            let text = Arc::ptr_eq(&old.span.source, &span.source);
            text && old.code.id == code.id && old.message == message && old.label == label
        };
        let full = self.diagnostics.len() >= KEPT;
        match self.diagnostics.iter_mut().find(same) {
            Some(old) if old.span.range == span.range || old.also.contains(&span.range) => {}
            Some(old) => old.also.push(span.range.clone()),
            None if full => self.further += usize::from(!code.warning),
            None => {
                let (span, help) = (span.clone(), help.into().map(|help| cut(&shown(&help))));
                let excerpt = Excerpt(span.source.clone());
                self.diagnostics.push(Diagnostic { code, message, label, span, excerpt, also: Vec::new(), help });
            }
        }
        None
    }

    /// One diagnostic by itself.
    pub(super) fn single(
        code: Code,
        span: &Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Diagnostic {
        let mut report = Report::default();
        report.add::<()>(code, span, message, label, help);
        report.diagnostics.remove(0)
    }

    /// Whether there is something wrong so far.
    pub(super) fn has_errors(&self) -> bool {
        self.further > 0 || self.diagnostics.iter().any(|diagnostic| !diagnostic.code.warning)
    }

    /// Ends a stage: the value with the warnings, or the error.
    pub(super) fn finish<T>(mut self, name: &str, value: Option<T>) -> Result<(T, Vec<Diagnostic>), CaseError> {
        // Overrides have sources of their own, which come after the file.
        self.diagnostics.sort_by_key(|at| (at.span.source.name() != name, at.span.range.start));
        match value {
            Some(value) if !self.has_errors() => Ok((value, self.diagnostics)),
            _ => {
                let errors = self.diagnostics.iter().filter(|diagnostic| !diagnostic.code.warning).count();
                if errors > LISTED {
                    self.diagnostics.retain(|diagnostic| !diagnostic.code.warning);
                    self.diagnostics.truncate(LISTED);
                }
                Err(CaseError { name: name.to_string(), diagnostics: self.diagnostics, errors: errors + self.further })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(CODES.windows(2).all(|pair| pair[0].id < pair[1].id));
    }

    #[test]
    fn a_text_that_is_too_long_to_be_read_is_cut() {
        assert_eq!(cut(&"ö".repeat(LONGEST)).chars().count(), LONGEST);
        assert!(cut(&"ö".repeat(LONGEST + 1)).ends_with("ö … (2001 characters)"));
    }

    #[test]
    fn no_text_of_a_file_moves_the_cursor() {
        let span = Span { source: Arc::new(NamedSource::new("case.toml", String::new())), range: 0..0 };
        let mut report = Report::default();
        report.add::<()>(SAMPLES, &span, "\u{1b}[2J", "\u{9b}", "\u{202e}".to_string());
        let error = report.finish::<()>("case.toml", None).expect_err("an error");
        let [Diagnostic { message, label, help, .. }] = &error.diagnostics[..] else { panic!("one diagnostic") };
        assert_eq!((&message[..], &label[..], help.as_deref()), ("?[2J", "¿", Some("\u{fffd}")));
    }
}
