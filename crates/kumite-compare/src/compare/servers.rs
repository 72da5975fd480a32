//! Comparing running servers: a load on each, in turn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_host::Clock;
use kumite_load::Load;
use kumite_process::available_cores;
use kumite_record::{
    ComparedPair, ComparedServer, ComparedTime, Comparison, ComparisonEnd, Control, Machine, Unit, Warning,
};

use super::between::Between;
use super::control::{Twice, control, leave_undecided};
use super::document::{CUT_OFF, empty, estimate};
use super::doubts::{Question, doubts};
use super::error::CompareError;
use super::gate;
use super::judge::{Side, judge, log_ratios, remaining};
use super::reading::{Log, Reading};
use super::rounds::Rounds;
use super::sequence::{Blocks, Cut, Executed, Progressed, Rules, until_decided};

/// The least number of right answers for a 99th percentile, so that ten lie beyond it.
const ENOUGH_FOR_P99: u64 = 1_000;

/// A server that is already running, and the load that it gets.
#[derive(Clone, Debug)]
pub struct Server {
    /// The server's name, which is unique among the servers that are compared. The second position of a control has the
    /// same name as the first.
    pub name: String,
    /// The server's address as it was typed.
    pub url: String,
    /// The load that the server gets in each block.
    pub load: Load,
}

/// Compares running servers by their answers under load. Each server first gets `warm_up` loads that are not counted.
/// Returns the comparison, and the error that ended it early; `None` if none did.
///
/// `watch` is told of the progress. If `stop` is set, the comparison ends as interrupted, which is no error.
pub fn compare_servers(
    servers: &[Server],
    warm_up: usize,
    rules: &Rules,
    machine: Machine,
    clock: &dyn Clock,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progressed),
) -> (Comparison, Option<CompareError>) {
    let started = clock.timestamp();
    let mut loads = Loads {
        servers,
        cores: machine.cores.engine.clone(),
        trials: vec![Vec::new(); servers.len()],
        between: Between::on(&available_cores()),
        was_cut_off: false,
    };
    let warmed =
        (0..warm_up).flat_map(|_| 0..servers.len()).try_for_each(|at| loads.offer(at, stop).map(drop));
    let (ended, elapsed) = match warmed {
        Ok(()) => until_decided(&mut loads, servers.len(), rules, clock, stop, watch),
        Err(error) => (Err(error), Duration::ZERO),
    };
    let (ended, error) = match ended {
        Err(CompareError::Interrupted) => (ComparisonEnd::Interrupted, None),
        Ok(ended) => (ended, None),
        Err(error) => (ComparisonEnd::Failed, Some(error)),
    };
    let windows: f64 = loads.trials.iter().flatten().map(|trial| trial.seconds).sum();
    let count: usize = loads.trials.iter().map(Vec::len).sum();
    let failure = error.as_ref().map(CompareError::to_string);
    let mut comparison = Comparison { machine, started, ended, failure, ..loads.document(rules, elapsed) };
    comparison.gate = rules.gate.map(|gate| gate::comparison_gate(gate, &comparison));
    comparison.costs.seconds = elapsed.as_secs_f64();
    let probing = loads.between.spent().as_secs_f64();
    comparison.costs.probes_s = Some(probing).filter(|probing| *probing > 0.0);
    let between = (elapsed.as_secs_f64() - windows - probing).max(0.0);
    comparison.costs.between_runs_us = between * 1e6 / count.max(1) as f64;
    (comparison, error)
}

struct Loads<'a> {
    servers: &'a [Server],
    /// The CPUs of the load engine.
    cores: Vec<usize>,
    /// The figures of each load, by server and then by block.
    trials: Vec<Vec<Trial>>,
    between: Between<'static>,
    /// The budget has ended a block that was still executed.
    was_cut_off: bool,
}

/// The figures of one load on a server.
#[derive(Clone)]
struct Trial {
    requests: u64,
    ok: u64,
    seconds: f64,
    p50_us: f64,
    p99_us: f64,
    bound: bool,
    first_wrong: Option<String>,
}

