//! A claim's result in the columns of an overview.

use kumite_record::{Claim, Run};

use crate::words::effect::{EffectText, interval};
use crate::words::sittings::stood;
use crate::words::text::one_line;

/// A run's answer to one claim, with a short text for each column.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimRow {
    /// The claim's id.
    pub id: String,
    /// The verdict in words: `holds`, `depends on the sitting`.
    pub verdict: String,
    /// Both sides and the effect: `a / b = 1.43 ×`. None if nothing was measured.
    pub effect: Option<String>,
    /// The bound of the effect, `at least 1.2 ×`. None if nothing was measured, or if the effect is exact.
    pub bound: Option<String>,
    /// The number of sittings in which the claim stood: `stood in 3 of 3 sittings`. None if there were no sittings.
    pub stood: Option<String>,
    /// The interval in which the effect of a further sitting lies in four of five cases. None if there were fewer than
    /// two sittings.
    pub next: Option<String>,
}

impl ClaimRow {
    /// The columns for a claim of this run.
    pub fn new(run: &Run, claim: &Claim) -> ClaimRow {
        let effect = EffectText::new(run, claim);
        let (bound, effect) = effect.map_or((None, None), |of| (of.bound, Some(of.effect)));
        ClaimRow {
            id: one_line(&claim.id),
            verdict: one_line(&claim.verdict.to_string()),
            effect,
            bound,
            stood: stood(claim),
            next: claim.next_sitting.and_then(|next| interval(claim, next.low_80, next.high_80)),
        }
    }

    /// All columns in one line, without a line feed. Columns without a text are left out.
    pub fn line(&self) -> String {
        let next = self.next.as_ref().map(|next| format!("the next in 80 % within {next}"));
        let rest = [&self.effect, &self.bound, &self.stood, &next];
        let rest: Vec<&str> = rest.into_iter().flatten().map(String::as_str).collect();
        format!("{}: {}{}{}", self.id, self.verdict, if rest.is_empty() { "" } else { ": " }, rest.join("; "))
    }
}
