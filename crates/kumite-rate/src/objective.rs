//! An objective as a load is judged by it: each condition with the place of what it is about.

use std::collections::BTreeMap;
use std::time::Duration;

use kumite_load::{Errors, Histogram, Load, Outcome, percentile};

use crate::part::{PartError, Place, names};
use crate::slo::{Condition, Slo, Subject};

/// The least number of requests of a trial: fewer say nothing about a mean.
const FEWEST_REQUESTS: u64 = 10;
/// The time that a session counts as having taken if one of its requests was lost, in ns: nobody knows when it would have
/// ended. Figures that it is part of are infinite.
const NEVER: u64 = u64::MAX / 2;
/// A time of this and more, in µs, can only be [`NEVER`]: that is less exact after a histogram and a quotient.
const NEVER_US: f64 = NEVER as f64 / 2e3;

/// An objective that loads of the same sessions are judged by.
pub(crate) struct Objective {
    conditions: Vec<Bound>,
}

/// A condition, bound to a load.
struct Bound {
    condition: Condition,
    /// The place of the request or session that the condition is about; `None` for all requests.
    place: Option<Place>,
    /// The share of what the load's rate counts that the condition is about.
    share: f64,
}

/// The judgement of a trial by an objective.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    /// The figures that the objective names of all requests, by metric. Times are in µs.
    pub figures: BTreeMap<String, f64>,
    /// The figures that the objective names of single requests and sessions, by their name, then by metric.
    pub parts: BTreeMap<String, BTreeMap<String, f64>>,
    /// The conditions that were not met, as the objective's text has them.
    pub broke: Vec<String>,
    /// The most by which a time is over its limit, in µs; infinite if the limit of errors is exceeded, 0 if nothing
    /// is.
    pub excess_us: f64,
    /// A figure that the objective names has too few requests.
    pub too_few: bool,
    /// The objective is broken only because requests waited: service times meet what response times do not, and no
    /// other condition is broken; or requests were never sent, and none failed otherwise.
    pub waited: bool,
}

/// What a trial has of the requests or sessions that a condition is about.
struct Seen {
    /// The times from when they were due, in ns, with those that were lost.
    times: Histogram<u64>,
    /// The times from when they were sent; `None` if they are not known.
    service: Option<Histogram<u64>>,
    error_share: f64,
}

impl Objective {
    /// An error if the load has nothing of the name that a condition is about, or more than one.
    pub fn new(slo: &Slo, load: &Load) -> Result<Objective, PartError> {
        let sessions = names(&load.sessions);
        let all: f64 = load.sessions.iter().map(|session| f64::from(session.weight)).sum();
        let bound = |condition: &Condition| {
            let place = condition.part.as_ref().map(|name| name.find(&sessions)).transpose()?;
            let share = place.map_or(1.0, |place| f64::from(load.sessions[place.session].weight) / all);
            match &condition.part {
                Some(name) if share == 0.0 => Err(PartError::Never { name: name.to_string() }),
                _ => Ok(Bound { condition: condition.clone(), place, share }),
            }
        };
        Ok(Objective { conditions: slo.conditions.iter().map(bound).collect::<Result<_, _>>()? })
    }

    /// The least number of requests of a trial, or of sessions if its rate counts those: ten beyond each percentile, and
    /// so many that one error does not exceed the limit of errors.
    pub fn requests_needed(&self) -> u64 {
        let needed = |bound: &Bound| {
            let needed = match bound.condition.subject {
                Subject::Percentile(_, one_in) => FEWEST_REQUESTS * one_in,
                Subject::Errors if bound.condition.limit > 0.0 => (1.0 / bound.condition.limit).ceil() as u64,
                Subject::Mean | Subject::Max | Subject::Errors => FEWEST_REQUESTS,
            };
            (needed as f64 / bound.share).ceil() as u64
        };
        self.conditions.iter().map(needed).max().unwrap_or(FEWEST_REQUESTS)
    }

    /// The shortest time that the objective names; `None` if it names none.
    pub fn shortest(&self) -> Option<Duration> {
        self.conditions.iter().filter_map(|bound| bound.condition.time()).min()
    }

    /// The longest time that the objective names for requests, and not for whole sessions; `None` if it names none.
    pub fn longest_request(&self) -> Option<Duration> {
        let of_requests = self.conditions.iter().filter(|bound| !bound.place.is_some_and(Place::is_session));
        of_requests.filter_map(|bound| bound.condition.time()).max()
    }

