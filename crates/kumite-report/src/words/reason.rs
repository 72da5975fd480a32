//! The reasons for a verdict, in sentences.

use std::collections::BTreeMap;

use kumite_record::{
    CellName, Claim, ContenderStatus, Decider, Doubt, Enough, Foreign, Reason, Run, Verdict,
};

use crate::words::control::cannot_tell;
use crate::words::effect::figure;
use crate::words::moved::moved;
use crate::words::sittings::{ANOTHER, ONE};

/// The most cells that a list of marked trials names.
const FEW_CELLS: usize = 3;

/// The comparison that decided a claim, the reason for the claim's verdict, and the doubts. Empty if no comparison
/// decided.
pub fn why(run: &Run, claim: &Claim) -> String {
    let Some(decider) = &claim.decided_by else { return String::new() };
    let mut parts = vec![format!("{}{}", of_all(claim, decider), comparison(decider))];
    parts.extend(claim.reason.as_ref().map(|of| reason(run, of)));
    parts.extend(doubts(run, claim));
    if claim.left_out > 0 {
        parts.push(format!("{} more at points that cannot be measured here are left out", claim.left_out));
    }
    parts.join("; ")
}

/// A comparison with the contender and the point that the `every`s around it set.
fn comparison(Decider { comparison, contender, point, .. }: &Decider) -> String {
    let contender = contender.as_ref().map_or(String::new(), |name| format!(", contender {name}"));
    let place = if point.is_empty() { String::new() } else { format!(" at {point}") };
    format!("{comparison}{contender}{place}")
}

fn all_hold(of: usize) -> String {
    if of == 2 { "both comparisons hold".to_owned() } else { format!("all {of} comparisons hold") }
}

fn of_all(claim: &Claim, Decider { alike, of, .. }: &Decider) -> String {
    let is_bounded = claim.effect.as_ref().is_some_and(|effect| effect.bound.level().is_some());
    match (of, claim.verdict) {
        (1, _) | (_, Verdict::Other(_)) => String::new(),
        (_, Verdict::Holds) => format!("{}, the least clear: ", all_hold(*of)),
        (_, Verdict::Fails) if *alike == 0 => {
            let (bound, which) = match is_bounded {
                true => (", by the bound or more", "the furthest off"),
                false => ("", "the likeliest to fail"),
            };
            format!("at least one of {of} comparisons fails{bound}, but it is not clear which; {which}: ")
        }
        (_, Verdict::Fails) => {
            let verb = if *alike == 1 { "fails" } else { "fail" };
            format!("{alike} of {of} comparisons {verb}, the clearest: ")
        }
        (_, Verdict::Undecided) => {
            format!("{alike} of {of} comparisons are undecided, the furthest from holding: ")
        }
        (_, Verdict::NoDifference) => {
            format!("at least one of {of} comparisons is no difference and none fails, the likeliest: ")
        }
        (_, Verdict::DependsOnSitting) => {
            format!("of {of} comparisons, the one that is most clearly not so in a sitting: ")
        }
        (_, Verdict::NotTested) => format!("{alike} of {of} comparisons could not be tested, the first: "),
    }
}

