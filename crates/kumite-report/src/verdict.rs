//! A claim's verdict in words.

use kumite_record::{Claim, EffectKind, NodeEffect, Run, Unit, Verdict};
use serde::Serialize;

use crate::number::{digits_apart, plural, significant};
use crate::quantity::{Measured, Quantity};
use crate::reason::why;
use crate::scale::scale;
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
    /// That the source had another scale, if it had.
    pub scale: Option<String>,
    /// What it came to on each node, where there are several.
    pub nodes: Option<String>,
    pub published: Option<String>,
    pub id: String,
    /// The claim in its grammar, where the title is in plain words.
    pub assert: Option<String>,
}

impl VerdictText {
    pub fn of(run: &Run, claim: &Claim) -> VerdictText {
        let effect = effect(run, claim).map_or(String::new(), |effect| format!(": {effect}"));
        VerdictText {
            key: claim.verdict.as_str(),
            symbol: symbol(claim.verdict),
            title: one_line(claim.title.as_deref().unwrap_or(&claim.assert)),
            sentence: format!("{}{effect}", claim.verdict),
            why: clean(&[why(claim), evidence(run, claim)].join("")),
            scale: scale(run, claim),
            nodes: nodes(claim),
            published: claim.published.as_deref().map(one_line),
            id: one_line(&claim.id),
            assert: claim.title.is_some().then(|| one_line(&claim.assert)),
        }
    }
}

fn nodes(claim: &Claim) -> Option<String> {
    let told = |node: &NodeEffect| format!("{} {}", one_line(&node.node), node_said(node));
    let all: Vec<String> = claim.nodes.iter().map(told).collect();
    (!all.is_empty()).then(|| format!("on each node: {}", all.join(", ")))
}

/// `1.20 (6 rounds)`
pub fn node_said(node: &NodeEffect) -> String {
    let contradicts = if node.contradicts { ", contradicts" } else { "" };
    format!("{} ({}{contradicts})", significant(node.effect, 3), plural(node.rounds, "round"))
}

pub fn symbol(verdict: Verdict) -> char {
    match verdict {
        Verdict::Holds => '✓',
        Verdict::Fails => '✗',
        Verdict::NoDifference => '=',
        Verdict::Undecided => '?',
        Verdict::NotTested => '–',
    }
}

/// `; wealth 41 of 20 needed after 6 rounds (90 % on both sides: 1.28 to 1.60)`.
fn evidence(run: &Run, claim: &Claim) -> String {
    let Some(bet) = &claim.bet else { return String::new() };
    let rounds = plural(bet.rounds as usize, "round");
    let (wealth, threshold) = (significant(bet.wealth, 2), significant(bet.threshold, 2));
    // Without a bound that decided, the interval stands in the line above.
    let figures = Figures::of(run, claim).filter(|_| claim.bound_confidence.is_some());
    let two_sided = figures.and_then(|figures| two_sided(claim, &|value| figures.show(value)));
    let two_sided = two_sided.map_or(String::new(), |interval| format!(" (on both sides {interval})"));
    format!("; wealth {wealth} of {threshold} needed after {rounds}{two_sided}")
}

/// How the figures of a claim are written.
struct Figures {
    factor: f64,
    symbol: &'static str,
    digits: usize,
}

impl Figures {
    fn of(run: &Run, claim: &Claim) -> Option<Figures> {
        // A bound that is not quite "no effect" must not look as if it were.
        let no_effect = (claim.effect_kind == Some(EffectKind::Ratio)).then_some(1.0);
        let ends = [claim.at_least, claim.at_most, claim.low, claim.high];
        let known: Vec<f64> = [Some(claim.effect?), no_effect].into_iter().chain(ends).flatten().collect();
        let largest = known.iter().map(|value| value.abs()).fold(0.0, f64::max);
        let (factor, symbol) = match claim.effect_kind {
            Some(EffectKind::Difference) => unit(run, claim).fitting(largest),
            _ => (1.0, ""),
        };
        Some(Figures { factor, symbol, digits: digits_apart(&known) })
    }

    fn show(&self, value: f64) -> String {
        significant(value / self.factor, self.digits)
    }
}

fn unit(run: &Run, claim: &Claim) -> Unit {
    claim.effect_unit.map_or_else(|| sides(run, &claim.assert), converted)
}

/// `ratio 1.43 (95 %: at least 1.31)`, `difference 120 ms (95 %: at least 94.0)`.
pub fn effect(run: &Run, claim: &Claim) -> Option<String> {
    let effect = claim.effect?;
    let noun = match claim.effect_kind {
        Some(EffectKind::Exact) => return Some(format!("exactly {}", unit(run, claim).text(effect))),
        Some(EffectKind::Ratio) => "ratio",
        Some(EffectKind::Difference) => "difference",
        None => "effect",
    };
    let figures = Figures::of(run, claim)?;
    let show = |value: f64| figures.show(value);
    let bounds = one_sided(claim, &show).or_else(|| two_sided(claim, &show));
    let bounds = bounds.unwrap_or_else(|| "no bound".to_owned());
    Some(format!("{noun} {}{} ({bounds})", show(effect), figures.symbol))
}