    /// Judges one trial. A request that was not answered within the time-out, or not sent, counts as having taken the
    /// time-out: a server that drops slow requests is not fast.
    pub fn judge(&self, outcome: &Outcome, timeout: Duration) -> Judged {
        let mut judged = Judged {
            figures: BTreeMap::new(),
            parts: BTreeMap::new(),
            broke: Vec::new(),
            excess_us: 0.0,
            too_few: false,
            waited: false,
        };
        let mut breaks_without_waiting = false;
        let whole = Seen::whole(outcome, timeout);
        for Bound { condition, place, .. } in &self.conditions {
            let part = place.and_then(|place| Seen::part(outcome, place, timeout));
            let seen = part.as_ref().unwrap_or(&whole);
            let subject = condition.subject;
            let Some(figure) = subject.figure(&seen.times, seen.error_share) else {
                judged.too_few = true;
                continue;
            };
            // JSON has no infinite number.
            if figure.is_finite() {
                let figures = match &condition.part {
                    None => &mut judged.figures,
                    Some(name) => judged.parts.entry(name.to_string()).or_default(),
                };
                figures.insert(subject.metric(place.is_some_and(Place::is_session)), figure);
            }
            if !condition.holds(figure) {
                judged.broke.push(condition.text.clone());
                let is_time = subject != Subject::Errors;
                let excess_us = if is_time { figure - condition.limit } else { f64::INFINITY };
                judged.excess_us = judged.excess_us.max(excess_us);
                let served = seen.service.as_ref().and_then(|times| subject.figure(times, seen.error_share));
                breaks_without_waiting |= served.is_none_or(|figure| !condition.holds(figure));
            }
        }
        let lost = lost(&outcome.errors);
        let all_unsent = outcome.errors.total() == outcome.errors.unsent;
        judged.waited = !judged.broke.is_empty() && (!breaks_without_waiting || (lost > 0 && all_unsent));
        judged
    }
}

impl Seen {
    fn whole(outcome: &Outcome, timeout: Duration) -> Seen {
        Seen {
            times: with_lost(&outcome.response, lost(&outcome.errors), nanos(timeout)),
            service: Some(with_lost(&outcome.service, outcome.errors.timeout, nanos(timeout))),
            error_share: share(outcome.errors.total(), outcome.requests),
        }
    }

    /// `None` if the outcome has no figures by request, because there is one request only.
    fn part(outcome: &Outcome, place: Place, timeout: Duration) -> Option<Seen> {
        let session = outcome.sessions.get(place.session)?;
        let (times, errors, all) = match place.step {
            Some(step) => {
                let step = session.steps.get(step)?;
                let times = with_lost(&step.response, lost(&step.errors), nanos(timeout));
                (times, step.errors.total(), step.requests())
            }
            // A request that fails ends its session.
            None => {
                let lost = session.steps.iter().map(|step| lost(&step.errors)).sum();
                (with_lost(&session.time, lost, NEVER), session.failed, session.ok + session.failed)
            }
        };
        Some(Seen { times, service: None, error_share: share(errors, all) })
    }
}

fn lost(errors: &Errors) -> u64 {
    errors.timeout + errors.unsent
}

fn share(errors: u64, all: u64) -> f64 {
    errors as f64 / all.max(1) as f64
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(NEVER)
}

/// These times, with `lost` times of `nanos` ns.
fn with_lost(times: &Histogram<u64>, lost: u64, nanos: u64) -> Histogram<u64> {
    let mut all = Histogram::new(3).expect("3 is a precision that hdrhistogram has");
    // A value that is recorded no times would be the longest all the same.
    let added = all.add(times).is_ok() && (lost == 0 || all.record_n(nanos, lost).is_ok());
    debug_assert!(added, "a histogram that grows takes any value");
    all
}

impl Subject {
    /// The name of the metric, of requests or of whole sessions.
    fn metric(self, of_session: bool) -> String {
        let of = if of_session { "session" } else { "response" };
        match self {
            Subject::Percentile(name, _) => format!("{of}_{name}_us"),
            Subject::Mean => format!("{of}_mean_us"),
            Subject::Max => format!("{of}_max_us"),
            Subject::Errors => "error_share".to_owned(),
        }
    }

