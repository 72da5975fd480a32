//! The claim grammar: one machine-checkable sentence about estimates.
//!
//! Text becomes a [`Claim`] in two steps, `parse` and `check`; after them, every name in the claim exists and only like
//! quantities are compared. So judging a claim has no errors of its own. `grammar.txt` is the grammar for people.

mod check;
mod fold;
mod parse;
mod units;

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{AxisValue, Metric, Unit};

pub(crate) use check::measures;
pub use check::{Own, own_dimension};
pub use fold::Fold;
pub use parse::parse_expression;
pub use units::Dimension;
pub(crate) use units::dimension;

/// The reason why a text is not a claim, with the place in the text.
#[derive(Debug, PartialEq)]
pub struct ClaimError {
    /// The place in the text, in characters from 1; one beyond the last if the text ends too soon.
    pub column: usize,
    /// The fault, and its remedy if there is one, as a sentence without a full stop.
    pub what: String,
}

/// A claim as an experiment states it.
#[derive(Clone, Debug)]
pub struct ClaimSpec {
    /// The claim's id, unique within the experiment.
    pub id: String,
    /// The claim in plain words. None if the experiment gives none.
    pub title: Option<String>,
    /// The claim in the claim grammar.
    pub assert: String,
    /// The figures that the source published, as the experiment gives them. None if nothing was published.
    pub published: Option<String>,
    /// The parsed form of `assert`. It names only what the experiment has.
    pub parsed: Claim,
}

/// The names that a claim may use. Any other word is an error with its column.
pub struct Names<'a> {
    /// The contenders that a claim may name.
    pub contenders: &'a BTreeSet<String>,
    /// The axes with all values that any profile gives them.
    pub axes: &'a BTreeMap<String, Vec<AxisValue>>,
    /// The fixed parameters with their values, without the axis within trials. If a parameter is an axis as well, its
    /// value here is the axis's default.
    pub fixed: &'a BTreeMap<String, AxisValue>,
    /// The declared units of parameters and axes; a name that is absent here has the unit with which it ends, or is a
    /// plain number.
    pub units: &'a BTreeMap<String, Unit>,
    /// The metrics of whole trials.
    pub metrics: &'a [Metric],
    /// The axis that is swept within trials, which is one of `axes`. None if trials sweep none.
    pub within: Option<&'a str>,
    /// The metrics of parts of trials.
    pub part_metrics: &'a [Metric],
}

/// A parsed claim: parts that are joined by `and`.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub(crate) parts: Vec<ClaimPart>,
}

impl Claim {
    /// Parses and checks a claim. An error if the text is not in the grammar, is too long or nested too deeply, names
    /// something that the experiment lacks, leaves a point open, or compares or adds unlike quantities. It is also an
    /// error if a number is too large, if the claim divides by 0, or if it could test nothing: because it measures
    /// nothing, or because an `every` leaves no contender or no value.
    pub fn new(text: &str, names: &Names) -> Result<Claim, ClaimError> {
        let claim = parse::parse(text)?;
        check::check(&claim, names)?;
        Ok(claim)
    }

    /// The column of the contender's name in the claim's first `disqualified`, in characters from 1. None if the claim
    /// has no `disqualified`.
    pub fn disqualified_at(&self) -> Option<usize> {
        self.parts.iter().find_map(|part| match part {
            ClaimPart::Comparison(Comparison { test: Test::Disqualified(name), .. }) => Some(name.column),
            ClaimPart::Comparison(_) => None,
            ClaimPart::Every(_, claim) => claim.disqualified_at(),
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClaimPart {
    Comparison(Comparison),
    /// A claim for each value: `every …: claim`.
    Every(Every, Claim),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Every {
    Contender { except: Vec<Name> },
    Axis { axis: Name, bounds: Vec<(Op, Number)> },
}

/// A word of a claim, with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub(crate) text: String,
    pub(crate) column: usize,
}

/// A number in a claim, with its unit and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The value in seconds, bytes or plain numbers.
    pub(crate) value: f64,
    pub(crate) dimension: Dimension,
    /// The number as it was written, without its unit.
    pub(crate) digits: String,
    pub(crate) column: usize,
}

/// A comparison of a claim, with its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
    pub text: String,
    pub test: Test,
    /// The column of the comparison's sign, or of the word `disqualified`, in characters from 1.
    pub column: usize,
}

impl Comparison {
    /// True if the comparison has an interval and is betted on. Counts and equalities are exact and have none.
    pub fn has_interval(&self) -> bool {
        !matches!(self.test, Test::Disqualified(_) | Test::Compare(_, Op::Equal, _))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Compare(Expr, Op, Expr),
    /// `left within share of right`.
    Within(Expr, f64, Expr),
    Disqualified(Name),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
}

impl From<Op> for kumite_record::Op {
    fn from(op: Op) -> kumite_record::Op {
        match op {
            Op::Less => kumite_record::Op::Less,
            Op::LessOrEqual => kumite_record::Op::LessOrEqual,
            Op::Greater => kumite_record::Op::Greater,
            Op::GreaterOrEqual => kumite_record::Op::GreaterOrEqual,
            Op::Equal => kumite_record::Op::Equal,
        }
    }
}

impl Op {
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Op::Less => left < right,
            Op::LessOrEqual => left <= right,
            Op::Greater => left > right,
            Op::GreaterOrEqual => left >= right,
            Op::Equal => left == right,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Number(Number),
    /// A parameter of the workload or an axis, written `$name`.
    Parameter(Name),
    Metric(MetricOf),
    /// A metric of the trial itself, without a contender, as expressions of derived metrics have it.
    Own(Name),
    /// Two expressions joined by an arithmetic sign, with the column of the sign.
    Binary(Box<Expr>, Arithmetic, usize, Box<Expr>),
    Fold(Fold, Box<Expr>, Name),
}

/// A metric of a contender at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricOf {
    pub(crate) name: Name,
    pub(crate) contender: Name,
    pub(crate) at: Vec<(Name, AxisValue)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Arithmetic {
    pub(crate) fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Arithmetic::Add => left + right,
            Arithmetic::Subtract => left - right,
            Arithmetic::Multiply => left * right,
            Arithmetic::Divide => left / right,
        }
    }
}

/// The word that stands for each contender in `every contender: …`.
pub const EACH_CONTENDER: &str = "contender";

/// The factor that turns a figure with this name into seconds, bytes or plain numbers. The end of the name says the
/// unit; the factor is 1 if it says none.
pub(crate) fn scale_of_name(name: &str) -> f64 {
    Unit::of_name(name).map_or(1.0, Unit::scale)
}

#[cfg(test)]
mod tests;
