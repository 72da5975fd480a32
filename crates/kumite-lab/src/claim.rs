//! The claim grammar: one machine-checkable sentence about estimates.

mod check;
mod parse;

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::AxisValue;

pub(crate) use check::check;
pub(crate) use parse::{parse, parse_expression};

/// Why a claim is not one.
#[derive(Debug, PartialEq)]
pub(crate) struct ClaimError {
    /// Where in its text, in characters from 1.
    pub column: usize,
    /// What is wrong, and the remedy.
    pub what: String,
}

/// What a claim may speak of.
pub(crate) struct Names<'a> {
    pub contenders: &'a BTreeSet<String>,
    pub axes: &'a BTreeMap<String, Vec<AxisValue>>,
    pub workload: &'a BTreeMap<String, AxisValue>,
    /// Of whole trials.
    pub metrics: &'a [&'a str],
    /// The axis that is swept within trials, which is one of `axes`.
    pub within: Option<&'a str>,
    /// Of their parts.
    pub part_metrics: &'a [&'a str],
}

/// Parts joined by `and`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claim {
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Comparison(Comparison),
    /// `every …: claim`: the claim for each value.
    Every(Every, Claim),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Every {
    Contender { except: Vec<Name> },
    Axis { axis: Name, bounds: Vec<(Op, f64)> },
}

/// A word of the claim and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub text: String,
    pub column: usize,
}

/// One comparison with its own words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
    pub text: String,
    pub test: Test,
}

impl Comparison {
    /// Whether its effect has an interval: it is not a count, and not "equal".
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
pub(crate) enum Expr {
    /// In seconds, bytes or plain numbers.
    Number(f64),
    /// `$name`.
    Parameter(Name),
    Metric(Metric),
    /// A metric without a contender: one of the very trial, where metrics are derived.
    Own(Name),
    Binary(Box<Expr>, Arithmetic, Box<Expr>),
    Fold(Fold, Box<Expr>, Name),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    pub name: Name,
    pub contender: Name,
    pub at: Vec<(Name, AxisValue)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Arithmetic {
    pub fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Arithmetic::Add => left + right,
            Arithmetic::Subtract => left - right,
            Arithmetic::Multiply => left * right,
            Arithmetic::Divide => left / right,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Min,
    Max,
    /// `max / min - 1`.
    Spread,
    /// Exponent of the power law: least squares of ln(value) over ln(axis).
    Slope,
}

/// The word that stands for each contender in `every contender: …`.
pub(crate) const EACH_CONTENDER: &str = "contender";

/// What a figure with this name, or a number with this unit, is multiplied by to be in seconds, bytes or plain numbers.
pub(crate) fn scale_of_name(name: &str) -> f64 {
    match name.rsplit('_').next() {
        Some("ns") => 1e-9,
        Some("us") => 1e-6,
        Some("ms") => 1e-3,
        _ => 1.0,
    }
}

pub(crate) fn scale_of_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "%" => 0.01,
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}
