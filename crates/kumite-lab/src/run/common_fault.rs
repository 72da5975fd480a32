//! The search for wrong answers that are one fault common to all contenders.

use std::collections::BTreeMap;

use kumite_record::{Outcome, Trial, standing};

/// The fewest wrong answers of a contender that count, because one may be chance.
const LEAST: usize = 2;

#[derive(Default)]
struct Answers<'a> {
    right: usize,
    wrong: Vec<&'a Trial>,
}

impl Answers<'_> {
    fn are_mostly_wrong(&self) -> bool {
        self.wrong.len() >= LEAST && self.wrong.len() >= self.right
    }
}

/// The reason to end a run: on some node, each of several contenders answers wrong in half of its trials or more, and
/// at least twice. `None` if no node is like that. Contenders that share nothing do not all answer wrong by themselves,
/// so the machine, `[answer]` or kumite is at fault. Void and failed trials are no evidence either way.
pub fn common_fault<'a>(trials: impl IntoIterator<Item = &'a Trial> + Clone) -> Option<String> {
    let mut by_node = BTreeMap::<Option<&str>, Vec<&Trial>>::new();
    for trial in standing(trials) {
        by_node.entry(trial.node.as_deref()).or_default().push(trial);
    }
    by_node.into_iter().find_map(|(node, trials)| {
        let node = node.map(|node| format!("{node}: ")).unwrap_or_default();
        Some(node + &of_one_node(&trials)?)
    })
}

fn of_one_node(trials: &[&Trial]) -> Option<String> {
    let mut by_contender = BTreeMap::<&str, Answers>::new();
    for trial in trials.iter().filter(|trial| !trial.control) {
        let answers = by_contender.entry(&trial.contender).or_default();
        match trial.outcome {
            Outcome::Ok => answers.right += 1,
            // A kept output is wrong only by being unlike the others', so it is no fault that all have.
            Outcome::Disqualified if trial.sample.output.is_some() => {}
            Outcome::Disqualified => answers.wrong.push(trial),
            Outcome::Failed => {}
        }
    }
    by_contender.retain(|_, answers| answers.right > 0 || !answers.wrong.is_empty());
    if by_contender.len() < 2 || !by_contender.values().all(Answers::are_mostly_wrong) {
        return None;
    }
    let each: Vec<String> = by_contender
        .iter()
        .map(|(name, Answers { right, wrong })| {
            format!("{name} in {} of {}", wrong.len(), right + wrong.len())
        })
        .collect();
    let first = by_contender.values().flat_map(|answers| &answers.wrong).min_by_key(|trial| trial.seq)?;
    Some(format!(
        "every contender answers wrong in half of its trials or more ({}), which is no fault of each but one of this \
         machine, of [answer], or of kumite; no verdict is given; the first was {}: {}",
        each.join(", "),
        first.contender,
        first.reason.as_deref().unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The common fault in trials of contenders: `+` right, `-` wrong, `x` failed.
    fn of(contenders: &[(&str, &str)]) -> Option<String> {
        let mut trials = Vec::new();
        for (contender, outcomes) in contenders {
            for (block, outcome) in outcomes.chars().enumerate() {
                let outcome = match outcome {
                    '+' => Outcome::Ok,
                    '-' => Outcome::Disqualified,
                    _ => Outcome::Failed,
                };
                let reason = (outcome != Outcome::Ok).then(|| format!("{contender} {block}"));
                let (block, contender) = (block as u32, (*contender).to_owned());
                trials.push(Trial { seq: trials.len() as u32, block, contender, outcome, reason, ..trial() });
            }
        }
        common_fault(&trials)
    }

    fn trial() -> Trial {
        Trial { ..Trial::default() }
    }

    #[test]
    fn all_of_several_in_half_of_their_trials_is_one_fault() {
        let why = of(&[("a", "+-+-"), ("b", "---+"), ("c", "xxxx")]).unwrap();
        let expected = "every contender answers wrong in half of its trials or more (a in 2 of 4, b in 3 of 4), which \
            is no fault of each but one of this machine, of [answer], or of kumite; no verdict is given; the first was \
            a: a 1";
        assert_eq!(why, expected);
        assert!(of(&[("a", "--"), ("b", "--")]).is_some());
        assert!(of(&[("a", "x--x+"), ("b", "-x-")]).is_some(), "failures say nothing of answers");
    }

    #[test]
    fn some_of_them_or_less_or_once_is_each_ones_own() {
        for contenders in [
            &[("a", "----"), ("b", "++++")][..],
            &[("a", "----"), ("b", "+-++-")],
            &[("a", "-"), ("b", "-")],
            &[("a", "--"), ("b", "-")],
            &[("a", "----")],
            &[("a", "----"), ("b", "xxxx")],
            &[],
        ] {
            assert_eq!(of(contenders), None, "{contenders:?}");
        }
    }
}
