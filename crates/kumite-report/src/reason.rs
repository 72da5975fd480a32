//! Why a verdict is as it is, in a sentence.

use std::collections::BTreeMap;

use kumite_record::{Claim, ContenderStatus, Decider, Doubt, EffectKind, Enough, Reason, Verdict};

/// Of more, a list says one thing for each cell.
const FEW_CELLS: usize = 3;

/// The comparison that decided, what else there is to say of it, and doubts.
pub fn why(claim: &Claim) -> String {
    let Some(decider) = &claim.decided_by else { return claim.why.clone() };
    let mut parts = vec![format!("{}{}", of_all(claim, decider), decider.comparison)];
    parts.extend(claim.reason.as_ref().map(reason));
    parts.extend(doubts(&claim.doubts));
    if claim.left_out > 0 {
        parts.push(format!("{} more at points that cannot be measured here are left out", claim.left_out));
    }
    parts.join("; ")
}

fn of_all(claim: &Claim, Decider { alike, of, .. }: &Decider) -> String {
    match (of, claim.verdict) {
        (1, _) => String::new(),
        (_, Verdict::Holds) => format!("the least clear of {of} comparisons, all of which hold: "),
        (_, Verdict::Fails) if *alike == 0 => {
            let (bound, which) = match claim.bound_confidence {
                Some(_) => (", by the bound or more", "the furthest off"),
                None => ("", "the likeliest"),
            };
            format!(
                "at least one of {of} comparisons fails{bound}, and none is clear enough to be named; {which}: "
            )
        }
        (_, Verdict::Fails) => format!("{alike} of {of} comparisons fail, the clearest: "),
        // Those of two sides named another one.
        (_, Verdict::Undecided) if claim.bet.is_none() => {
            format!("{alike} of {of} comparisons are undecided and none fails, the first: ")
        }
        (_, Verdict::NoDifference) if claim.bet.is_none() => {
            format!("{alike} of {of} comparisons are no difference and the others hold, the least clear: ")
        }
        (_, Verdict::Undecided) => {
            format!("{alike} of {of} comparisons are undecided, the furthest from holding: ")
        }
        (_, Verdict::NoDifference) => {
            format!("at least one of {of} comparisons is no difference and none fails, the likeliest: ")
        }
        (_, Verdict::NotTested) => format!("{alike} of {of} comparisons could not be tested, the first: "),
    }
}

/// A reason in words.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::NoPart { profile } => {
            format!("the {profile} profile has no point that a part of it speaks of")
        }
        Reason::NoPoint { profile, point } => format!("the {profile} profile has no point {point}"),
        Reason::FewValues { profile, axis } => {
            format!("the {profile} profile has fewer than two values of {axis} for it")
        }
        Reason::NotPlanned { profile, cell } => format!("the {profile} profile does not try {cell}"),
        Reason::Absent { contender, status: ContenderStatus::Skipped, why } => {
            format!("{contender} was skipped: {why}")
        }
        Reason::Absent { contender, status, why } => format!("{contender} {}: {why}", status.as_str()),
        Reason::Unavailable { why } => format!("it cannot be measured here: {why}"),
        Reason::NoUsableTrial { cell, outcome, why } => {
            format!("{cell} has no usable trial: {}: {why}", outcome.as_str())
        }
        Reason::NoMetric { cell, metric } => format!("{cell} has no {metric}"),
        Reason::NotTried { cell } => format!("{cell} was not tried"),
        Reason::TooFewValues { cell, metric, missing, enough } => {
            let few = format!("{cell} has too few values for {metric}: a trial needs {missing} more");
            let would_do = |Enough { have, parameter, value }: &Enough| {
                format!(" than its {have}; {parameter} = {value} would do")
            };
            few + &enough.as_ref().map(would_do).unwrap_or_default()
        }
        Reason::NoRound { cells } => {
            format!("there is no round in which {} were all measured", cells.join(", "))
        }
        Reason::LowerBounds => {
            "some of its figures are lower bounds, and the verdict depends on how far they go".to_owned()
        }
        Reason::NotPositive => "`within` compares by ratio, and a side of it is not above 0".to_owned(),
        Reason::NoValue => {
            "a side of it has no value: a division by zero or a metric that is missing".to_owned()
        }
        Reason::Unjudgeable { why } => why.clone(),
        Reason::WrongAnswers { contender, wrong, trials } => {
            format!("{wrong} of {trials} trials of {contender} gave a wrong answer")
        }
        Reason::TooFewBlocks { level, need, have, effect, kind } => {
            let noun = if *kind == EffectKind::Ratio { "ratio" } else { "difference" };
            format!(
                "a {} interval needs {need} blocks, and there are {have} (the {noun} is {effect:.3})",
                percent(*level)
            )
        }
        Reason::MoreBlocks { blocks, alone } => more("block", *blocks, *alone),
        Reason::MoreNodes { nodes, alone } => more("node", *nodes, *alone),
    }
}

