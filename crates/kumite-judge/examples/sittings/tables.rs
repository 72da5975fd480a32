//! The tables.

use std::fmt::Write;

use kumite_record::{Claim, Doubt, Verdict};

use crate::model::{ROUND_SD, When, World, sittings};
use crate::run::judged;

const WORLDS: [(World, f64); 13] = [
    (World::Calm, 0.0),
    (World::Calm, 0.02),
    (World::Regimes, 0.0),
    (World::Drift, 0.0),
    (World::Modes, 0.0),
    (World::Normal(0.02), 0.0),
    (World::Normal(0.02), 0.02),
    (World::Normal(0.05), 0.0),
    (World::Normal(0.05), 0.05),
    (World::Normal(0.10), 0.0),
    (World::Normal(0.10), 0.20),
    (World::Skewed(0.05), 0.0),
    (World::Coin(0.05), 0.0),
];
const COUNTS: [usize; 5] = [1, 2, 3, 4, 6];
const ROUNDS: usize = 9;

/// How two runs of the same came out, of so many pairs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pairs {
    /// One holds, and the other fails.
    pub contradict: u64,
    /// Likewise, and neither says that another sitting may differ.
    pub contradict_unsaid: u64,
    /// Verdicts without that doubt.
    pub unsaid: u64,
    /// Runs that have a verdict.
    pub decided: u64,
    /// Runs whose verdict is false, if the slack is what is true.
    pub wrong: u64,
    pub pairs: u64,
}

pub fn pairs(world: World, slack: f64, count: usize, when: When, pairs: u64) -> Pairs {
    let mut found = Pairs { pairs, ..Pairs::default() };
    for pair in 0..pairs {
        let run = |seed| judged(&sittings(world, slack, count, ROUNDS, when, seed), when, 1);
        let [a, b] = [run(2 * pair), run(2 * pair + 1)];
        let contradict = [a.verdict, b.verdict];
        let is_one =
            contradict == [Verdict::Holds, Verdict::Fails] || contradict == [Verdict::Fails, Verdict::Holds];
        found.contradict += u64::from(is_one);
        found.contradict_unsaid += u64::from(is_one && is_unsaid(&a) && is_unsaid(&b));
        for of in [&a, &b] {
            found.decided += u64::from(is_given(of));
            found.unsaid += u64::from(is_given(of) && is_unsaid(of));
            let is_wrong =
                if slack > 0.0 { of.verdict == Verdict::Fails } else { of.verdict == Verdict::Holds };
            found.wrong += u64::from(is_wrong);
        }
    }
    found
}

fn is_given(claim: &Claim) -> bool {
    matches!(claim.verdict, Verdict::Holds | Verdict::Fails)
}

fn is_unsaid(claim: &Claim) -> bool {
    !claim.doubts.contains(&Doubt::AnotherSittingMayDiffer)
}

pub fn contradictions(runs: u64) -> String {
    let mut text = format!(
        "Contradictions (one run holds, the other fails) of {runs} pairs of runs, in percent; in brackets those where neither \
         says that another sitting may differ. Then how many of these runs are decided. One claim, {ROUNDS} rounds a sitting.\n\n\
         | world | slack | 1 | 2 | 3 | 4 | 6 | 3 back to back |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for (world, slack) in WORLDS {
        let apart = COUNTS.map(|count| pairs(world, slack, count, When::Apart, runs));
        let together = pairs(world, slack, 3, When::BackToBack, runs);
        let cells: Vec<String> = apart.into_iter().chain([together]).map(cell).collect();
        let _ = writeln!(text, "| {world:?} | {:.0} % | {} |", slack * 100.0, cells.join(" | "));
    }
    text
}

fn cell(of: Pairs) -> String {
    let percent = |count: u64, of: u64| 100.0 * count as f64 / of as f64;
    format!(
        "{:.2} ({:.2}); {:.0}",
        percent(of.contradict, of.pairs),
        percent(of.contradict_unsaid, of.pairs),
        percent(of.decided, 2 * of.pairs)
    )
}

/// The share of runs of six claims that give a verdict.
pub fn decided(world: World, slack: f64, count: usize, rounds: usize, runs: u64) -> f64 {
    let is_decided = |seed: &u64| {
        is_given(&judged(&sittings(world, slack, count, rounds, When::Apart, *seed), When::Apart, 6))
    };
    (0..runs).filter(is_decided).count() as f64 / runs as f64
}

pub fn power(runs: u64) -> String {
    let mut text = format!(
        "Decided, in percent of {runs} runs of six claims, by the slack in standard deviations between sittings (5 %).\n\n\
         | sittings × rounds | τ | 2 τ | 3 τ |\n| --- | --- | --- | --- |\n"
    );
    for (count, rounds) in [(1, 27), (3, 9), (3, 10), (4, 9), (6, 9)] {
        let percent = |times: f64| 100.0 * decided(World::Normal(0.05), times * 0.05, count, rounds, runs);
        let cells = [1.0, 2.0, 3.0].map(|times| format!("{:.0}", percent(times)));
        let _ = writeln!(text, "| {count} × {rounds} | {} |", cells.join(" | "));
    }
    text
}

