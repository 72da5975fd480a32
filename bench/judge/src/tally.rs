//! Verdicts counted, and how many may be false by chance.

use std::fmt::{self, Display, Formatter};

use kumite_record::{Rule, Verdict};
use kumite_stats::{Error, proportion};

use crate::known::{Known, is_given};

const VERDICTS: [Verdict; 5] =
    [Verdict::Holds, Verdict::Fails, Verdict::NoDifference, Verdict::Undecided, Verdict::NotTested];
/// The promise: of the verdicts that a run gives at most this share is false, on average; or, if it is strict, in at
/// most this share of runs any is.
const PROMISED: f64 = 0.05;
/// From here on a difference is so large that no verdict about it may be false.
const CLEAR_PERCENT: f64 = 2.0;

/// The verdicts of some runs about claims whose right verdicts are known.
pub struct Tally<'a> {
    known: &'a [Known],
    rule: Rule,
    /// Of each claim, how often it had each of [`VERDICTS`].
    rows: Vec<[usize; VERDICTS.len()]>,
    runs: usize,
    runs_with_wrong: usize,
    /// The shares of false verdicts among those that each run gave, added up.
    wrong_shares: f64,
}

impl Tally<'_> {
    /// Before the first run.
    pub fn new(known: &[Known], rule: Rule) -> Tally<'_> {
        let rows = vec![Default::default(); known.len()];
        Tally { known, rule, rows, runs: 0, runs_with_wrong: 0, wrong_shares: 0.0 }
    }

    /// Counts a run: a verdict for each claim.
    pub fn count(&mut self, verdicts: &[Verdict]) {
        assert_eq!(verdicts.len(), self.known.len(), "each claim has a verdict");
        for (row, verdict) in self.rows.iter_mut().zip(verdicts) {
            for (count, _) in row.iter_mut().zip(VERDICTS).filter(|(_, of)| of == verdict) {
                *count += 1;
            }
        }
        let given = verdicts.iter().filter(|verdict| is_given(**verdict)).count();
        let wrong = self.known.iter().zip(verdicts).filter(|(known, verdict)| known.is_wrong(**verdict));
        let wrong = wrong.count();
        self.runs += 1;
        self.runs_with_wrong += usize::from(wrong > 0);
        self.wrong_shares += wrong as f64 / given.max(1) as f64;
    }

    fn wrong(&self, nth: usize) -> usize {
        let of = |(verdict, count): (&Verdict, &usize)| {
            if self.known[nth].is_wrong(*verdict) { *count } else { 0 }
        };
        VERDICTS.iter().zip(&self.rows[nth]).map(of).sum()
    }

    fn given(&self, nth: usize) -> usize {
        VERDICTS
            .iter()
            .zip(&self.rows[nth])
            .filter(|(verdict, _)| is_given(**verdict))
            .map(|(_, count)| count)
            .sum()
    }

    fn all(&self, of_one: impl Fn(usize) -> usize) -> usize {
        (0..self.known.len()).map(of_one).sum()
    }

    /// The figures that are worse than promised, in sentences.
    pub fn problems(&self) -> Result<Vec<String>, Error> {
        let mut problems = Vec::new();
        for (nth, known) in self.known.iter().enumerate() {
            let (wrong, not_tested) = (self.wrong(nth), self.rows[nth][VERDICTS.len() - 1]);
            if known.percent >= CLEAR_PERCENT && wrong > 0 {
                let (id, percent, runs) = (&known.id, known.percent, self.runs);
                problems.push(format!(
                    "{id}: wrong in {wrong} of {runs} runs, about a difference of {percent} %"
                ));
            }
            if not_tested > 0 {
                problems.push(format!("{}: not tested in {not_tested} runs", known.id));
            }
        }
        let clear = || (0..self.known.len()).filter(|nth| self.known[*nth].percent >= CLEAR_PERCENT);
        if clear().next().is_some() && clear().all(|nth| self.given(nth) == 0) {
            problems.push(format!(
                "no difference of {CLEAR_PERCENT} % or more was ever seen, which proves nothing: take a quiet machine"
            ));
        }
        let most = most_by_chance(self.runs)?;
        if self.harm() > most as f64 {
            problems.push(format!(
                "{:.1} of {} runs are false, where chance allows {most}",
                self.harm(),
                self.runs
            ));
        }
        Ok(problems)
    }

    /// How many runs are false, as the rule counts them.
    fn harm(&self) -> f64 {
        match self.rule {
            Rule::FalseDiscoveryRate => self.wrong_shares,
            Rule::Strict => self.runs_with_wrong as f64,
        }
    }
}