impl Loads<'_> {
    fn offer(&self, at: usize, stop: &AtomicBool) -> Result<Trial, CompareError> {
        let server = &self.servers[at];
        let load = Load { cores: self.cores.clone(), ..server.load.clone() };
        let outcome = load
            .run_watched(stop, &mut |_| {})
            .map_err(|source| CompareError::Load { url: server.url.clone(), source })?;
        if outcome.stopped || stop.load(Ordering::Relaxed) {
            return Err(CompareError::Interrupted);
        }
        if outcome.ok == 0 {
            return Err(CompareError::NoAnswer {
                url: server.url.clone(),
                within: load.limit.duration,
                errors: Box::new(outcome.errors),
                first_wrong: outcome.first_wrong,
            });
        }
        let us = |quantile| outcome.response.value_at_quantile(quantile) as f64 / 1e3;
        Ok(Trial {
            requests: outcome.requests,
            // Of a connection on which more came than was asked for, the last answer counts as one to something else.
            ok: outcome.ok.saturating_sub(outcome.unasked),
            seconds: outcome.elapsed.as_secs_f64(),
            p50_us: us(0.5),
            p99_us: us(0.99),
            bound: outcome.is_bound(),
            first_wrong: outcome.first_wrong,
        })
    }

    fn values(&self, at: usize, of: fn(&Trial) -> f64) -> Vec<f64> {
        self.trials[at].iter().map(of).collect()
    }

    fn document(&self, rules: &Rules, elapsed: Duration) -> Comparison {
        let of = self.servers.len();
        let shown = of - usize::from(rules.control.is_some());
        let mut comparison = Comparison {
            servers: (0..shown).map(|at| self.server(at)).collect(),
            pairs: rules.others(of).map(|other| self.pair(other, rules, elapsed)).collect(),
            control: rules.control.map(|twice| self.itself(twice)),
            doubts: doubts(&self.questions(rules), self.between.found(), rules),
            probes: self.between.found().to_vec(),
            ..empty(rules, of)
        };
        leave_undecided(&mut comparison);
        let cut_off =
            self.was_cut_off.then(|| Warning { place: "budget".to_owned(), what: CUT_OFF.to_owned() });
        comparison.warnings.extend(cut_off);
        for (server, trials) in comparison.servers.iter().zip(&self.trials) {
            let mut warn =
                |what: String| comparison.warnings.push(Warning { place: server.name.clone(), what });
            if server.failures > 0 {
                let wrong = trials.iter().find_map(|trial| trial.first_wrong.clone());
                let wrong = wrong.map_or(String::new(), |wrong| format!("; the first wrong answer: {wrong}"));
                warn(format!("{} of {} requests failed{wrong}", server.failures, server.requests));
            }
            if server.generator_bound > 0 {
                warn(format!(
                    "in {} of {} blocks the load engine had no headroom: the server may be faster than this",
                    server.generator_bound,
                    trials.len()
                ));
            }
            let fewest = trials.iter().map(|trial| trial.ok).min().unwrap_or(ENOUGH_FOR_P99);
            if fewest < ENOUGH_FOR_P99 {
                warn(format!(
                    "a block has {fewest} right answers: a p99 needs {ENOUGH_FOR_P99}; give a longer --duration"
                ));
            }
        }
        comparison
    }

    fn server(&self, at: usize) -> ComparedServer {
        let (server, trials) = (&self.servers[at], &self.trials[at]);
        let (throughputs, p50s, p99s) = (
            self.values(at, throughput),
            self.values(at, |trial| trial.p50_us),
            self.values(at, |trial| trial.p99_us),
        );
        ComparedServer {
            name: server.name.clone(),
            url: server.url.clone(),
            throughput_rps: estimate(&throughputs, Unit::RequestsPerSecond),
            response_p50_us: estimate(&p50s, Unit::Microseconds),
            response_p99_us: if self.has_p99(at) { estimate(&p99s, Unit::Microseconds) } else { None },
            failures: trials.iter().map(|trial| trial.requests - trial.ok).sum(),
            requests: trials.iter().map(|trial| trial.requests).sum(),
            throughputs,
            p50s,
            p99s,
            generator_bound: trials.iter().filter(|trial| trial.bound).count(),
        }
    }

    fn itself(&self, twice: Twice) -> Control {
        let logs = |of: fn(&Trial) -> f64| -> Vec<Log> {
            let logs = log_ratios(&self.values(twice.at, of), &self.values(twice.of, of));
            logs.unwrap_or_default().into_iter().map(Log::from).collect()
        };
        let metrics = [
            ("throughput_rps", logs(throughput)),
            ("response_p50_us", logs(|trial| trial.p50_us)),
            ("response_p99_us", logs(|trial| trial.p99_us)),
        ];
        control(&self.servers[twice.of].name, &metrics)
    }

    fn has_p99(&self, at: usize) -> bool {
        self.trials[at].iter().all(|trial| trial.ok >= ENOUGH_FOR_P99)
    }

    /// The ratios of the times per right answer, which are 1 / throughput.
    fn rounds(&self, other: usize, rules: &Rules) -> Rounds {
        let mut rounds = Rounds::default();
        for block in 0..self.trials[rules.reference].len() {
            let time = |at: usize| Reading::exact(1.0 / throughput(&self.trials[at][block]));
            rounds.add(time(other), time(rules.reference), rules.again().map(time));
        }
        rounds
    }

    fn questions(&self, rules: &Rules) -> Vec<Question> {
        let of_pair = |other: usize| Question {
            a: self.servers[other].name.clone(),
            b: self.servers[rules.reference].name.clone(),
            metric: None,
            logs: self.rounds(other, rules).first,
            blocks: None,
        };
        rules.others(self.servers.len()).map(of_pair).collect()
    }

    fn pair(&self, other: usize, rules: &Rules, elapsed: Duration) -> ComparedPair {
        let bar = rules.bar(self.servers.len());
        let reference = rules.reference;
        let logs = |of| -> Option<Vec<Log>> {
            let logs = log_ratios(&self.values(other, of), &self.values(reference, of))?;
            Some(logs.into_iter().map(Log::from).collect())
        };
        let rounds = self.rounds(other, rules);
        let (side, ratio) = judge(&rounds.first, bar);
        let seconds = elapsed.as_secs_f64();
        let compared = |of| {
            let (side, ratio) = judge(&logs(of)?, bar);
            Some(ComparedTime { verdict: side.into(), ratio })
        };
        ComparedPair {
            a: self.servers[other].name.clone(),
            b: self.servers[reference].name.clone(),
            verdict: side.into(),
            ratio,
            blocks: rounds.first.len(),
            seconds,
            remaining: (side == Side::Unknown).then(|| remaining(&rounds.first, bar, seconds)).flatten(),
            gate: rules.gate_levels(self.servers.len()).map(|levels| gate::pair(&rounds, levels, seconds)),
            metrics: Vec::new(),
            cpu: None,
            memory: None,
            response_p50: compared(|trial| trial.p50_us),
            response_p99: if self.has_p99(other) && self.has_p99(reference) {
                compared(|trial| trial.p99_us)
            } else {
                None
            },
            imported: None,
            counts: None,
            failures: None,
        }
    }
}

