//! The figures of a function, from its calls.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use kumite_function::Billing;
use kumite_record::{Call, Mark, Metric, Sample, TrialPart};
use kumite_stats::median;

use super::caller::Made;
use super::timeline::{ms, since_ms};
use super::workload::call_value;
use crate::metrics::Metrics;

/// The share of the calls' time that kumite and the services may use on a CPU of the instances'. If they used more,
/// they were in the instances' way.
const HOST_SHARE: f64 = 0.01;

pub(crate) fn metrics() -> Metrics {
    let mut results = times("; the median of all calls", "; the median of the cold ones");
    let warm = |name: &str, what: &str| Metric::new(name, &format!("{what} of warm calls."));
    results.extend([
        warm("warm_wall_ms", "Median wall time").role("warm-wall"),
        warm("warm_duration_ms", "Median duration").detail(),
        warm("warm_billed_2016_ms", "Median of what is billed by the rule of 2016").role("warm-billed-2016"),
        warm("warm_billed_2025_ms", "Median of what is billed by the rule of 2025").role("warm-billed-2025"),
        warm("warm_billed_2025_min_ms", "The least that is billed by the rule of 2025").detail(),
        warm("warm_billed_2025_max_ms", "The most that is billed by the rule of 2025").detail(),
        Metric::count("cold_calls", "How many calls an instance was started for."),
        Metric::count("instances", "Instances that answered.").detail(),
    ]);
    Metrics { results, costs: costs() }
}

/// The metrics of each call.
pub(crate) fn part_metrics() -> Metrics {
    let mut results = times("", "; 0 for a warm call");
    results.extend([
        Metric::count(
            "inits",
            "How often the function was started for it: 2 where the first time was cut off or failed.",
        ),
        Metric::new("billed_2016_ms", "The invoke phase in steps of 100 ms, as was billed in 2016.")
            .role("billed-2016"),
        Metric::new(
            "billed_2025_ms",
            "The init phase and the invoke phase in steps of 1 ms, as is billed since 2025.",
        )
        .role("billed-2025"),
        Metric::count("cold", "1 if an instance was started for it, else 0.").role("cold"),
        Metric::count("instance", "Which instance, counted from 1.").role("instance"),
    ]);
    let mut costs = costs();
    costs.insert(0, Metric::new("cpu_ms", "CPU time of the instance in the invoke phase."));
    Metrics { results, costs }
}

/// The metrics of times. `of_all` ends the explanations of those that all calls have, `of_cold` that of the init
/// phase.
fn times(of_all: &str, of_cold: &str) -> Vec<Metric> {
    vec![
        Metric::new("wall_ms", &format!("From when the call was due to its answer{of_all}.")).role("wall"),
        Metric::new("duration_ms", &format!("The invoke phase, a second init phase included{of_all}.")),
        Metric::new("init_ms", &format!("The init phase, as far as it went{of_cold}.")),
    ]
}

fn costs() -> Vec<Metric> {
    vec![
        Metric::new("cpu_share", "CPU time of invoke phases, divided by their length."),
        Metric::new(
            "max_memory_bytes",
            "The most memory that an instance has had: what its control group was charged at a time, or what its processes had resident, whichever is more.",
        ),
    ]
}

/// A call, with the metrics that the function gives of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Called {
    pub call: Call,
    /// The metrics that the experiment declares, by name, as far as the answer has them.
    pub own: BTreeMap<String, f64>,
}

/// The machine beside the calls: what kumite used, and what the host could not do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    /// CPU time of kumite and the services, while the calls were made.
    pub cpu: Duration,
    /// The time from the first call to the last answer.
    pub window: Duration,
    /// True if the instances and kumite have a CPU in common.
    pub shared: bool,
    /// True if the CPU share of instances goes by their memory, and the host lacks the right to limit CPU time or
    /// memory.
    pub unlimited: bool,
    /// True if the host has no means to count the memory of instances.
    pub uncounted: bool,
}