/// How many more of these would tell.
fn more(what: &str, count: Option<usize>, alone: Option<Verdict>) -> String {
    let more = match count {
        Some(1) => format!("about one more {what}"),
        Some(count) => format!("about {count} more {what}s"),
        None => {
            return format!(
                "the {what}s lie on both sides, and no number of them is in sight that would tell"
            );
        }
    };
    let alone = match alone {
        Some(Verdict::Holds) => "it would hold alone",
        Some(Verdict::Fails) => "it would fail alone",
        Some(Verdict::NoDifference) => "it would be no difference alone",
        _ => return format!("{more} would tell"),
    };
    format!("{alone}; here it takes {more}")
}

fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn doubts(doubts: &[Doubt]) -> Vec<String> {
    let mut said = Vec::new();
    let mut marked: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for doubt in doubts {
        match doubt {
            Doubt::LostTrials { cell, lost, trials } => {
                said.push(format!("{lost} of {trials} trials of {cell} failed or were disqualified"));
            }
            Doubt::Check { id } => said.push(format!("check {id} is red at what it rests on")),
            Doubt::Marked { cell, mark } => marked.entry(cell).or_default().push(mark.as_str()),
        }
    }
    said.extend(marked_cells(marked));
    said
}

/// The cells by name, if they are few; else how many there are with each mark. The tables have the rest.
fn marked_cells(cells: BTreeMap<&str, Vec<&str>>) -> Option<String> {
    if cells.is_empty() {
        return None;
    }
    if cells.len() <= FEW_CELLS {
        let cells: Vec<String> =
            cells.into_iter().map(|(cell, marks)| format!("{cell} ({})", marks.join(", "))).collect();
        return Some(format!("rests on marked samples: {}", cells.join(", ")));
    }
    let mut by_mark = BTreeMap::<&str, usize>::new();
    cells.values().flatten().for_each(|mark| *by_mark.entry(mark).or_default() += 1);
    let marks: Vec<String> = by_mark.into_iter().map(|(mark, count)| format!("{mark} in {count}")).collect();
    Some(format!("rests on marked samples of {} cells: {}", cells.len(), marks.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(verdict: Verdict, reason: Option<Reason>, alike: usize, of: usize) -> Claim {
        let decided_by = Some(Decider { comparison: "a(x) > a(y) at n=1".into(), alike, of });
        Claim { verdict, decided_by, reason, ..Claim::default() }
    }

    #[test]
    fn the_deciding_comparison_its_reason_and_doubts_are_a_sentence() {
        let few =
            Reason::TooFewBlocks { level: 0.975, need: 8, have: 7, effect: 1.0, kind: EffectKind::Ratio };
        let mut undecided = claim(Verdict::Undecided, Some(few), 2, 3);
        let cell = |cell: &str| cell.to_owned();
        let marked = |name, mark| Doubt::Marked { cell: cell(name), mark };
        undecided.doubts = vec![
            Doubt::LostTrials { cell: cell("x at n=1"), lost: 2, trials: 8 },
            marked("x at n=1", kumite_record::Mark::GeneratorBound),
            marked("x at n=1", kumite_record::Mark::SharedCores),
            marked("y at n=1", kumite_record::Mark::Unsteady),
            Doubt::Check { id: cell("floor") },
        ];
        undecided.left_out = 4;
        assert_eq!(
            why(&undecided),
            "2 of 3 comparisons are undecided and none fails, the first: a(x) > a(y) at n=1; a 97.5 % interval needs 8 blocks, \
             and there are 7 (the ratio is 1.000); 2 of 8 trials of x at n=1 failed or were disqualified; check floor is red at what it rests on; rests on marked \
             samples: x at n=1 (generator-bound, shared-cores), y at n=1 (unsteady); 4 more at points that cannot be \
             measured here are left out"
        );
        assert_eq!(why(&claim(Verdict::Holds, None, 1, 1)), "a(x) > a(y) at n=1");
    }

    #[test]
    fn many_marked_cells_are_counted() {
        let mut holds = claim(Verdict::Holds, None, 1, 1);
        let cells = ["a", "b", "c", "d"].map(str::to_owned);
        holds.doubts = cells.map(|cell| Doubt::Marked { cell, mark: kumite_record::Mark::Unsteady }).into();
        let more = Doubt::Marked { cell: "a".to_owned(), mark: kumite_record::Mark::SharedCores };
        holds.doubts.push(more);
        assert_eq!(
            why(&holds),
            "a(x) > a(y) at n=1; rests on marked samples of 4 cells: shared-cores in 1, unsteady in 4"
        );
    }

    #[test]
    fn a_record_of_before_has_the_sentence() {
        let mut old = claim(Verdict::Holds, None, 1, 1);
        old.decided_by = None;
        old.why = "a(x) > a(y)".to_owned();
        assert_eq!(why(&old), "a(x) > a(y)");
    }
}
