//! The verdict on a claim, in words.

use std::collections::BTreeSet;

use kumite_record::{AllRounds, Claim, NodeEffect, Run, Verdict, Word};
use serde::Serialize;

use crate::words::claim_scale::scale;
use crate::words::effect::{EffectText, figure, two_sided};
use crate::words::number::{plural, significant};
use crate::words::reason::why;
use crate::words::sittings;
use crate::words::text::{clean, one_line};

/// The texts on a verdict, which every format but CSV shows.
#[derive(Debug, Serialize)]
pub struct VerdictText {
    /// The verdict's word in the style sheet: its word in files, or `other` for a verdict of a later version of kumite.
    pub key: &'static str,
    pub symbol: char,
    /// The claim in plain words, or in its grammar if there are no plain words for it.
    pub title: String,
    /// The verdict in words: `holds`, `no difference`.
    pub word: String,
    /// The effect in pieces; none if nothing was measured.
    #[serde(skip)]
    pub effect: Option<EffectText>,
    /// The verdict with its effect, its bound, what was claimed and both figures.
    pub sentence: String,
    pub why: String,
    /// The sentence on the parameters that had other values at the source; none if there are no such parameters, if
    /// there is no source, or if the claim was not tested.
    pub scale: Option<String>,
    /// Sentences on the effect on each node, in each sitting, and in all rounds if the verdict rests on fewer.
    pub parts: Vec<String>,
    pub published: Option<String>,
    pub id: String,
    /// The claim in its grammar; none if `title` has it already.
    pub assert: Option<String>,
}

impl VerdictText {
    pub fn new(run: &Run, claim: &Claim) -> VerdictText {
        let effect = EffectText::new(run, claim);
        let word = one_line(&claim.verdict.to_string());
        VerdictText {
            key: key(claim.verdict),
            symbol: symbol(claim.verdict),
            title: one_line(claim.title.as_deref().unwrap_or(&claim.assert)),
            sentence: match &effect {
                Some(effect) => format!("{word}: {}", effect.sentence()),
                None => word.clone(),
            },
            word,
            effect,
            why: clean(&[why(run, claim), evidence(claim)].join("")),
            scale: scale(run, claim),
            parts: [nodes(claim), sittings::each(claim), all_rounds(claim)].into_iter().flatten().collect(),
            published: claim.published.as_deref().map(one_line),
            id: one_line(&claim.id),
            assert: claim.title.is_some().then(|| one_line(&claim.assert)),
        }
    }
}

fn nodes(claim: &Claim) -> Option<String> {
    let all: Vec<String> = nodes_said(claim)
        .into_iter()
        .map(|(node, said)| format!("{} {said}", one_line(&node.node)))
        .collect();
    (!all.is_empty()).then(|| format!("on each node: {}", all.join(", ")))
}

/// Each node with the effect there: `1.20 × (6 rounds)`, and `contradicts` if the effect contradicts the verdict. Empty
/// if the run had one node.
pub fn nodes_said(claim: &Claim) -> Vec<(&NodeEffect, String)> {
    let said = |node: &NodeEffect| {
        let contradicts = if node.contradicts { ", contradicts" } else { "" };
        let effect = figure(claim, node.effect)?;
        Some(format!("{effect} ({}{contradicts})", plural(node.rounds, "round")))
    };
    claim.nodes.iter().filter_map(|node| Some((node, said(node)?))).collect()
}

/// The effect in all rounds: `1.05 × in all 20 rounds that were measured`. None if the verdict rests on all of them.
fn all_rounds(claim: &Claim) -> Option<String> {
    let AllRounds { effect, rounds } = claim.all_rounds?;
    Some(format!("{} in all {rounds} rounds that were measured", figure(claim, effect)?))
}

/// The verdict's word in the style sheet; `other` for a verdict of a later version of kumite.
pub fn key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Other(_) => "other",
        known => known.as_str(),
    }
}

pub fn symbol(verdict: Verdict) -> char {
    match verdict {
        Verdict::Holds => '✓',
        Verdict::Fails => '✗',
        Verdict::NoDifference => '=',
        Verdict::Undecided => '?',
        Verdict::DependsOnSitting => '±',
        Verdict::NotTested => '–',
        Verdict::Other(_) => '·',
    }
}

/// The evidence behind a verdict: `; evidence 41 (20 needed) after 6 rounds (two-sided 90 %: 1.28 to 1.60 ×)`. Empty
/// if nothing was bet.
fn evidence(claim: &Claim) -> String {
    let Some(bet) = &claim.bet else { return String::new() };
    let rounds = plural(bet.rounds as usize, "round");
    let (evidence, threshold) = (significant(bet.evidence, 2), significant(bet.threshold, 2));
    let two_sided = two_sided(claim).map_or(String::new(), |interval| format!(" (two-sided {interval})"));
    format!("; evidence {evidence} ({threshold} needed) after {rounds}{two_sided}")
}

/// The numbers of claims by verdict: `4 claims: 1 holds, 2 fail, 1 not tested.`
pub fn tally(claims: &[Claim]) -> String {
    let of = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let mut parts: Vec<String> = [
        (of(Verdict::Holds), "holds", "hold"),
        (of(Verdict::Fails), "fails", "fail"),
        (of(Verdict::NoDifference), "no difference", "no difference"),
        (of(Verdict::Undecided), "undecided", "undecided"),
        (of(Verdict::DependsOnSitting), "depends on the sitting", "depend on the sitting"),
        (of(Verdict::NotTested), "not tested", "not tested"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many }))
    .collect();
    let others: BTreeSet<&str> = claims
        .iter()
        .filter_map(|claim| if let Verdict::Other(word) = claim.verdict { Some(word.as_str()) } else { None })
        .collect();
    let counted = |word: &str| format!("{} {}", of(Verdict::Other(Word::new(word))), one_line(word));
    parts.extend(others.into_iter().map(counted));
    match claims.len() {
        0 => "No claim was judged.".to_owned(),
        1 => format!("1 claim: {}.", parts.join(", ")),
        n => format!("{n} claims: {}.", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_of_a_later_kumite_is_shown_by_its_word() {
        let claim = |verdict| Claim { verdict, ..Claim::default() };
        let later = claim(Verdict::Other(Word::new("holds-by-luck")));
        let text = VerdictText::new(&Run::default(), &later);
        assert_eq!((text.key, text.symbol, &*text.sentence), ("other", '·', "holds-by-luck"));
        assert_eq!(
            tally(&[claim(Verdict::Holds), later.clone(), later]),
            "3 claims: 1 holds, 2 holds-by-luck."
        );
    }
}