fn throughput(trial: &Trial) -> f64 {
    trial.ok as f64 / trial.seconds
}

impl Blocks for Loads<'_> {
    type Error = CompareError;

    fn between(&mut self, blocks: usize, elapsed: Duration, clock: &dyn Clock, stop: &AtomicBool) {
        self.between.after(blocks, elapsed, clock, stop);
    }

    fn cut_off(&mut self) {
        self.was_cut_off = true;
    }

    fn execute(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<CompareError> {
        let mut values = Vec::new();
        for order in orders {
            let mut block = vec![None; order.len()];
            for &at in order {
                match self.offer(at, stop) {
                    Ok(trial) => block[at] = Some(trial),
                    Err(CompareError::Interrupted) => return Executed { values, cut: Some(Cut::Stopped) },
                    Err(error) => return Executed { values, cut: Some(Cut::Failed(error)) },
                }
            }
            let block: Vec<Trial> = block.into_iter().flatten().collect();
            let time = |trial: &Trial| Some(vec![Reading::exact(1.0 / throughput(trial))]);
            values.push(block.iter().map(time).collect());
            self.trials.iter_mut().zip(block).for_each(|(trials, trial)| trials.push(trial));
        }
        Executed { values, cut: None }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use kumite_load::{Limit, Target};
    use kumite_record::{GateBar, GateState, Speed};

    use super::super::gate::{GATE_ALPHA, GateRules};
    use super::*;

    fn server(name: &str) -> Server {
        let target = Target::plain(SocketAddr::from(([127, 0, 0, 1], 1)));
        Server { name: name.into(), url: name.into(), load: Load::new(target, Limit::default()) }
    }

    fn trial(ok: u64, p50_us: f64) -> Trial {
        Trial {
            requests: ok,
            ok,
            seconds: 1.0,
            p50_us,
            p99_us: 2.0 * p50_us,
            bound: false,
            first_wrong: None,
        }
    }

    fn rules() -> Rules {
        Rules {
            alpha: 0.05,
            margin: 0.0025,
            min_blocks: 0,
            max_blocks: None,
            budget: Duration::MAX,
            ends_blocks: false,
            seed: 1,
            reference: 0,
            control: None,
            gate: None,
            metrics: Vec::new(),
        }
    }

    fn loads(servers: &[Server], trials: Vec<Vec<Trial>>) -> Loads<'_> {
        Loads { servers, cores: Vec::new(), trials, between: Between::on(&[]), was_cut_off: false }
    }

    fn document(one: Trial, other: Trial) -> Comparison {
        let servers = ["one", "other"].map(server);
        let trials = vec![vec![one; 6], vec![other; 6]];
        let loads = loads(&servers, trials);
        loads.document(&rules(), Duration::from_secs(12))
    }

    /// A comparison of `other` answers a second with the 4,000 of the reference, which has `second` in its second
    /// position.
    fn with_control(other: u64, second: u64) -> Comparison {
        let servers = ["one", "other", "one"].map(server);
        let trials = [4_000, other, second].map(|ok| vec![trial(ok, 250.0); 12]);
        let loads = loads(&servers, trials.into());
        let control = Some(Twice { of: 0, at: 2 });
        let gate =
            Some(GateRules { passes: GateBar::Fails, alpha: GATE_ALPHA, on: None, by_failures: false });
        let rules = Rules { control, gate, margin: 0.01, ..rules() };
        loads.document(&rules, Duration::from_secs(12))
    }

    #[test]
    fn what_is_nearer_to_1_than_a_control_that_is_off_is_undecided_and_so_is_its_gate() {
        for (other, second, verdict, gate) in [
            (3_900, 4_000, Speed::Slower, GateState::Shut),
            (3_900, 3_880, Speed::Undecided, GateState::Undecided),
            (4_000, 3_880, Speed::Undecided, GateState::Undecided),
            (3_000, 3_880, Speed::Slower, GateState::Shut),
        ] {
            let found = with_control(other, second);
            assert_eq!(
                (found.servers.len(), found.pairs.len()),
                (2, 1),
                "it is none of those that are compared"
            );
            let pair = &found.pairs[0];
            assert_eq!((pair.verdict, pair.gate.unwrap().state), (verdict, gate), "{other} {second}");
            let control = found.control.unwrap();
            assert_eq!(control.off.len(), usize::from(second != 4_000));
            let ratio = control.itself.unwrap().ratio.estimate;
            assert!((ratio - second as f64 / 4_000.0).abs() < 1e-9, "{ratio}");
        }
    }

    #[test]
    fn a_server_that_answers_fewer_and_later_is_slower() {
        let found = document(trial(4_000, 250.0), trial(1_000, 1_000.0));
        let pair = &found.pairs[0];
        assert_eq!((&*pair.a, &*pair.b, pair.verdict), ("other", "one", Speed::Slower));
        assert!((pair.ratio.estimate - 0.25).abs() < 1e-9, "{:?}", pair.ratio);
        for time in [&pair.response_p50, &pair.response_p99] {
            assert_eq!(time.as_ref().unwrap().verdict, Speed::Slower);
        }
        assert_eq!((pair.blocks, found.servers.len(), found.warnings.len()), (6, 2, 0));
    }

    #[test]
    fn what_a_p99_has_too_few_answers_for_is_said() {
        let found = document(trial(999, 250.0), trial(2_000, 250.0));
        assert!(found.pairs[0].response_p99.is_none());
        let what: Vec<&str> = found.warnings.iter().map(|warning| &*warning.what).collect();
        assert_eq!(what, ["a block has 999 right answers: a p99 needs 1000; give a longer --duration"]);
    }

    #[test]
    fn failures_and_a_busy_engine_are_warnings() {
        let bad = Trial {
            requests: 2_100,
            bound: true,
            first_wrong: Some("status 500".into()),
            ..trial(2_000, 250.0)
        };
        let found = document(trial(2_000, 250.0), bad);
        let what: Vec<&str> = found.warnings.iter().map(|warning| &*warning.what).collect();
        assert_eq!(what[0], "600 of 12600 requests failed; the first wrong answer: status 500");
        assert!(what[1].starts_with("in 6 of 6 blocks the load engine had no headroom"), "{what:?}");
    }
}