/// A call in the form in which it is recorded. The time at which it was offered counts from `began`. A refused call has
/// no other figure.
pub(super) fn kept(made: &Made, began: Instant) -> Call {
    let (offered_ms, error) = (since_ms(began, made.due), made.failure());
    let Ok(invocation) = &made.answered else { return Call { offered_ms, error, ..Call::default() } };
    let billed_ms = |billing: Billing| ms(billing.billed(invocation.init, invocation.duration));
    Call {
        offered_ms,
        wall_ms: ms(made.wall()),
        instance: Some(invocation.instance),
        cold: invocation.cold,
        inits: invocation.inits,
        init_ms: ms(invocation.init),
        duration_ms: ms(invocation.duration),
        billed_2016_ms: billed_ms(Billing::Y2016),
        billed_2025_ms: billed_ms(Billing::Y2025),
        cpu_ms: Some(ms(invocation.cpu)),
        max_memory_bytes: invocation.max_memory_bytes,
        error,
    }
}

/// The sample and the marks of a trial in which no call failed.
pub(super) fn sample(all: &[Called], beside: &Beside) -> (Sample, Vec<Mark>) {
    let part = |(nth, called): (usize, &Called)| {
        Some(TrialPart { at: call_value(nth)?, metrics: of_one(called), needs: Default::default() })
    };
    let bounds = beside.uncounted.then(|| "max_memory_bytes".to_owned());
    let sample = Sample {
        metrics: of_all(all),
        lower_bounds: bounds.into_iter().collect(),
        parts: all.iter().enumerate().map_while(part).collect(),
        ..Sample::default()
    };
    let mut marks = Vec::new();
    if beside.unlimited {
        marks.push(Mark::NotThrottled);
    }
    if beside.uncounted {
        marks.push(Mark::MemoryUncounted);
    }
    if beside.shared && beside.cpu.as_secs_f64() > HOST_SHARE * beside.window.as_secs_f64() {
        marks.push(Mark::SharedCores);
    }
    (sample, marks)
}

fn of_one(Called { call, own }: &Called) -> BTreeMap<String, f64> {
    let figures = [
        ("wall_ms", Some(call.wall_ms)),
        ("duration_ms", Some(call.duration_ms)),
        ("init_ms", Some(call.init_ms)),
        ("inits", Some(f64::from(call.inits))),
        ("cold", Some(f64::from(u8::from(call.cold)))),
        ("instance", call.instance.map(f64::from)),
        ("billed_2016_ms", Some(call.billed_2016_ms)),
        ("billed_2025_ms", Some(call.billed_2025_ms)),
        ("cpu_ms", call.cpu_ms),
        ("cpu_share", call.cpu_ms.map(|cpu_ms| cpu_ms / call.duration_ms)),
        ("max_memory_bytes", Some(call.max_memory_bytes as f64)),
    ];
    let mut metrics = own.clone();
    metrics.extend(finite(&figures));
    metrics
}

fn of_all(all: &[Called]) -> BTreeMap<String, f64> {
    let values = |which: fn(&Call) -> bool, value: fn(&Call) -> f64| -> Vec<f64> {
        all.iter().map(|called| &called.call).filter(|call| which(call)).map(value).collect()
    };
    let sum =
        |value: fn(&Call) -> Option<f64>| all.iter().map(|called| value(&called.call)).sum::<Option<f64>>();
    let any: fn(&Call) -> bool = |_| true;
    let cold: fn(&Call) -> bool = |call| call.cold;
    let warm: fn(&Call) -> bool = |call| !call.cold;
    let warm_billed = values(warm, |call| call.billed_2025_ms);
    let instances: BTreeSet<u32> = all.iter().filter_map(|called| called.call.instance).collect();
    let cpu_share = sum(|call| call.cpu_ms).zip(sum(|call| Some(call.duration_ms)));
    let figures = [
        ("cold_calls", Some(values(cold, |_| 1.0).len() as f64)),
        ("instances", Some(instances.len() as f64)),
        ("wall_ms", median(&values(any, |call| call.wall_ms))),
        ("duration_ms", median(&values(any, |call| call.duration_ms))),
        ("init_ms", median(&values(cold, |call| call.init_ms))),
        ("warm_wall_ms", median(&values(warm, |call| call.wall_ms))),
        ("warm_duration_ms", median(&values(warm, |call| call.duration_ms))),
        ("warm_billed_2016_ms", median(&values(warm, |call| call.billed_2016_ms))),
        ("warm_billed_2025_ms", median(&warm_billed)),
        ("warm_billed_2025_min_ms", warm_billed.iter().copied().reduce(f64::min)),
        ("warm_billed_2025_max_ms", warm_billed.iter().copied().reduce(f64::max)),
        ("cpu_share", cpu_share.map(|(cpu_ms, duration_ms)| cpu_ms / duration_ms)),
        ("max_memory_bytes", values(any, |call| call.max_memory_bytes as f64).into_iter().reduce(f64::max)),
    ];
    let mut metrics: BTreeMap<String, f64> = BTreeMap::new();
    let names: BTreeSet<&String> = all.iter().flat_map(|called| called.own.keys()).collect();
    for name in names {
        let values: Vec<f64> = all.iter().filter_map(|called| called.own.get(name).copied()).collect();
        metrics.extend(median(&values).map(|median| (name.clone(), median)));
    }
    metrics.extend(finite(&figures));
    metrics
}