/// A reason for a verdict, in words. Texts that others wrote, such as errors, are not cleaned here.
pub fn reason(run: &Run, reason: &Reason) -> String {
    let name = |CellName { contender, point }: &CellName| run.cell(contender, point);
    match reason {
        Reason::NoPart { profile } => {
            format!("the {profile} profile has no point that a part of it speaks of")
        }
        Reason::NoPoint { profile, point } => format!("the {profile} profile has no point {point}"),
        Reason::FewValues { profile, axis } => {
            format!("the {profile} profile has fewer than two values of {axis} for it")
        }
        Reason::NotPlanned { profile, cell } => format!("the {profile} profile does not try {}", name(cell)),
        Reason::Absent { contender, status: ContenderStatus::Skipped, why } => {
            format!("{contender} was skipped: {why}")
        }
        Reason::Absent { contender, status, why } => format!("{contender} {}: {why}", status.as_str()),
        Reason::Unavailable { why } => format!("it cannot be measured here: {why}"),
        Reason::NoUsableTrial { cell, outcome, why } => {
            format!("{} has no usable trial: {}: {why}", name(cell), outcome.as_str())
        }
        Reason::NoMetric { cell, metric } => format!("{} has no {metric}", name(cell)),
        Reason::NotTried { cell } => format!("{} was not tried", name(cell)),
        Reason::TooFewValues { cell, metric, missing, enough } => {
            let few = format!("{} has too few values for {metric}: a trial needs {missing} more", name(cell));
            let would_do = |Enough { have, parameter, value }: &Enough| {
                format!(" than its {have}; {parameter} = {value} would do")
            };
            few + &enough.as_ref().map(would_do).unwrap_or_default()
        }
        Reason::NoRound { cells } => {
            let cells: Vec<String> = cells.iter().map(name).collect();
            format!("no round measured all of {}", cells.join(", "))
        }
        Reason::LowerBounds => {
            "some of its figures are lower bounds, and the true values could change the verdict".to_owned()
        }
        Reason::ControlIsOff { by } => cannot_tell(run, by),
        Reason::NotPositive => "`within` compares by ratio, and a side of it is not above 0".to_owned(),
        Reason::NoValue => {
            "a side of it has no value: a division by zero or a metric that is missing".to_owned()
        }
        Reason::WrongAnswers { contender, wrong, trials } => {
            format!("{wrong} of {trials} trials of {contender} gave a wrong answer")
        }
        Reason::MoreBlocks { blocks, alone } => more("block", *blocks, *alone),
        Reason::MoreNodes { nodes, alone } => more("node", *nodes, *alone),
        Reason::MoreSittings { sittings } => more("sitting", *sittings, None),
        Reason::Other(other) => foreign(other),
    }
}

