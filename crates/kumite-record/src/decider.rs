//! The comparison that decided a claim: its sides, its effect, and how sure that is.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Point, Unit, describe_tag};

/// The one comparison of a claim that is shown for all of its comparisons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decider {
    /// The comparison in the words of the claim.
    pub comparison: String,
    /// Both sides with their figures. None if wrong answers are counted, or if the profile has no such comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<Sides>,
    /// The contender that the comparison is about, if an `every` of the claim goes over contenders. `None` if none
    /// does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contender: Option<String>,
    /// The values of axes that the comparison is about, one for each `every` of the claim that goes over an axis. Empty
    /// if none does.
    #[serde(default, skip_serializing_if = "Point::is_empty")]
    pub point: Point,
    /// The number of comparisons of the claim with the same outcome as this one, itself included. 0 if only all of them
    /// together give the verdict, and none is clear enough to be named for it; always 1 if the verdict depends on the
    /// sitting.
    pub alike: usize,
    /// The number of all comparisons of the claim, without those that are `left_out`.
    pub of: usize,
}

/// Both sides of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sides {
    /// The left side of the comparison.
    pub left: Side,
    /// The operator between the two sides.
    pub op: Op,
    /// The right side of the comparison.
    pub right: Side,
    /// The unit of both sides' figures and of their difference. Times are in seconds, whatever the metric's unit is;
    /// shares, counts and plain numbers have a unit without a symbol.
    pub unit: Unit,
}

/// A side of a comparison. Its value is from the round whose effect is the median, so that the two sides give the
/// effect that is shown. For an even number of rounds it lies between the values in the middle two. For an equality
/// it is from the round in which the sides are furthest apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Side {
    /// A metric of a contender, or a multiple of one.
    Metric {
        /// The contender's name in the record.
        contender: String,
        /// The point at which the contender was measured.
        point: Point,
        /// The metric's name in the record.
        metric: String,
        /// The factor that the claim has before the metric, 2 in `2 * throughput(a)`; 1 if there is none.
        times: f64,
        /// The value of the metric before it is multiplied, in the comparison's `unit`. None if there was no round of
        /// the comparison, though this side alone may have been measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
    },
    /// A number, or an expression of parameters alone.
    Number {
        /// The value of the number, in the comparison's `unit`.
        value: f64,
    },
    /// Any other expression, such as a sum of metrics or a fold.
    Expression {
        /// The result of the expression, in the comparison's `unit`. None if there was no round of the comparison.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
    },
}

impl Side {
    /// The figure of the side, in the comparison's unit. None if there was no round of the comparison, unless the side
    /// is a number. For a multiple of a metric, the metric's value before it is multiplied.
    pub fn value(&self) -> Option<f64> {
        match self {
            Side::Metric { value, .. } | Side::Expression { value } => *value,
            Side::Number { value } => Some(*value),
        }
    }

    /// The factor that the claim has before this side's metric; 1 if there is none.
    pub fn times(&self) -> f64 {
        match self {
            Side::Metric { times, .. } => *times,
            Side::Number { .. } | Side::Expression { .. } => 1.0,
        }
    }
}

/// The operator between two sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = describe_share)]
pub enum Op {
    /// The left side is less than the right one.
    #[serde(rename = "<")]
    Less,
    /// The left side is at most the right one.
    #[serde(rename = "<=")]
    LessOrEqual,
    /// The left side is more than the right one.
    #[serde(rename = ">")]
    Greater,
    /// The left side is at least the right one.
    #[serde(rename = ">=")]
    GreaterOrEqual,
    /// Both sides are equal in every round.
    #[serde(rename = "=")]
    Equal,
    /// The ratio of the sides differs from 1 by at most this share.
    #[serde(rename = "within")]
    Within(f64),
}

fn describe_share(schema: &mut Schema) {
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        if let Some(share) = variant.pointer_mut("/properties/within").and_then(Value::as_object_mut) {
            share.insert("description".to_owned(), "The share.".into());
        }
    }
}

