//! Finds out before a run if its window is too short for the percentiles that claims want.

use std::net::SocketAddrV4;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_load::{Limit, Load, Outcome, PERCENTILES, Session, requests_for};
use kumite_record::AxisValue;

use super::percentile::long_enough;
use super::server::Server;
use super::workload::HttpWorkload;
use crate::driver::{Short, Wanted};
use crate::halt::Halt;

/// The longest time of a look at a server's rate, besides the pauses of sessions. A warm-up of at most that time comes
/// before it.
const LOOK: Duration = Duration::from_secs(1);
/// The most looks. A server that was just started may soon be quicker.
const LOOKS: usize = 2;

/// The window of a trial, with the percentiles that are wanted.
///
/// Connections take sessions in turns, a plain request being a session of one. So it is known how many values a turn
/// brings to each percentile, and only the rate of turns has to be looked at.
pub(super) struct Window<'a> {
    workload: &'a HttpWorkload,
    wanted: Vec<Percentile>,
}

/// A percentile that is wanted.
struct Percentile {
    of: Wanted,
    /// The number of values that it takes.
    needs: u64,
    /// The mean number of values that a turn brings.
    per_turn: f64,
}

impl<'a> Window<'a> {
    /// Makes the window for those of the wanted metrics that are percentiles. For a load in steps no percentile is
    /// kept, since its steps are windows of their own.
    pub fn new(workload: &'a HttpWorkload, wanted: &[Wanted]) -> Window<'a> {
        let percentile = |of: &Wanted| {
            let needs = answers_for(&of.metric)?;
            Some(Percentile { needs, per_turn: per_turn(workload.sessions(), of), of: of.clone() })
        };
        let wanted = wanted.iter().filter(|_| workload.steps.is_none()).filter_map(percentile).collect();
        Window { workload, wanted }
    }

    /// The number of turns that is enough for each of the wanted percentiles; `u64::MAX` if no number is, because no
    /// turn brings a value to one of them. `None` if no percentile is wanted.
    pub fn most(&self) -> Option<u64> {
        let turns = |of: &Percentile| (of.needs as f64 / of.per_turn - 1e-6).ceil() as u64;
        self.wanted.iter().map(turns).max()
    }

    /// The mean number of turns that are due a second, which bounds the rate of answers. None for a closed loop.
    pub fn offered(&self) -> Option<f64> {
        let Load { arrivals, warm_up, .. } = self.workload.load(SocketAddrV4::new([127, 0, 0, 1].into(), 1));
        arrivals.map(|arrivals| arrivals.mean_rate(warm_up + self.workload.duration))
    }

    /// The rate of turns that were answered rightly, in turns a second, in the best of up to [`LOOKS`] short loads; 0
    /// if no turn was. A load ends early once `enough` turns are over. An error if the engine fails or `stop` is set.
    pub fn look(
        &self,
        server: &Server,
        enough: u64,
        cores: &[usize],
        stop: &AtomicBool,
    ) -> Result<f64, Halt> {
        let duration = self.workload.duration;
        // At first all connections begin a session, and none ends one before its pauses are over.
        let pauses = |session: &Session| session.steps.iter().map(|step| step.think).sum::<Duration>();
        let look = LOOK + self.workload.sessions().iter().map(pauses).max().unwrap_or_default();
        let load = Load {
            cores: cores.to_vec(),
            warm_up: self.workload.warm_up.least.min(LOOK),
            limit: Limit { requests: Some(enough), duration: Some(duration.min(look)) },
            disturbance: None,
            ..server.load(self.workload)
        };
        let mut best = 0.0_f64;
        for _ in 0..LOOKS {
            let outcome = load.run(stop, &mut |_| ())?;
            Halt::if_set(stop)?;
            let seconds = outcome.elapsed.as_secs_f64();
            best = best.max(if seconds > 0.0 { right_turns(&outcome) as f64 / seconds } else { 0.0 });
            if best * duration.as_secs_f64() >= enough as f64 {
                break;
            }
        }
        Ok(best)
    }

    /// The wanted percentiles for which the window is too short, if this many turns a second are answered rightly.
    pub fn short(&self, turns_per_s: f64) -> Vec<Short> {
        let window_s = self.workload.duration.as_secs_f64();
        let short = |Percentile { of, needs, per_turn }: &Percentile| {
            let per_s = turns_per_s * per_turn;
            // A rate times a time may be a little less than the number that comes.
            let have = (per_s * window_s + 1e-6) as u64;
            let missing = needs.checked_sub(have).filter(|missing| *missing > 0)?;
            let enough = long_enough(have, missing, window_s);
            Some(Short { of: of.clone(), needs: *needs, per_s, window_s, enough })
        };
        self.wanted.iter().filter_map(short).collect()
    }
}

/// The number of turns whose answers were all right. An outcome without figures by session is of one request.
fn right_turns(outcome: &Outcome) -> u64 {
    match &outcome.sessions[..] {
        [] => outcome.ok,
        sessions => sessions.iter().map(|session| session.ok).sum(),
    }
}

/// The mean number of values of a metric that a turn among these sessions brings, if all answers are right: of a
/// request, how often it is asked; of sessions, how often one of several requests has its turn; else the number of
/// requests. 0 for a request that has no turn.
fn per_turn(sessions: &[Session], of: &Wanted) -> f64 {
    let values = |session: &Session| match &of.part {
        Some(AxisValue::Text(name)) => session.steps.iter().filter(|step| step.name == *name).count(),
        _ if of.metric.starts_with(SESSION) => usize::from(session.steps.len() > 1),
        _ => session.steps.len(),
    };
    let weighted = |session: &Session| f64::from(session.weight) * values(session) as f64;
    let all: f64 = sessions.iter().map(|session| f64::from(session.weight)).sum();
    if all > 0.0 { sessions.iter().map(weighted).sum::<f64>() / all } else { 0.0 }
}

/// True if the metric of this name is a percentile of a server's times. A trial has such a metric only if enough
/// answers, or enough sessions, came in its window.
pub fn is_percentile(metric: &str) -> bool {
    answers_for(metric).is_some()
}

/// The beginning of the names of metrics of whole sessions.
const SESSION: &str = "session_";

/// The number of answers, or of sessions, that a metric takes. None if it is no percentile.
fn answers_for(metric: &str) -> Option<u64> {
    let times = ["response_", "service_", "first_byte_", SESSION];
    let of = times.into_iter().find_map(|time| metric.strip_prefix(time))?;
    let name = of.strip_suffix("_us")?;
    PERCENTILES.iter().find(|(known, _)| *known == name).map(|(_, one_in)| requests_for(*one_in))
}

#[cfg(test)]
mod tests {
    use kumite_load::{Step, Target};
    use kumite_record::Enough;