    /// The figure of a trial, in µs or as a share; `None` if there are too few requests for it. A time is infinite if
    /// [`NEVER`] is part of it.
    fn figure(self, times: &Histogram<u64>, error_share: f64) -> Option<f64> {
        let of_all = |us: f64| if times.max() < NEVER { us } else { f64::INFINITY };
        match self {
            Subject::Errors => Some(error_share),
            Subject::Percentile(_, one_in) => {
                percentile(times, one_in).ok().map(|us| if us < NEVER_US { us } else { f64::INFINITY })
            }
            Subject::Mean | Subject::Max if times.len() < FEWEST_REQUESTS => None,
            Subject::Mean => Some(of_all(times.mean() / 1e3)),
            Subject::Max => Some(of_all(times.max() as f64 / 1e3)),
        }
    }
}

#[cfg(test)]
mod tests {
    use kumite_load::{Limit, Session, SessionOutcome, Step, StepOutcome, Target};

    use super::*;

    /// An outcome with `n` answers of `ms` for each `(ms, n)`, all of them served in 1 ms.
    fn outcome(responses_ms: &[(u64, u64)], errors: Errors) -> Outcome {
        let mut outcome = Outcome { errors, ..Outcome::default() };
        for (ms, n) in responses_ms {
            outcome.response.record_n(ms * 1_000_000, *n).unwrap();
            outcome.service.record_n(1_000_000, *n).unwrap();
            outcome.ok += n;
        }
        outcome.requests = outcome.ok + errors.total();
        outcome
    }

    fn objective(slo: &str, load: &Load) -> Result<Objective, PartError> {
        Objective::new(&Slo::parse(slo).unwrap(), load)
    }

    fn judge(slo: &str, outcome: &Outcome) -> Judged {
        objective(slo, &plain()).unwrap().judge(outcome, Duration::from_secs(1))
    }

    fn plain() -> Load {
        Load::new(Target::parse("http://127.0.0.1:1/").unwrap(), Limit::default())
    }

    #[test]
    fn a_trial_meets_all_conditions_or_does_not() {
        let one_slow = outcome(&[(5, 990), (50, 10)], Errors::default());
        assert_eq!(judge("p99 < 10ms and mean < 6ms and max < 51ms", &one_slow).broke, [""; 0]);
        let more_slow = outcome(&[(5, 989), (50, 11)], Errors::default());
        let judged = judge("p50 < 10ms and p99 < 10ms and max < 40ms", &more_slow);
        assert_eq!(judged.broke, ["p99 < 10ms", "max < 40ms"]);
        assert!((judged.figures["response_p50_us"] / 5e3 - 1.0).abs() < 1e-3);
        assert!(judged.waited, "service times were all 1 ms");
        assert!((judged.excess_us / 40e3 - 1.0).abs() < 1e-2, "{}", judged.excess_us);
    }

    #[test]
    fn a_percentile_of_too_few_requests_is_neither_met_nor_broken() {
        let few = judge("p99 < 10ms", &outcome(&[(5, 999)], Errors::default()));
        assert!(few.too_few && few.broke.is_empty() && few.figures["error_share"] == 0.0);
    }

    #[test]
    fn failed_requests_break_the_objective_and_are_not_fast() {
        let status = Errors { status: 30, ..Errors::default() };
        let judged = judge("p99 < 10ms", &outcome(&[(5, 1970)], status));
        assert_eq!(
            (&judged.broke[..], judged.figures["error_share"]),
            (&["errors = 0".to_owned()][..], 0.015)
        );
        assert!(!judged.waited && judged.excess_us.is_infinite());
        assert_eq!(judge("p99 < 10ms, errors < 2%", &outcome(&[(5, 1970)], status)).broke, [""; 0]);
        let timeouts = Errors { timeout: 30, ..Errors::default() };
        let judged = judge("p99 < 10ms, errors < 2%", &outcome(&[(5, 1970)], timeouts));
        assert_eq!((&judged.broke[..], judged.waited), (&["p99 < 10ms".to_owned()][..], false));
        let unsent = Errors { unsent: 30, ..Errors::default() };
        assert!(judge("p99 < 10ms", &outcome(&[(5, 1970)], unsent)).waited);
    }

