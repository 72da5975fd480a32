//! Near-ties in words: the effect, the interval that further sittings would lie in, and the effort that would decide
//! the claim.

use kumite_record::{Claim, NearTie, NearTies, Remedy, Run, RunPlace, Verdict};

use crate::words::effect::EffectText;
use crate::words::noise_floor::small;
use crate::words::number::plural;
use crate::words::text::one_line;

/// The near-ties of an earlier run: a line that says how many there are, and one for each.
pub fn near_ties(of: &NearTies) -> String {
    let NearTies { run, place, claims, near } = of;
    let place = match place {
        RunPlace::Store => "kept".to_owned(),
        RunPlace::File(name) => one_line(name),
    };
    let id = &run.id;
    if near.is_empty() {
        return format!("of run {id} ({place}) no claim is a near-tie\n");
    }
    let are = if near.len() == 1 { "is a near-tie" } else { "are near-ties" };
    let lines: String = near.iter().map(|one| format!("  {}\n", near_tie(run, one))).collect();
    format!(
        "of run {id} ({place}) {} of {claims} claims {are}: the border is where the next sitting may be\n{lines}",
        near.len()
    )
}

/// A near-tie on one line: `a-first holds: a / b = 1.03 × (80 %: 0.98 to 1.09 ×; > 1 claimed), 103 against 100 /s; 40
/// rounds would decide it`
fn near_tie(run: &Run, near: &NearTie) -> String {
    let claim = Claim {
        // Its interval is that of further sittings, whatever the verdict rests on.
        verdict: Verdict::Holds,
        decided_by: Some(near.decided_by.clone()),
        effect: Some(near.effect.clone()),
        ..Claim::default()
    };
    let effect = EffectText::new(run, &claim).map_or(String::new(), |effect| effect.sentence());
    let word = match near.verdict {
        Verdict::NoDifference => "shows no difference".to_owned(),
        Verdict::Undecided => "is undecided".to_owned(),
        verdict => verdict.to_string(),
    };
    format!("{} {}: {effect}; {}", one_line(&near.claim), one_line(&word), remedy(run, near.remedy))
}

fn remedy(run: &Run, remedy: Remedy) -> String {
    match remedy {
        Remedy::Rounds(rounds) => format!("{} would decide it", plural(rounds, "round")),
        Remedy::Jobs { now, enough } => {
            format!("{} within a trial, in place of {now}, would decide it", plural(enough, "job"))
        }
        Remedy::Sittings { sittings, agree } => {
            let agree_in =
                format!("{} agree in about {:.0} % of cases", plural(sittings, "sitting"), 100.0 * agree);
            match agree < 0.5 {
                true => format!(
                    "its border is where the effect is, so another border would decide more than rounds or sittings: {agree_in}"
                ),
                false => format!("no number of rounds would decide it, but {agree_in}"),
            }
        }
        Remedy::Margin => format!(
            "nothing but a wider margin than {} would decide it, for sittings are further apart",
            small(run.margin_percent)
        ),
    }
}