    use super::*;
    use crate::driver::Answer;

    fn workload(given: &[(&str, f64)]) -> HttpWorkload {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), AxisValue::Float(*value)));
        HttpWorkload::new(&given.collect(), &Answer::default()).unwrap()
    }

    fn whole(metric: &str) -> Wanted {
        Wanted { metric: metric.to_owned(), part: None }
    }

    #[test]
    fn a_window_lacks_what_its_rate_does_not_bring() {
        let workload = workload(&[("duration_s", 1.0)]);
        let metrics = ["throughput_rps", "response_p50_us", "response_p99_us", "response_mean_us"].map(whole);
        let window = Window::new(&workload, &metrics);
        assert_eq!((window.most(), window.offered()), (Some(1000), None));
        assert_eq!((window.short(1000.0), window.short(20_000.0)), (Vec::new(), Vec::new()));
        let enough = Some(Enough { have: 488, parameter: "duration_s".to_owned(), value: 2.5 });
        let of = whole("response_p99_us");
        assert_eq!(window.short(488.2), [Short { of, needs: 1000, per_s: 488.2, window_s: 1.0, enough }]);
        assert!(window.short(0.0).iter().all(|short| short.enough.is_none()));
        assert_eq!(window.short(0.0).len(), 2);
    }

    #[test]
    fn an_open_loop_says_beforehand_how_many_come() {
        let workload = workload(&[("rate_rps", 200.0), ("duration_s", 5.0)]);
        let window = Window::new(&workload, &["service_p99_us", "service_p99_9_us"].map(whole));
        assert_eq!(window.offered(), Some(200.0));
        let short = window.short(200.0);
        assert_eq!(
            short.iter().map(|it| (&*it.of.metric, it.needs)).collect::<Vec<_>>(),
            [("service_p99_9_us", 10_000)]
        );
    }

    /// Three turns of four are one request, and one is a session of two: five requests in four turns.
    fn mix() -> Vec<Session> {
        let target = Target::plain(SocketAddrV4::new([127, 0, 0, 1].into(), 1).into());
        let step = |name: &str| Step { name: name.to_owned(), ..Step::new(target.clone()) };
        let of = |weight, steps: &[&str]| Session {
            name: "any".to_owned(),
            weight,
            steps: steps.iter().map(|name| step(name)).collect(),
        };
        vec![of(3, &["item"]), of(1, &["login", "me"])]
    }

    #[test]
    fn a_turn_brings_each_request_its_share_and_a_session_where_it_has_several() {
        let at = |request: &str| {
            let part = Some(AxisValue::Text(request.to_owned()));
            per_turn(&mix(), &Wanted { part, ..whole("response_p99_us") })
        };
        assert_eq!([at("item"), at("login"), at("me"), at("nobody")], [0.75, 0.25, 0.25, 0.0]);
        let of = |metric: &str| per_turn(&mix(), &whole(metric));
        assert_eq!(
            [of("response_p99_us"), of("first_byte_p99_us"), of("session_p99_us")],
            [1.25, 1.25, 0.25]
        );
        assert_eq!(per_turn(&[], &whole("response_p99_us")), 0.0);
    }

    #[test]
    fn what_has_a_quarter_of_the_turns_takes_a_window_of_four_times_the_length() {
        let workload = workload(&[("rate_rps", 200.0), ("duration_s", 5.0)]);
        let wanted = whole("session_p99_us");
        let per_turn = per_turn(&mix(), &wanted);
        let window = Window {
            wanted: vec![Percentile { of: wanted.clone(), needs: 1000, per_turn }],
            workload: &workload,
        };
        assert_eq!(window.most(), Some(4000));
        let enough = Some(Enough { have: 250, parameter: "duration_s".to_owned(), value: 24.0 });
        let short = Short { of: wanted, needs: 1000, per_s: 50.0, window_s: 5.0, enough };
        assert_eq!((window.short(200.0), window.short(800.0)), (vec![short], Vec::new()));
    }
}