    /// A load of plain requests and of sessions, one to three, and its outcome: of each request 1,000 right answers in
    /// 5 ms, but of `item` in 50 ms.
    fn mixed(lost: u64) -> (Load, Outcome) {
        let target = Target::parse("http://127.0.0.1:1/").unwrap();
        let step = |name: &str| Step { name: name.to_owned(), ..Step::new(target.clone()) };
        let buy = Session { name: "buy".to_owned(), weight: 3, steps: vec![step("token"), step("item")] };
        let load = Load { sessions: vec![step("list").into(), buy], ..plain() };
        let times = |ms: u64, n: u64| outcome(&[(ms, n)], Errors::default()).response;
        let errors = Errors { timeout: lost, ..Errors::default() };
        let seen = |name: &str, ms, errors: Errors| StepOutcome {
            name: name.to_owned(),
            ok: 1000,
            errors,
            response: times(ms, 1000),
        };
        let list = seen("list", 5, Errors::default());
        let sessions = vec![
            SessionOutcome {
                name: "list".to_owned(),
                ok: 1000,
                failed: 0,
                time: list.response.clone(),
                steps: vec![list],
            },
            SessionOutcome {
                name: "buy".to_owned(),
                ok: 1000,
                failed: lost,
                time: times(900, 1000),
                steps: vec![seen("token", 5, Errors::default()), seen("item", 50, errors)],
            },
        ];
        (load, Outcome { sessions, ..outcome(&[(5, 2000), (50, 1000)], errors) })
    }

    fn judge_mixed(slo: &str, lost: u64) -> Judged {
        let (load, outcome) = mixed(lost);
        objective(slo, &load).unwrap().judge(&outcome, Duration::from_secs(1))
    }

    #[test]
    fn a_condition_is_about_the_request_or_the_session_that_it_names() {
        let slo =
            "p99 of list < 10ms, p99 of item < 10ms, p95 of buy < 1s, max of token of buy < 6ms, p50 < 6ms";
        let judged = judge_mixed(slo, 0);
        assert_eq!(judged.broke, ["p99 of item < 10ms"]);
        assert!(!judged.waited, "whether it waited is known of all requests only");
        let figure = |part: &str, name: &str, us: f64| (judged.parts[part][name] / us - 1.0).abs() < 1e-3;
        assert!(
            figure("item", "response_p99_us", 50e3) && figure("buy", "session_p95_us", 900e3),
            "{judged:?}"
        );
        assert!(figure("token of buy", "response_max_us", 5e3), "{judged:?}");
        assert_eq!(judged.figures.len(), 2, "p50 and errors: {judged:?}");
    }

    #[test]
    fn a_session_that_lost_a_request_never_ended() {
        let broke = |slo: &str, lost| judge_mixed(slo, lost).broke;
        let slo = "p95 of buy < 30s and errors < 90% and errors of buy < 3%";
        assert_eq!(broke(slo, 20), [""; 0]);
        assert_eq!(broke(slo, 60), ["p95 of buy < 30s", "errors of buy < 3%"]);
        for (of_buy, lost) in [("mean", 1), ("max", 1), ("p95", 60)] {
            let judged = judge_mixed(&format!("{of_buy} of buy < 30s, errors < 90%"), lost);
            assert_eq!(judged.broke.len(), 1, "{judged:?}");
            assert!(judged.parts.is_empty() && judged.excess_us.is_infinite(), "{judged:?}");
        }
    }

    #[test]
    fn rare_requests_need_a_longer_load() {
        let needed = |slo: &str| objective(slo, &mixed(0).0).unwrap().requests_needed();
        assert_eq!(needed("p99 < 10ms"), 1000);
        assert_eq!(needed("p99 of list < 10ms"), 4000);
        assert_eq!(needed("p95 of item < 10ms"), 267);
        let objective = |slo: &str| objective(slo, &mixed(0).0);
        let slo = "p99 of buy < 9s and p99 of item < 90ms and p99 < 80ms";
        let times = objective(slo).map(|objective| (objective.shortest(), objective.longest_request()));
        assert_eq!(times.unwrap(), (Some(Duration::from_millis(80)), Some(Duration::from_millis(90))));
    }

    #[test]
    fn what_is_never_sent_has_no_objective() {
        let (mut load, _) = mixed(0);
        load.sessions[0].weight = 0;
        let refused = objective("p99 of list < 10ms", &load).err().map(|error| error.to_string());
        assert_eq!(
            refused.as_deref(),
            Some("the objective is about list, which has the weight 0: it is never sent")
        );
    }
}