/// The clause on how many more of `what` would decide. `alone` is the verdict that the claim would have without
/// others.
fn more(what: &str, count: Option<usize>, alone: Option<Verdict>) -> String {
    let more = match count {
        Some(1) => format!("about one more {what}"),
        Some(count) => format!("about {count} more {what}s"),
        None => {
            return format!("the {what}s point both ways; no realistic number of {what}s would decide it");
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

/// A reason or doubt from a later version of kumite: its word, and its fields.
fn foreign(Foreign { what, rest }: &Foreign) -> String {
    let rest: Vec<String> = rest.iter().map(|(key, value)| format!("{key} {value}")).collect();
    if rest.is_empty() { what.clone() } else { format!("{what} ({})", rest.join(", ")) }
}

fn doubts(run: &Run, claim: &Claim) -> Vec<String> {
    let mut said = Vec::new();
    let mut marked: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let name = |CellName { contender, point }: &CellName| run.cell(contender, point);
    for doubt in &claim.doubts {
        match doubt {
            Doubt::LostTrials { cell, lost, trials } => {
                said.push(format!("{lost} of {trials} trials of {} failed or were disqualified", name(cell)));
            }
            Doubt::Check { id } => said.push(format!("check {id} is red at what it rests on")),
            Doubt::Marked { cell, mark } => marked.entry(name(cell)).or_default().push(mark.as_str()),
            Doubt::AnotherSittingMayDiffer => said.push(ANOTHER.to_owned()),
            Doubt::OneSitting => said.push(ONE.to_owned()),
            Doubt::EndedByVerdicts { sitting } => {
                said.push(format!("sitting {} ended when its verdicts were in", sitting + 1));
            }
            Doubt::LaterRounds { rounds, effect } => {
                let effect = figure(claim, *effect).unwrap_or_default();
                said.push(format!("the {rounds} rounds after it was decided came to {effect}"));
            }
            Doubt::WentWith { .. } | Doubt::ChangedDuringRun { .. } => {
                let of = |effect| figure(claim, effect).unwrap_or_default();
                said.extend(moved(doubt, of, of));
            }
            Doubt::Other(other) => said.push(foreign(other)),
        }
    }
    said.extend(marked_cells(marked));
    said
}

/// The cells that rest on marked trials: by name if they are few, else the number of cells with each mark. None if
/// there are none.
fn marked_cells(cells: BTreeMap<String, Vec<&str>>) -> Option<String> {
    if cells.is_empty() {
        return None;
    }
    if cells.len() <= FEW_CELLS {
        let cells: Vec<String> =
            cells.into_iter().map(|(cell, marks)| format!("{cell} ({})", marks.join(", "))).collect();
        return Some(format!("rests on marked trials: {}", cells.join(", ")));
    }
    let mut by_mark = BTreeMap::<&str, usize>::new();
    cells.values().flatten().for_each(|mark| *by_mark.entry(mark).or_default() += 1);
    let marks: Vec<String> = by_mark.into_iter().map(|(mark, count)| format!("{mark} in {count}")).collect();
    Some(format!("rests on marked trials of {} cells: {}", cells.len(), marks.join(", ")))
}

#[cfg(test)]
mod tests {
    use kumite_record::{AxisValue, Mark, Point};

    use super::*;

    fn at(n: i64) -> Point {
        Point([("n".to_owned(), AxisValue::Int(n))].into())
    }

    fn cell(contender: &str, point: Point) -> CellName {
        CellName { contender: contender.to_owned(), point }
    }

    fn claim(verdict: Verdict, reason: Option<Reason>, alike: usize, of: usize) -> Claim {
        let comparison = "a(x) > a(y)".to_owned();
        let decided_by = Some(Decider { comparison, point: at(1), alike, of, ..Decider::default() });
        Claim { verdict, decided_by, reason, ..Claim::default() }
    }

    #[test]
    fn the_deciding_comparison_its_reason_and_doubts_are_a_sentence() {
        let more = Reason::MoreBlocks { blocks: Some(3), alone: None };
        let mut undecided = claim(Verdict::Undecided, Some(more), 2, 3);
        let marked = |name, mark| Doubt::Marked { cell: cell(name, at(1)), mark };
        undecided.doubts = vec![
            Doubt::LostTrials { cell: cell("x", at(1)), lost: 2, trials: 8 },
            marked("x", Mark::GeneratorBound),
            marked("x", Mark::SharedCores),
            marked("y", Mark::Unsteady),
            Doubt::Check { id: "floor".to_owned() },
        ];
        undecided.left_out = 4;
        let run = Run::default();
        assert_eq!(
            why(&run, &undecided),
            "2 of 3 comparisons are undecided, the furthest from holding: a(x) > a(y) at n=1; about 3 more blocks would tell; \
             2 of 8 trials of x at n=1 failed or were disqualified; check floor is red at what it rests on; rests on marked \
             trials: x at n=1 (generator-bound, shared-cores), y at n=1 (unsteady); 4 more at points that cannot be \
             measured here are left out"
        );
        assert_eq!(why(&run, &claim(Verdict::Holds, None, 1, 1)), "a(x) > a(y) at n=1");
    }

    #[test]
    fn many_marked_cells_are_counted() {
        let mut holds = claim(Verdict::Holds, None, 1, 1);
        let cells = ["a", "b", "c", "d"].map(|name| cell(name, Point::default()));
        holds.doubts = cells.map(|cell| Doubt::Marked { cell, mark: Mark::Unsteady }).into();
        let more = Doubt::Marked { cell: cell("a", Point::default()), mark: Mark::SharedCores };
        holds.doubts.push(more);
        assert_eq!(
            why(&Run::default(), &holds),
            "a(x) > a(y) at n=1; rests on marked trials of 4 cells: shared-cores in 1, unsteady in 4"
        );
    }

    #[test]
    fn what_a_later_kumite_doubts_is_shown_as_it_is() {
        let mut holds = claim(Verdict::Holds, None, 1, 1);
        let json = serde_json::json!([{ "what": "sat-apart", "hours": 2, "by": "a" }]);
        holds.doubts = serde_json::from_value(json).unwrap();
        assert_eq!(why(&Run::default(), &holds), "a(x) > a(y) at n=1; sat-apart (by \"a\", hours 2)");
    }
}
