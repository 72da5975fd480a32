//! The comparison by which a claim came out: its sides, what it came to, and how sure that is.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Point, Unit, describe_tag};

/// One of the comparisons of a claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decider {
    /// The comparison in the words of the claim.
    pub comparison: String,
    /// Both sides with their figures; none where wrong answers are counted, or the profile has no such comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<Sides>,
    /// The contender that an `every` around it has set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contender: Option<String>,
    /// The values that the `every`s around it have set.
    #[serde(default, skip_serializing_if = "Point::is_empty")]
    pub point: Point,
    /// How many comparisons of the claim came out like it.
    pub alike: usize,
    /// The number of all comparisons of the claim.
    pub of: usize,
}

/// Both sides of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sides {
    /// The left side of the comparison.
    pub left: Side,
    /// How they are compared.
    pub op: Op,
    /// The right side of the comparison.
    pub right: Side,
    /// The unit of both sides' figures, and of a difference between them: seconds, bytes, a second, cores or plain
    /// numbers.
    pub unit: Unit,
}

/// A side of a comparison. Its value is the one in the round whose effect is in the middle, so that both sides come to the
/// effect; of an even number of rounds it lies between those of the two in the middle.
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
        /// The factor of the claim, as 2 in `2 * throughput(a)`; 1 where there is none.
        times: f64,
        /// The metric before it is multiplied, in `unit`; none where it was not measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
    },
    /// A number, or parameters alone.
    Number {
        /// The number, in `unit`.
        value: f64,
    },
    /// Anything else that was worked out.
    Expression {
        /// The result of the expression, in `unit`; none where a part of it was not measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
    },
}

impl Side {
    /// The figure of the side, in the comparison's unit; `None` where it was not measured.
    pub fn value(&self) -> Option<f64> {
        match self {
            Side::Metric { value, .. } | Side::Expression { value } => *value,
            Side::Number { value } => Some(*value),
        }
    }

    /// The factor that the claim has before this side; 1 where it has none.
    pub fn times(&self) -> f64 {
        match self {
            Side::Metric { times, .. } => *times,
            Side::Number { .. } | Side::Expression { .. } => 1.0,
        }
    }
}

/// How two sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = describe_share)]
pub enum Op {
    /// The left side is less than the right one.
    #[serde(rename = "<")]
    Less,
    /// Left is at most right.
    #[serde(rename = "<=")]
    LessOrEqual,
    /// The left side is more than the right one.
    #[serde(rename = ">")]
    Greater,
    /// Left is at least right.
    #[serde(rename = ">=")]
    GreaterOrEqual,
    /// Both are the same, in every round.
    #[serde(rename = "=")]
    Equal,
    /// Their ratio differs from 1 by at most this share.
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

/// The size of a difference: the estimate and its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// The median over rounds of left over right, or of left less right; or the exact value. A multiple of a metric is taken
    /// as one, so that what is claimed of a ratio is that it is above, below or near 1, and of a difference 0.
    pub value: f64,
    /// The form of `value`.
    pub kind: EffectKind,
    /// How large it is at least, or at most.
    pub bound: Bound,
}

/// The form of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// Left side over right side.
    Ratio,
    /// Left side less right side, where no ratio can be formed; in seconds, bytes or plain numbers.
    Difference,
    /// An exact value or count, which has no uncertainty; in seconds, bytes or plain numbers.
    Exact,
}

/// How large an effect is at least or at most, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Bound {
    /// There is no uncertainty.
    Exact,
    /// The verdict rests on what it is at least.
    AtLeast {
        /// The lower bound, on which the verdict rests.
        low: f64,
        /// The other end of the interval, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
        /// How sure it is, as a share: of the bound, and of the interval, for which of its ends is shown went by the verdict.
        level: f64,
    },
    /// The verdict rests on what it is at most.
    AtMost {
        /// The other end of the interval, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<f64>,
        /// The upper bound, on which the verdict rests.
        high: f64,
        /// How sure it is, as a share.
        level: f64,
    },
    /// The verdict rests on both ends, or on none; of an undecided claim, as they would be if it were the only one.
    Both {
        /// The lower end of the interval, in the effect's unit.
        low: f64,
        /// The upper end of the interval, in the effect's unit.
        high: f64,
        /// How sure both together are, as a share.
        level: f64,
    },
    /// There are too few rounds for one, or this kumite does not know its form.
    #[serde(other)]
    Unknown,
}

impl Bound {
    /// The lower end, whether the verdict rests on it or not.
    pub fn low(&self) -> Option<f64> {
        match *self {
            Bound::AtLeast { low, .. } | Bound::Both { low, .. } => Some(low),
            Bound::AtMost { low, .. } => low,
            Bound::Exact | Bound::Unknown => None,
        }
    }

    /// The upper end, likewise.
    pub fn high(&self) -> Option<f64> {
        match *self {
            Bound::AtMost { high, .. } | Bound::Both { high, .. } => Some(high),
            Bound::AtLeast { high, .. } => high,
            Bound::Exact | Bound::Unknown => None,
        }
    }

    /// How sure it is, as a share; none where nothing is left to chance, or nothing is known.
    pub fn level(&self) -> Option<f64> {
        match *self {
            Bound::AtLeast { level, .. } | Bound::AtMost { level, .. } | Bound::Both { level, .. } => {
                Some(level)
            }
            Bound::Exact | Bound::Unknown => None,
        }
    }
}

/// From which effect on a comparison is so, and up to which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// From this on; none if there is no such border.
    pub from: Option<f64>,
    /// Up to this; none if there is no such border.
    pub to: Option<f64>,
}

impl Op {
    /// Where a comparison by this is so; none of an exact one.
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
