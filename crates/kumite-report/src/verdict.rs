//! A claim's verdict in words.

use kumite_record::{Claim, EffectKind, Verdict};
use serde::Serialize;

use crate::number::{count, digits_apart, significant};
use crate::text::{clean, one_line};

/// A verdict as every format shows it.
#[derive(Debug, Serialize)]
pub struct VerdictText {
    /// The word used in files, for style sheets.
    pub key: &'static str,
    pub symbol: char,
    /// The claim in plain words or, where there are none, in its grammar.
    pub title: String,
    /// The verdict's word, with the effect and its interval.
    pub sentence: String,
    pub why: String,
    pub published: Option<String>,
    pub id: String,
    /// The claim in its grammar, where the title is in plain words.
    pub assert: Option<String>,
}

impl VerdictText {
    pub fn of(claim: &Claim) -> VerdictText {
        let effect = effect(claim).map_or(String::new(), |effect| format!(": {effect}"));
        VerdictText {
            key: claim.verdict.as_str(),
            symbol: symbol(claim.verdict),
            title: one_line(claim.title.as_deref().unwrap_or(&claim.assert)),
            sentence: format!("{}{effect}", claim.verdict),
            why: clean(&claim.why),
            published: claim.published.as_deref().map(one_line),
            id: one_line(&claim.id),
            assert: claim.title.is_some().then(|| one_line(&claim.assert)),
        }
    }
}

fn symbol(verdict: Verdict) -> char {
    match verdict {
        Verdict::Holds => '✓',
        Verdict::Fails => '✗',
        Verdict::NoDifference => '=',
        Verdict::Undecided => '?',
        Verdict::NotTested => '–',
    }
}

/// `ratio 1.43 (95 %: 1.31 to 1.55)`.
fn effect(claim: &Claim) -> Option<String> {
    let effect = claim.effect?;
    let (noun, no_effect) = match claim.effect_kind {
        Some(EffectKind::Exact) => return Some(format!("exactly {}", count(effect))),
        Some(EffectKind::Ratio) => ("ratio", Some(1.0)),
        Some(EffectKind::Difference) => ("difference", None),
        None => ("effect", None),
    };
    // A bound that is not quite "no effect" must not look as if it were.
    let known: Vec<f64> = [Some(effect), claim.low, claim.high, no_effect].into_iter().flatten().collect();
    let digits = digits_apart(&known);
    let show = |value| significant(value, digits);
    let level = format!("{} %", shortest(claim.confidence.unwrap_or(0.95) * 100.0));
    let interval = match (claim.low, claim.high) {
        (Some(low), Some(high)) => format!("{level}: {} to {}", show(low), show(high)),
        (Some(low), None) => format!("{level}: {} or more", show(low)),
        (None, Some(high)) => format!("{level}: {} or less", show(high)),
        (None, None) => "no interval".to_owned(),
    };
    Some(format!("{noun} {} ({interval})", show(effect)))
}

/// At most two decimals: `95`, `99.17`.
fn shortest(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// `4 claims: 1 holds, 2 fail, 1 not tested`.
pub fn tally(claims: &[Claim]) -> String {
    let of = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let parts: Vec<String> = [
        (of(Verdict::Holds), "holds", "hold"),
        (of(Verdict::Fails), "fails", "fail"),
        (of(Verdict::NoDifference), "no difference", "no difference"),
        (of(Verdict::Undecided), "undecided", "undecided"),
        (of(Verdict::NotTested), "not tested", "not tested"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many }))
    .collect();
    match claims.len() {
        0 => "No claim was judged.".to_owned(),
        1 => format!("1 claim: {}.", parts.join(", ")),
        n => format!("{n} claims: {}.", parts.join(", ")),
    }
}