/// The bounds that decided.
fn one_sided(claim: &Claim, show: &dyn Fn(f64) -> String) -> Option<String> {
    let level = percent(claim.bound_confidence?);
    let alone = if claim.verdict == Verdict::Undecided { "alone, " } else { "" };
    Some(match (claim.at_least, claim.at_most) {
        (Some(low), Some(high)) => {
            format!("{alone}each {level}: at least {}, at most {}", show(low), show(high))
        }
        (Some(low), None) => format!("{alone}{level}: at least {}", show(low)),
        (None, Some(high)) => format!("{alone}{level}: at most {}", show(high)),
        (None, None) => return None,
    })
}

fn two_sided(claim: &Claim, show: &dyn Fn(f64) -> String) -> Option<String> {
    let level = percent(claim.confidence.unwrap_or(0.95));
    // Only records of before have one end without the other.
    Some(match (claim.low, claim.high) {
        (Some(low), Some(high)) => format!("{level}: {} to {}", show(low), show(high)),
        (Some(low), None) => format!("{level}: {} or more", show(low)),
        (None, Some(high)) => format!("{level}: {} or less", show(high)),
        (None, None) => return None,
    })
}

/// Where the record does not say it, what the sides of a claim are, in seconds, bytes or plain numbers, as far as its words
/// tell without working it out: a
/// product, a quotient or an exponent may be anything, and so may sides that are not all of one unit.
fn sides(run: &Run, assert: &str) -> Unit {
    let last_word = |text: &'_ str| {
        let rest = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        text[rest.len()..].to_owned()
    };
    let called: Vec<String> = assert.match_indices('(').map(|(at, _)| last_word(&assert[..at])).collect();
    let is_any = |words: &[&str], name: &String| words.contains(&name.as_str());
    let unknown = assert.contains(['*', '/'])
        || called.iter().any(|name| is_any(&["slope", "spread", "disqualified"], name));
    let mut units =
        called.iter().filter(|name| !is_any(&["", "min", "max"], name)).map(|name| converted(run.unit(name)));
    let first = units.next().filter(|first| !unknown && units.all(|unit| unit == *first));
    first.unwrap_or(Unit::Count)
}

/// What its values are once they were converted to seconds or bytes; plain numbers, if they are neither.
fn converted(unit: Unit) -> Unit {
    match unit.quantity() {
        Quantity::Time(_) => Unit::Seconds,
        Quantity::Bytes => Unit::Bytes,
        Quantity::Share | Quantity::Count | Quantity::Plain => Unit::Count,
    }
}

/// With at most two decimals: `95 %`, `99.17 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 10_000.0).round() / 100.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(assert: &str, kind: EffectKind, values: [f64; 3]) -> Claim {
        let [effect, low, high] = values.map(Some);
        Claim {
            id: "id".into(),
            assert: assert.into(),
            title: None,
            published: None,
            verdict: Verdict::Holds,
            effect,
            low,
            high,
            confidence: Some(0.95),
            effect_kind: Some(kind),
            ..Claim::default()
        }
    }

    #[test]
    fn a_difference_has_the_unit_of_its_sides_where_that_is_clear() {
        let check = |assert, values, text: &str| {
            let claim = claim(assert, EffectKind::Difference, values);
            assert_eq!(effect(&Run::default(), &claim).as_deref(), Some(text));
        };
        let values = [0.12, 0.094, 0.151];
        check("recovery_ms(a) >= first_right_ms(b)", values, "difference 120 ms (95 %: 94.0 to 151)");
        check("every $n: max(p_us(a) over n) > 0 s", values, "difference 120 ms (95 %: 94.0 to 151)");
        check("p_us(a) / q_us(b) > 0", values, "difference 0.120 (95 %: 0.0940 to 0.151)");
        check("slope(p_us(a) over n) > 0", values, "difference 0.120 (95 %: 0.0940 to 0.151)");
        check("p_us(a) > 0 and cpu_cores(a) > 0", values, "difference 0.120 (95 %: 0.0940 to 0.151)");
        let kib = [2048.0, 1024.0, 4096.0];
        check("file_bytes(ü) > disk_bytes(b)", kib, "difference 2.00 KiB (95 %: 1.00 to 4.00)");
    }

    #[test]
    fn an_exact_value_has_its_unit_too() {
        let check = |assert, value, text: &str| {
            let claim = claim(assert, EffectKind::Exact, [value; 3]);
            assert_eq!(effect(&Run::default(), &claim).as_deref(), Some(text));
        };
        check("threads_used(a) = 4", 4.0, "exactly 4");
        check("elapsed_ms(a) = 3 s", 3.5, "exactly 3.50 s");
        check("disqualified(a)", 7.0, "exactly 7");
        let kept = Claim {
            effect_unit: Some(Unit::Bytes),
            ..claim("a(x) / b(y) = 1 KiB", EffectKind::Exact, [1024.0; 3])
        };
        assert_eq!(effect(&Run::default(), &kept).as_deref(), Some("exactly 1.00 KiB"), "the record says it");
    }
}
