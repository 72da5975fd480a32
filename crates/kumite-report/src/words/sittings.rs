//! The sittings of a run in words, and what they say of a claim.

use kumite_record::{Claim, Doubt, Run, SittingEffect, SittingSide, Verdict};

use crate::words::effect::{figure, interval};
use crate::words::number::plural;

/// The sentence on the sittings of a run: `Judged by 3 sittings, all of which have to agree.` None if the run has no
/// sittings.
pub fn of_run(run: &Run) -> Option<String> {
    let (all, apart) = (run.sittings.len(), kumite_record::apart(&run.sittings).len());
    match (all, apart) {
        (0, _) => None,
        (1, _) => Some("This is one sitting; `kumite again` on another day adds a second.".to_owned()),
        (_, 0 | 1) => Some(format!(
            "Its {all} sittings count as one, because on one machine they have to be an hour apart."
        )),
        (_, apart) if apart == all => Some(format!("Judged by {all} sittings, all of which have to agree.")),
        (_, apart) => Some(format!(
            "Judged by {all} sittings, of which some are less than an hour apart on one machine: they count as {apart}."
        )),
    }
}

/// The number of sittings that agree with the verdict on a claim: `stood in 3 of 3 sittings`. Without a verdict, it is
/// the number of sittings in which the claim is true. A doubt about the next sitting may follow. `None` if there is
/// nothing to say.
pub fn stood(claim: &Claim) -> Option<String> {
    let of = claim.sittings.len();
    let on = |side| claim.sittings.iter().filter(|of| of.side == side).count();
    let stood = match (of, claim.verdict) {
        (0, _) => return None,
        (1, Verdict::Holds | Verdict::Fails | Verdict::NoDifference) => return Some(ONE.to_owned()),
        (1, _) => return None,
        (_, Verdict::Holds) => format!("stood in {} of {of} sittings", on(SittingSide::So)),
        (_, Verdict::Fails) => format!("stood in {} of {of} sittings", on(SittingSide::NotSo)),
        // There is no such verdict unless the effect is within the margin in all sittings.
        (_, Verdict::NoDifference) => format!("stood in {of} of {of} sittings"),
        _ => format!("as claimed in {} of {of} sittings", on(SittingSide::So)),
    };
    let may_differ = claim.doubts.contains(&Doubt::AnotherSittingMayDiffer);
    Some(if may_differ { format!("{stood}; {ANOTHER}") } else { stood })
}

/// The doubt about a claim in a run of one sitting. `ANOTHER` is the doubt about a claim on which a further sitting may
/// give another verdict.
pub const ONE: &str = "one sitting says nothing of the next";
pub const ANOTHER: &str = "another sitting may differ";

/// The effect in each sitting: `in each sitting: 0.93 × (10 rounds), 1.02 × (10 rounds, not as claimed), …`, and the
/// interval in which that of the next sitting may be expected. None if there are no sittings.
pub fn each(claim: &Claim) -> Option<String> {
    let said = |of: &SittingEffect| {
        let side = match of.side {
            SittingSide::So => ", as claimed",
            SittingSide::NotSo => ", not as claimed",
            SittingSide::Open => "",
        };
        Some(format!("{} ({}{side})", figure(claim, of.effect)?, plural(of.rounds, "round")))
    };
    let all: Vec<String> = claim.sittings.iter().filter_map(said).collect();
    let between = match all.len() {
        0 => return None,
        1 => String::new(),
        // The range of n values has the next one in (n − 1) of n + 1 cases, whatever they are drawn from.
        3 => "; the next lies between them in half of cases".to_owned(),
        n => format!("; the next lies between them in {} of {} cases", n - 1, n + 1),
    };
    let next = claim.next_sitting.and_then(|next| interval(claim, next.low_80, next.high_80));
    let next = next.map_or(String::new(), |interval| format!(", and in 80 % within {interval}"));
    Some(format!("in each sitting: {}{between}{next}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use kumite_record::Sitting;

    use super::*;

    fn claim(verdict: Verdict, sides: &[SittingSide]) -> Claim {
        let sitting = |side: &SittingSide| SittingEffect { side: *side, ..SittingEffect::default() };
        Claim { verdict, sittings: sides.iter().map(sitting).collect(), ..Claim::default() }
    }

    #[test]
    fn a_verdict_says_in_how_many_sittings_it_stood() {
        use SittingSide::{NotSo, So};
        let said = |verdict, sides: &[SittingSide]| stood(&claim(verdict, sides));
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(said(Verdict::Holds, &[]), None);
        assert_eq!(said(Verdict::Holds, &[So]), of("one sitting says nothing of the next"));
        assert_eq!(said(Verdict::Undecided, &[So]), None);
        assert_eq!(said(Verdict::Holds, &[So, So, So]), of("stood in 3 of 3 sittings"));
        assert_eq!(said(Verdict::Fails, &[NotSo, NotSo]), of("stood in 2 of 2 sittings"));
        assert_eq!(said(Verdict::NoDifference, &[NotSo, So]), of("stood in 2 of 2 sittings"));
        assert_eq!(said(Verdict::DependsOnSitting, &[NotSo, So, So]), of("as claimed in 2 of 3 sittings"));
        let mut doubted = claim(Verdict::Holds, &[So, So]);
        doubted.doubts.push(Doubt::AnotherSittingMayDiffer);
        assert_eq!(stood(&doubted), of("stood in 2 of 2 sittings; another sitting may differ"));
    }

    #[test]
    fn a_run_says_how_many_sittings_it_is_judged_by() {
        let run = |starts_min: &[i64]| {
            let at = |minutes: i64| format!("2026-01-01T{:02}:{:02}:00Z", minutes / 60, minutes % 60);
            let sitting = |start: &i64| Sitting {
                started: at(*start).parse().unwrap(),
                rounds: 1,
                ..Sitting::default()
            };
            of_run(&Run { sittings: starts_min.iter().map(sitting).collect(), ..Run::default() })
        };
        let said: Vec<Option<String>> =
            [&[][..], &[0], &[0, 90, 180], &[0, 1, 2], &[0, 1, 180]].map(run).into();
        let said: Vec<&str> = said.iter().map(|said| said.as_deref().unwrap_or_default()).collect();
        assert_eq!(
            said,
            [
                "",
                "This is one sitting; `kumite again` on another day adds a second.",
                "Judged by 3 sittings, all of which have to agree.",
                "Its 3 sittings count as one, because on one machine they have to be an hour apart.",
                "Judged by 3 sittings, of which some are less than an hour apart on one machine: they count as 2."
            ]
        );
    }
}