/// How many runs of three sittings depend on the sitting, where two have this effect and one has that, in standard
/// deviations of a round.
pub fn depending(two: f64, one: f64, rounds: usize, runs: u64) -> f64 {
    let depends = |seed: &u64| {
        let of = |effect: f64, count, seed| {
            sittings(World::Calm, effect * ROUND_SD, count, rounds, When::Apart, seed)
        };
        let all = [of(two, 2, 2 * seed), of(one, 1, 2 * seed + 1)].concat();
        judged(&all, When::Apart, 1).verdict == Verdict::DependsOnSitting
    };
    (0..runs).filter(depends).count() as f64 / runs as f64
}

pub fn depends(runs: u64) -> String {
    let mut text = format!(
        "\"Depends on the sitting\", in percent of {runs} runs of three sittings. Two have one effect, and one has the other, in \
         standard deviations of a round.\n\n| two | one | 9 rounds | 10 | 12 | 16 |\n| --- | --- | --- | --- | --- | --- |\n"
    );
    for (two, one) in
        [(1.5, -1.5), (2.0, -1.5), (-1.5, 1.5), (2.0, -2.0), (0.0, 0.0), (0.2, 0.2), (0.0, 1.5), (0.5, 3.0)]
    {
        let cells = [9, 10, 12, 16].map(|rounds| format!("{:.1}", 100.0 * depending(two, one, rounds, runs)));
        let _ = writeln!(text, "| {two} | {one} | {} |", cells.join(" | "));
    }
    text
}

/// How often one more sitting is where it is said to be: in the interval of 80 %, in that of 95 %, between the others.
pub fn next_is_in(world: World, count: usize, runs: u64) -> [f64; 3] {
    let mut found = [0_u64; 3];
    for seed in 0..runs {
        let claim = judged(&sittings(world, 0.1, count, ROUNDS, When::Apart, 2 * seed), When::Apart, 1);
        // Its effect has its rounds' scatter in it, as those of the others have.
        let mut next = sittings(world, 0.1, 1, ROUNDS, When::Apart, 2 * seed + 1).remove(0);
        next.sort_unstable_by(f64::total_cmp);
        let next = next[ROUNDS / 2].exp();
        let Some(said) = claim.next_sitting else { continue };
        let all = || claim.sittings.iter().map(|of| of.effect);
        let between = all().fold(f64::INFINITY, f64::min)..=all().fold(0.0, f64::max);
        let is_in = [
            (said.low_80..=said.high_80).contains(&next),
            (said.low_95..=said.high_95).contains(&next),
            between.contains(&next),
        ];
        found.iter_mut().zip(is_in).for_each(|(count, is_in)| *count += u64::from(is_in));
    }
    found.map(|count| count as f64 / runs as f64)
}

pub fn next(runs: u64) -> String {
    let mut text = format!(
        "The next sitting is within the interval of 80 %, of 95 %, and between the others, in percent of {runs} runs.\n\n\
         | world | 2 | 3 | 4 | 6 |\n| --- | --- | --- | --- | --- |\n"
    );
    let worlds = [
        World::Calm,
        World::Normal(0.05),
        World::Skewed(0.05),
        World::Coin(0.05),
        World::Regimes,
        World::Drift,
    ];
    for world in worlds {
        let cell =
            |count| next_is_in(world, count, runs).map(|share| format!("{:.1}", 100.0 * share)).join(" ");
        let _ = writeln!(text, "| {world:?} | {} |", [2, 3, 4, 6].map(cell).join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_three_sittings_seldom_contradict_one_another_whatever_the_machine_does() {
        for world in [World::Regimes, World::Drift, World::Normal(0.05), World::Coin(0.05)] {
            let of = |count| pairs(world, 0.0, count, When::Apart, 150).contradict;
            // 3.1 % of 150 are 4.7, and five standard deviations above are 15; 0.8 % are 1.2, and 7.
            assert!(of(3) <= 15 && of(4) <= 7, "{world:?}: {} and {} of 150", of(3), of(4));
        }
        let alone = pairs(World::Normal(0.05), 0.0, 1, When::Apart, 150).contradict;
        assert!(alone > 3, "one sitting says nothing of the next: {alone} of 150");
    }

    #[test]
    fn three_sittings_decide_what_is_three_standard_deviations_of_them_off() {
        let share = decided(World::Normal(0.05), 0.15, 3, 9, 100);
        assert!(share > 0.85, "{share}");
    }

    #[test]
    fn what_is_clear_on_both_sides_is_named_and_nothing_else() {
        assert!(depending(2.0, -2.0, 10, 100) > 0.85 && depending(0.2, 0.2, 10, 100) < 0.05);
    }

    #[test]
    fn the_next_sitting_is_where_it_is_said_to_be() {
        // Five standard deviations of a share of 200 are 14, 8 and 18 points.
        let [in_80, in_95, between] = next_is_in(World::Normal(0.05), 3, 200);
        assert!((in_80 - 0.8).abs() < 0.14 && in_95 > 0.87, "{in_80} {in_95}");
        assert!((between - 0.5).abs() < 0.18, "{between}");
    }
}
