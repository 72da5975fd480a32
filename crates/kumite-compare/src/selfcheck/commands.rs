//! The self-check of commands: a command is compared with itself, as `kumite compare` does it.

use std::time::Duration;

use kumite_host::{cores, machine};
use kumite_process::{Shell, Stdin};
use kumite_record::{ComparedUse, Comparison, ComparisonEnd, SameTwice, Speed, Thrift};

use super::{ALPHA, Check, MARGIN, Tally};
use crate::compare::{Allowed, Bench, CompareError, Rules, Setting, compare, log_ratios};

/// The most pairs of a comparison. A false verdict comes early if it comes: of those on a fair coin within 200 pairs,
/// seven of eight come within 40.
const MOST_PAIRS: usize = 40;

impl Check<'_> {
    /// Makes as many comparisons of a command with itself as the time allows, and keeps their summary in `found`
    /// after each.
    pub(super) fn commands(
        &mut self,
        time: Duration,
        work: u64,
        found: &mut Option<SameTwice>,
    ) -> Result<(), CompareError> {
        let began = self.clock.now();
        let what = "a command that computes for about 5 ms, compared with itself".to_owned();
        let mut tally = Tally::new(what, &["wall time", "CPU time", "memory"], MOST_PAIRS);
        let setting = self.setting(work, false)?;
        for nth in 0.. {
            if !self.time_for_more(began, time, nth) {
                break;
            }
            (self.watch)(&format!("a command against itself: comparison {}", nth + 1));
            let rules = Rules { max_blocks: Some(MOST_PAIRS), ..self.rules(nth) };
            let comparison = self.compared(&setting, &rules)?;
            add(&mut tally, &comparison);
            *found = tally.done(self.asked.seed);
        }
        Ok(())
    }

    pub(super) fn compared(&self, setting: &Setting, rules: &Rules) -> Result<Comparison, CompareError> {
        let (comparison, error) =
            compare(setting, rules, machine(cores()), self.clock, self.stop, &mut |_| {})?;
        match error {
            Some(error) => Err(error),
            None if comparison.ended == ComparisonEnd::Interrupted => Err(CompareError::Interrupted),
            None => Ok(comparison),
        }
    }

    pub(super) fn rules(&self, nth: u64) -> Rules {
        let mut rules = Rules {
            alpha: ALPHA,
            margin: MARGIN,
            min_blocks: 0,
            max_blocks: None,
            budget: Duration::MAX,
            ends_blocks: false,
            seed: self.asked.seed.wrapping_add(nth) & 0xffff_ffff,
            reference: 0,
            control: None,
            gate: None,
            metrics: Vec::new(),
        };
        rules.min_blocks = rules.fewest(2);
        rules
    }

    pub(super) fn setting(&self, work: u64, duet: bool) -> Result<Setting, CompareError> {
        let program = self.asked.helper.0.to_str().and_then(|program| shlex::try_quote(program).ok());
        let program = program.ok_or_else(|| CompareError::Helper(self.asked.helper.0.clone()))?;
        let command = format!("{program} {} {work}", self.asked.worker);
        let bench =
            |name: &str| Bench { name: name.to_owned(), command: command.clone(), ..Bench::default() };
        Ok(Setting {
            benches: vec![bench("one"), bench("the same")],
            shell: Shell::Never,
            stdin: Stdin::Null,
            same_output: false,
            allowed: Allowed::None,
            cores: Vec::new(),
            duet,
            timeout: None,
            warm_up: 0,
            counts: None,
            helper: self.asked.helper.clone(),
        })
    }
}

fn add(tally: &mut Tally, comparison: &Comparison) {
    let [one, same] = &comparison.commands[..] else { return };
    let Some(pair) = comparison.pairs.first() else { return };
    let logs = log_ratios(&same.times, &one.times).unwrap_or_default();
    let used =
        |of: &Option<ComparedUse>| of.as_ref().map(|of| matches!(of.verdict, Thrift::Less | Thrift::More));
    let differ =
        [Some(matches!(pair.verdict, Speed::Faster | Speed::Slower)), used(&pair.cpu), used(&pair.memory)];
    tally.add(&differ, &logs, pair.seconds);
}
