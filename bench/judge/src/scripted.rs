//! Runs by a scripted clock: everything is real but the trials, which nobody waits for.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Result, anyhow};
use jiff::Timestamp;
use kumite_host::Clock;
use kumite_judge::{Claim, ClaimSpec, Names, judge, undecided};
use kumite_lab::{Executor, Halt, Measured, Ready, Session, TrialOrder, execute, plan};
use kumite_record::{Contender, Machine, Metric, Point, Rule, Run, Store, Trial, Verdict, standing};

use crate::known::{CONTENDERS, Known};
use crate::noise::factors;

/// It takes many blocks to see 2 % through noise of 3 %.
const BLOCKS: u32 = 60;
const MIN_BLOCKS: u32 = 6;
const MARGIN_PERCENT: f64 = 1.0;
const BASE_MS: f64 = 10.0;
const METRIC: &str = "elapsed_ms";

/// A clock that moves when a trial is executed.
pub struct FakeClock(pub Cell<Duration>);

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        self.0.get()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + self.0.get()
    }
}

/// Each contender takes its own time, and what the noise makes of it.
struct Scripted<'a, Next> {
    clock: &'a FakeClock,
    noise: Next,
}

impl<Next: FnMut() -> f64> Executor for Scripted<'_, Next> {
    fn trial(&mut self, order: &TrialOrder, _: &AtomicBool) -> Result<Measured, Halt> {
        self.clock.0.set(self.clock.0.get() + Duration::from_secs(1));
        let known = CONTENDERS.iter().find(|contender| contender.name == order.contender.name);
        let more_percent = known.map_or(f64::NAN, |contender| contender.more_percent);
        let mut measured = Measured::answered(None);
        let elapsed_ms = BASE_MS * (1.0 + more_percent / 100.0) * (self.noise)();
        measured.sample.metrics.insert(METRIC.to_owned(), elapsed_ms);
        Ok(measured)
    }
}

/// The verdicts of the run with this number, which says what noise it has, about [`CONTENDERS`].
pub fn verdicts(known: &[Known], rule: Rule, nth: usize, seed: u64) -> Result<Vec<Verdict>> {
    let claims = claims(known)?;
    let run = Run {
        id: "scripted".to_owned(),
        points: vec![Point::default()],
        blocks: BLOCKS,
        min_blocks: MIN_BLOCKS,
        margin_percent: MARGIN_PERCENT,
        rule,
        ..Run::default()
    };
    let (ready, contenders): (Vec<Ready>, Vec<Contender>) =
        CONTENDERS.iter().map(|contender| (ready(contender.name), contended(contender.name))).unzip();
    let plan = plan(&[(0..ready.len()).collect()], &BTreeSet::new(), run.blocks, seed);
    let clock = FakeClock(Cell::default());
    let mut store = Store::in_memory()?;
    store.begin(&run, &Machine::default(), &contenders)?;
    let session = Session {
        run: &run,
        contenders: &ready,
        plan: &plan,
        times: &[Some(Duration::from_secs(1))],
        kept: &[],
        limit: None,
        undecided: &|trials| undecided(&run, trials, &contenders, &claims),
    };
    let mut executor = Scripted { clock: &clock, noise: factors(nth, seed) };
    execute(&session, &mut executor, &clock, &mut store, &AtomicBool::new(false), &mut |_| {})?;
    let trials = store.trials(&run.id)?;
    let of_all: Vec<&Trial> = standing(&trials).collect();
    let (claims, _) = judge(&run, &of_all, &contenders, &claims, &[]);
    Ok(claims.iter().map(|claim| claim.verdict).collect())
}

fn claims(known: &[Known]) -> Result<Vec<ClaimSpec>> {
    let contenders: BTreeSet<String> = CONTENDERS.iter().map(|contender| contender.name.to_owned()).collect();
    let (axes, workload, units) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let names = Names {
        contenders: &contenders,
        axes: &axes,
        fixed: &workload,
        units: &units,
        metrics: &[Metric::named(METRIC)],
        within: None,
        part_metrics: &[],
    };
    let claim = |known: &Known| {
        let parsed = Claim::new(&known.assert, &names);
        let parsed =
            parsed.map_err(|error| anyhow!("{}: column {}: {}", known.id, error.column, error.what))?;
        let (id, assert) = (known.id.clone(), known.assert.clone());
        Ok(ClaimSpec { id, title: None, assert, published: None, parsed })
    };
    known.iter().map(claim).collect()
}

/// One that is never started.
pub fn ready(name: &str) -> Ready {
    Ready {
        name: name.to_owned(),
        folder: PathBuf::new(),
        run: String::new(),
        env: Vec::new(),
        answers: None,
        reads: None,
        deps: None,
        origin: None,
        memory_mb: None,
        twin: None,
        drawn: None,
    }
}

/// The same in the record.
pub fn contended(name: &str) -> Contender {
    Contender { name: name.to_owned(), model: "sequential".to_owned(), ..Contender::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{is_given, six};
    use crate::tally::Tally;

    /// Twenty runs: whether they are as good as promised, and see 20 %.
    fn assert_as_promised(rule: Rule) {
        let known = six();
        let mut tally = Tally::new(&known, rule);
        for nth in 0..20 {
            let verdicts = verdicts(&known, rule, nth, 1 + nth as u64).unwrap();
            let clear = known.iter().zip(&verdicts).filter(|(known, _)| known.percent == 20.0);
            assert!(clear.clone().count() == 2 && clear.clone().all(|(_, verdict)| is_given(*verdict)));
            tally.count(&verdicts);
        }
        println!("{tally}");
        assert_eq!(tally.problems().unwrap(), [""; 0]);
    }

    #[test]
    fn verdicts_of_twenty_scripted_runs_are_as_rarely_false_as_promised() {
        assert_as_promised(Rule::FalseDiscoveryRate);
    }

    #[test]
    fn twenty_strict_scripted_runs_have_as_rarely_a_false_verdict_as_promised() {
        assert_as_promised(Rule::Strict);
    }
}