/// The size of an effect: a value and its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// The median over rounds of left over right, or of left less right; or the exact value: the number of trials
    /// with a wrong answer or, of an equality, the left side where the two are furthest apart. The factor of a
    /// multiple is part of its side, so the border of a claim is at a ratio of 1 or a difference of 0; a `within` has
    /// a border on either side of 1.
    pub value: f64,
    /// The form of `value`: a ratio, a difference or an exact value.
    pub kind: EffectKind,
    /// The bound: how large the effect is at least, or at most.
    pub bound: Bound,
}

/// The form of an effect. Differences and exact values are in the `unit` of the sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// Left side over right side.
    Ratio,
    /// Left side less right side, where no ratio can be formed.
    Difference,
    /// An exact value or count, which has no uncertainty.
    Exact,
}

/// The bound of an effect: how large it is at least or at most, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Bound {
    /// The effect is exact and needs no bound.
    Exact,
    /// The lower bound is what the verdict rests on; or there is no verdict, and only the lower bound is known.
    AtLeast {
        /// The lower bound of the effect, in the effect's unit.
        low: f64,
        /// The upper end of the interval. None if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
        /// The probability with which the bound holds, from 0 to 1. The whole interval holds with the same probability,
        /// because the verdict chose which of its ends is shown.
        level: f64,
    },
    /// The upper bound is what the verdict rests on; or there is no verdict, and only the upper bound is known.
    AtMost {
        /// The lower end of the interval. None if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<f64>,
        /// The upper bound of the effect, in the effect's unit.
        high: f64,
        /// The probability with which the bound holds, from 0 to 1.
        level: f64,
    },
    /// Both ends are what the verdict rests on; or there is no verdict. The ends for an undecided claim are those for a
    /// run in which it is the only claim.
    Both {
        /// The lower end of the interval, in the effect's unit.
        low: f64,
        /// The upper end of the interval, in the effect's unit.
        high: f64,
        /// The probability with which both ends hold together, from 0 to 1.
        level: f64,
    },
    /// No bound is known: for example, there are too few rounds, figures are lower bounds, or a later kumite wrote
    /// its form.
    #[serde(other)]
    Unknown,
}

impl Bound {
    /// The lower end of the interval. None if the bound is exact, unknown, or has no such end.
    pub fn low(&self) -> Option<f64> {
        match *self {
            Bound::AtLeast { low, .. } | Bound::Both { low, .. } => Some(low),
            Bound::AtMost { low, .. } => low,
            Bound::Exact | Bound::Unknown => None,
        }
    }

    /// The upper end of the interval. None if the bound is exact, unknown, or has no such end.
    pub fn high(&self) -> Option<f64> {
        match *self {
            Bound::AtMost { high, .. } | Bound::Both { high, .. } => Some(high),
            Bound::AtLeast { high, .. } => high,
            Bound::Exact | Bound::Unknown => None,
        }
    }

    /// The probability with which the bound holds, from 0 to 1. None if the effect is exact, or no bound is known.
    pub fn level(&self) -> Option<f64> {
        match *self {
            Bound::AtLeast { level, .. } | Bound::AtMost { level, .. } | Bound::Both { level, .. } => {
                Some(level)
            }
            Bound::Exact | Bound::Unknown => None,
        }
    }
}

/// The range of effects in which a comparison is true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// The lower border, in the effect's unit. `None` if the range has none.
    pub from: Option<f64>,
    /// The upper border, in the effect's unit. `None` if the range has none.
    pub to: Option<f64>,
}

impl Op {
    /// The range of effects in which a comparison by this operator is true. None if the effect is exact or the
    /// operator is `=`.
    pub fn zone(self, kind: EffectKind) -> Option<Zone> {
        let border = match kind {
            EffectKind::Ratio => 1.0,
            EffectKind::Difference => 0.0,
            EffectKind::Exact => return None,
        };
        match self {
            Op::Greater | Op::GreaterOrEqual => Some(Zone { from: Some(border), to: None }),
            Op::Less | Op::LessOrEqual => Some(Zone { from: None, to: Some(border) }),
            Op::Within(share) => Some(Zone { from: Some(1.0 - share), to: Some(1.0 + share) }),
            Op::Equal => None,
        }
    }
}