fn finite(figures: &[(&str, Option<f64>)]) -> impl Iterator<Item = (String, f64)> {
    let known = figures.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?)));
    known.filter(|(_, value)| value.is_finite())
}

#[cfg(test)]
pub(super) mod tests {
    use kumite_function::{FunctionError, Invocation, Refused};
    use kumite_record::AxisValue;

    use super::*;

    /// A warm call that took no time.
    pub fn invocation(instance: u32) -> Invocation {
        Invocation {
            request_id: "a".into(),
            payload: b"{}".to_vec(),
            error: None,
            log: String::new(),
            instance,
            cold: false,
            inits: 0,
            offered: Instant::now(),
            wall: Duration::ZERO,
            init: Duration::ZERO,
            init_cpu: Duration::ZERO,
            duration: Duration::ZERO,
            cpu: Duration::ZERO,
            max_memory_bytes: 0,
        }
    }

    fn of_ms(ms: f64) -> Duration {
        Duration::from_secs_f64(ms / 1e3)
    }

    const QUIET: Beside = Beside {
        cpu: Duration::ZERO,
        window: Duration::from_secs(1),
        shared: false,
        unlimited: false,
        uncounted: false,
    };

    /// One cold call with two initializations, and two warm ones.
    fn three() -> Vec<Called> {
        let began = Instant::now();
        let cold = Invocation { cold: true, inits: 2, init: of_ms(1000.0), ..invocation(1) };
        let one = |offered_ms: f64, wall: f64, duration: f64, cpu: f64, memory, from: Invocation| {
            let offered = began + of_ms(offered_ms);
            let invocation = Invocation {
                offered,
                wall: of_ms(wall),
                duration: of_ms(duration),
                cpu: of_ms(cpu),
                max_memory_bytes: memory,
                ..from
            };
            let own = [("fib".to_owned(), duration)].into();
            Called { call: kept(&Made { due: offered, answered: Ok(invocation) }, began), own }
        };
        vec![
            one(0.0, 2105.0, 1100.5, 550.0, 3000, cold),
            one(2110.0, 21.0, 20.0, 4.0, 4000, invocation(1)),
            one(2140.0, 33.0, 30.0, 3.0, 4000, invocation(2)),
        ]
    }

    fn close(metrics: &BTreeMap<String, f64>, name: &str, expected: f64) {
        let found = metrics.get(name).unwrap_or_else(|| panic!("no {name}: {metrics:?}"));
        assert!((found - expected).abs() < 1e-9, "{name} is {found}, not {expected}");
    }