/// A table, and what it comes to, in Markdown.
impl Display for Tally<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "{} runs, rule {}:\n", self.runs, self.rule.as_str())?;
        writeln!(
            f,
            "| claim | difference | holds | fails | no difference | undecided | not tested | wrong |"
        )?;
        writeln!(f, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
        for (nth, known) in self.known.iter().enumerate() {
            let counts = self.rows[nth].map(|count| count.to_string()).join(" | ");
            writeln!(f, "| {} | {} % | {counts} | {} |", known.id, known.percent, self.wrong(nth))?;
        }
        let (wrong, given) = (self.all(|nth| self.wrong(nth)), self.all(|nth| self.given(nth)));
        let (runs, share) = (self.runs, 100.0 * self.wrong_shares / self.runs.max(1) as f64);
        let (with_wrong, most) = (self.runs_with_wrong, most_by_chance(runs).map_err(|_| fmt::Error)?);
        write!(f, "\nWrong: {wrong} of {given} verdicts given, in {with_wrong} of {runs} runs; ")?;
        write!(f, "{share:.2} % of a run's verdicts on average. ")?;
        let what = match self.rule {
            Rule::FalseDiscoveryRate => "the shares of runs that are false may add up to",
            Rule::Strict => "runs with a wrong one may be",
        };
        writeln!(f, "By the exact 97.5 % bound {what} {most}; here {:.1}.", self.harm())
    }
}

/// How many of n may be false before chance alone, at what is promised, brings that less often than one time in forty.
fn most_by_chance(n: usize) -> Result<usize, Error> {
    let mut most = 0;
    while most < n && proportion(most + 1, n, 0.95)?.low <= PROMISED {
        most += 1;
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::same_pairs;

    #[test]
    fn chance_allows_what_the_binomial_distribution_does() {
        // The 97.5 % quantiles of the binomial distribution with 5 %: R's qbinom(0.975, n, 0.05).
        let most = [1, 20, 200].map(|n| most_by_chance(n).unwrap());
        assert_eq!(most, [1, 3, 16]);
    }

    #[test]
    fn a_run_counts_by_its_share_of_wrong_verdicts_or_as_a_whole_if_it_is_strict() {
        let known = same_pairs(3);
        let harm = |rule| {
            let mut tally = Tally::new(&known, rule);
            tally.count(&[Verdict::Holds, Verdict::NoDifference, Verdict::Undecided]);
            tally.count(&[Verdict::Undecided; 3]);
            (tally.harm(), tally.all(|nth| tally.wrong(nth)), tally.all(|nth| tally.given(nth)))
        };
        assert_eq!(harm(Rule::FalseDiscoveryRate), (0.5, 1, 2));
        assert_eq!(harm(Rule::Strict), (1.0, 1, 2));
    }

    #[test]
    fn what_is_worse_than_promised_is_said() {
        let mut known = same_pairs(1);
        let problems = |known: &[Known], verdict, runs| {
            let mut tally = Tally::new(known, Rule::FalseDiscoveryRate);
            (0..runs).for_each(|_| tally.count(&[verdict]));
            tally.problems().unwrap()
        };
        assert_eq!(problems(&known, Verdict::NoDifference, 9), [""; 0]);
        assert_eq!(problems(&known, Verdict::Holds, 1), [""; 0], "that is chance");
        assert_eq!(problems(&known, Verdict::Holds, 9), ["9.0 of 9 runs are false, where chance allows 2"]);
        assert_eq!(problems(&known, Verdict::NotTested, 2), ["pair-1: not tested in 2 runs"]);
        known[0].percent = 2.0;
        let [nothing] = &problems(&known, Verdict::Undecided, 1)[..] else { panic!("that is one problem") };
        assert!(nothing.contains("proves nothing"), "{nothing}");
        assert_eq!(
            problems(&known, Verdict::Holds, 1),
            ["pair-1: wrong in 1 of 1 runs, about a difference of 2 %"]
        );
    }
}
