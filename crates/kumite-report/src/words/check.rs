//! Checks in words: sentences that must be true whatever the contenders are.

use kumite_record::{Binds, Check, CheckOutcome, EffectKind, RedComparison, Run};
use serde::Serialize;

use crate::words::number::{plural, significant};
use crate::words::quantity::Measured;
use crate::words::reason::reason;
use crate::words::text::{clean, one_line};

/// The most red comparisons of a check that are told one by one.
const TOLD: usize = 5;

/// The checks of a run, in words.
#[derive(Debug, Serialize)]
pub struct ChecksText {
    /// The numbers of checks by outcome: `5 checks: all green.`
    pub tally: String,
    /// The checks that are not true.
    pub red: Vec<CheckText>,
    pub not_tested: Vec<CheckText>,
    pub green: Vec<CheckText>,
}

/// A check as every format but CSV shows it.
#[derive(Debug, Serialize)]
pub struct CheckText {
    pub id: String,
    /// The check in plain words, or in its grammar if there are no plain words for it.
    pub title: String,
    /// A line for each red comparison, at most five, and one that counts the others; or the reason why the check was
    /// not tested. Empty if the check is green.
    pub what: Vec<String>,
    pub because: String,
    /// The check in its grammar; none if `title` has it already.
    pub assert: Option<String>,
}

impl ChecksText {
    /// The checks of a run in words; none if it has no checks.
    pub fn new(run: &Run, checks: &[Check]) -> Option<ChecksText> {
        let of = |outcome| -> Vec<CheckText> {
            checks
                .iter()
                .filter(|check| check.outcome == outcome)
                .map(|check| CheckText::new(run, check))
                .collect()
        };
        let [red, green, not_tested] =
            [CheckOutcome::Red, CheckOutcome::Green, CheckOutcome::NotTested].map(of);
        let counts = match green.len() == checks.len() {
            true if checks.len() == 1 => "green".to_owned(),
            true => "all green".to_owned(),
            false => {
                let counts = [(red.len(), "red"), (green.len(), "green"), (not_tested.len(), "not tested")];
                let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
                counts.collect::<Vec<_>>().join(", ")
            }
        };
        let tally = format!("{}: {counts}.", plural(checks.len(), "check"));
        (!checks.is_empty()).then_some(ChecksText { tally, red, not_tested, green })
    }
}

impl CheckText {
    pub(crate) fn new(run: &Run, check: &Check) -> CheckText {
        let mut what: Vec<String> = check.red.iter().take(TOLD).map(|red| off(check.binds, red)).collect();
        if let Some(more) = check.red.len().checked_sub(TOLD).filter(|more| *more > 0) {
            what.push(format!("and {} more", plural(more, "comparison")));
        }
        if check.outcome == CheckOutcome::NotTested {
            let green =
                (check.green > 0).then(|| format!("; {} of {} comparisons are green", check.green, check.of));
            what.extend(
                check.reason.as_ref().map(|of| format!("{}{}", reason(run, of), green.unwrap_or_default())),
            );
        }
        CheckText {
            id: one_line(&check.id),
            title: one_line(check.title.as_deref().unwrap_or(&check.assert)),
            what: what.iter().map(|what| clean(what)).collect(),
            because: one_line(&check.because),
            assert: check.title.is_some().then(|| one_line(&check.assert)),
        }
    }
}

/// A red comparison in words: `db_queries(go) = 3 * answered(go): not so in 2 of 12 rounds, at worst a difference of
/// -3`.
fn off(binds: Binds, red: &RedComparison) -> String {
    let effect = match red.effect_kind {
        EffectKind::Ratio => format!("a ratio of {}", significant(red.effect, 3)),
        _ => format!("a difference of {}", red.effect_unit.text(red.effect)),
    };
    let rounds = format!("not so in {} of {}", red.violated, plural(red.rounds, "round"));
    match binds {
        Binds::Trials => format!("{}: {rounds}, at worst {effect}", red.comparison),
        Binds::Median => format!("{}: the median is {effect}; {rounds}", red.comparison),
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::{CellName, Reason, Unit};

    use super::*;

    fn check(outcome: CheckOutcome, red: Vec<RedComparison>) -> Check {
        Check {
            id: "it".to_owned(),
            assert: "n(a) = 3".to_owned(),
            title: None,
            binds: Binds::Trials,
            because: "They are counted twice.".to_owned(),
            outcome,
            green: 2,
            of: 3,
            red,
            reason: None,
        }
    }

    fn red(effect: f64, effect_kind: EffectKind) -> RedComparison {
        let (comparison, effect_unit) = ("n(a) = 3".to_owned(), Unit::Seconds);
        RedComparison { comparison, violated: 2, rounds: 12, effect, effect_kind, effect_unit }
    }

    #[test]
    fn the_tally_is_one_word_where_all_are_green() {
        let tally = |outcomes: &[CheckOutcome]| {
            let checks: Vec<Check> = outcomes.iter().map(|outcome| check(*outcome, Vec::new())).collect();
            ChecksText::new(&Run::default(), &checks).map(|checks| checks.tally)
        };
        use CheckOutcome::{Green, NotTested, Red};
        assert_eq!(tally(&[]), None);
        assert_eq!(tally(&[Green]).as_deref(), Some("1 check: green."));
        assert_eq!(tally(&[Green, Green]).as_deref(), Some("2 checks: all green."));
        assert_eq!(
            tally(&[Green, NotTested, Red, Green]).as_deref(),
            Some("4 checks: 1 red, 2 green, 1 not tested.")
        );
    }

    #[test]
    fn a_red_check_says_in_how_many_rounds_and_how_far_off_or_what_the_median_is() {
        let by_trials = red(-0.07, EffectKind::Difference);
        assert_eq!(
            off(Binds::Trials, &by_trials),
            "n(a) = 3: not so in 2 of 12 rounds, at worst a difference of -70.0 ms"
        );
        let by_median = red(1.184, EffectKind::Ratio);
        assert_eq!(
            off(Binds::Median, &by_median),
            "n(a) = 3: the median is a ratio of 1.18; not so in 2 of 12 rounds"
        );
        let many = CheckText::new(&Run::default(), &check(CheckOutcome::Red, vec![by_median; 7]));
        assert_eq!((many.what.len(), many.what[5].as_str()), (6, "and 2 comparisons more"));
    }

    #[test]
    fn what_was_not_tested_says_why_and_what_is_green() {
        let why = Reason::NotTried { cell: CellName { contender: "b".to_owned(), ..CellName::default() } };
        let text = CheckText::new(
            &Run::default(),
            &Check { reason: Some(why), ..check(CheckOutcome::NotTested, Vec::new()) },
        );
        assert_eq!(text.what, ["b was not tried; 2 of 3 comparisons are green"]);
    }
}