    #[test]
    fn a_trial_and_its_calls() {
        let (sample, marks) = sample(&three(), &QUIET);
        assert_eq!(marks, []);
        for (name, expected) in [
            ("cold_calls", 1.0),
            ("instances", 2.0),
            ("wall_ms", 33.0),
            ("duration_ms", 30.0),
            ("init_ms", 1000.0),
            ("warm_wall_ms", 27.0),
            ("warm_duration_ms", 25.0),
            ("warm_billed_2016_ms", 100.0),
            ("warm_billed_2025_ms", 25.0),
            ("warm_billed_2025_min_ms", 20.0),
            ("warm_billed_2025_max_ms", 30.0),
            ("cpu_share", 557.0 / 1150.5),
            ("max_memory_bytes", 4000.0),
            ("fib", 30.0),
        ] {
            close(&sample.metrics, name, expected);
        }
        let declared = metrics().around([Metric::named("fib")]);
        let mut known: Vec<&str> = declared.iter().map(|metric| metric.name.as_str()).collect();
        known.sort_unstable();
        assert_eq!(sample.metrics.keys().map(String::as_str).collect::<Vec<_>>(), known);
        assert_eq!(
            sample.parts.iter().map(|part| part.at.clone()).collect::<Vec<_>>(),
            [1, 2, 3].map(AxisValue::Int)
        );
        let first = &sample.parts[0].metrics;
        for (name, expected) in [
            ("wall_ms", 2105.0),
            ("duration_ms", 1100.5),
            ("init_ms", 1000.0),
            ("inits", 2.0),
            ("cold", 1.0),
            ("instance", 1.0),
            ("billed_2016_ms", 1200.0),
            ("billed_2025_ms", 2101.0),
            ("cpu_ms", 550.0),
            ("cpu_share", 550.0 / 1100.5),
            ("max_memory_bytes", 3000.0),
            ("fib", 1100.5),
        ] {
            close(first, name, expected);
        }
        assert_eq!(first.len(), part_metrics().around([]).len() + 1);
    }

    #[test]
    fn a_metric_that_the_first_call_does_not_give_is_that_of_the_others() {
        let mut all = three();
        all[0].own.clear();
        close(&of_all(&all), "fib", 25.0);
    }

    #[test]
    fn what_is_not_known_is_absent() {
        let mut only = three();
        only.truncate(1);
        only[0].call.cpu_ms = None;
        let (found, _) = sample(&only, &QUIET);
        assert!(
            found.metrics.keys().all(|name| !name.starts_with("warm_") && name != "cpu_share"),
            "{found:?}"
        );
        assert!(!found.parts[0].metrics.contains_key("cpu_ms"));
        let mut none_cold = three();
        none_cold.remove(0);
        assert!(!sample(&none_cold, &QUIET).0.metrics.contains_key("init_ms"));
    }

    #[test]
    fn doubts() {
        let marks = |beside| sample(&three(), &beside).1;
        assert_eq!(marks(Beside { unlimited: true, ..QUIET }), [Mark::NotThrottled]);
        assert_eq!(marks(Beside { uncounted: true, ..QUIET }), [Mark::MemoryUncounted]);
        let bounds = |uncounted| sample(&three(), &Beside { uncounted, ..QUIET }).0.lower_bounds;
        assert_eq!((bounds(true), bounds(false)), (["max_memory_bytes".to_owned()].into(), [].into()));
        let busy = Beside { cpu: of_ms(20.0), ..QUIET };
        assert_eq!(marks(busy), []);
        assert_eq!(marks(Beside { shared: true, ..busy }), [Mark::SharedCores]);
        assert_eq!(marks(Beside { shared: true, ..QUIET }), []);
    }

    #[test]
    fn a_call_that_failed_says_how() {
        let began = Instant::now();
        let error = FunctionError { kind: "Runtime.ExitError".into(), message: "exit status 1".into() };
        let failed = Made { due: began, answered: Ok(Invocation { error: Some(error), ..invocation(3) }) };
        let call = kept(&failed, began);
        assert_eq!(
            (call.instance, call.error.as_deref()),
            (Some(3), Some("Runtime.ExitError: exit status 1"))
        );
        let refused = kept(&Made { due: began + of_ms(5.0), answered: Err(Refused::Throttled(1)) }, began);
        assert_eq!((refused.instance, refused.offered_ms), (None, 5.0));
        assert_eq!(refused.error.unwrap(), "it was refused: all 1 instances are busy");
    }
}
