//! Service level objectives for a server: `p99 < 10ms and errors < 0.1%`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kumite_load::{Histogram, Outcome, PERCENTILES, percentile};

/// A service level objective: one or more conditions, all of which a trial must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    conditions: Vec<Condition>,
}

/// The error for a text that is no [`Slo`]: the character at which it is wrong, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}, character {at}: expected {expected}; write an SLO like 'p99 < 10ms and errors < 0.1%'")]
pub struct SloError {
    text: String,
    /// The number of the character, from 1.
    at: usize,
    expected: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    subject: Subject,
    /// The value must be below the limit; without this it may also be the limit itself.
    below: bool,
    /// The limit, in µs; for errors a share from 0 to 1.
    limit: f64,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    /// The percentile of this name, beyond which one request in this number lies.
    Percentile(&'static str, u64),
    Mean,
    Max,
    Errors,
}

/// The judgement of a trial by an SLO.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    /// The figures that the SLO names, by metric. Times are in µs.
    pub figures: BTreeMap<String, f64>,
    /// The conditions that were not met, as the SLO's text has them.
    pub broke: Vec<String>,
    /// The most by which a time is over its limit, in µs; infinite if the limit of errors is exceeded, 0 if nothing
    /// is.
    pub excess_us: f64,
    /// A figure that the SLO names has too few requests.
    pub too_few: bool,
    /// The SLO is broken only because requests waited: service times meet what response times do not, and no other
    /// condition is broken; or requests were never sent, and none failed otherwise.
    pub waited: bool,
}

/// The least number of requests of a trial: fewer say nothing about a mean.
const FEWEST_REQUESTS: u64 = 10;

impl Slo {
    /// Parses conditions joined by `and` or commas. Each has a subject, an operator and a limit. The subject is `p50`,
    /// `p90`, `p99`, `p99.9`, `mean` or `max` of the response time, or `errors`. The operator is `<`, `<=` or `≤`. The
    /// limit is a time in `us`, `ms` or `s`; for `errors` it is a share in `%`. `errors = 0` is a condition, too. It is
    /// added if the text has none on errors, so that no error is allowed.
    ///
    /// # Errors
    ///
    /// If the text is no objective. The error says what was expected, and at which character.
    pub fn parse(text: &str) -> Result<Slo, SloError> {
        let mut parser = Parser { text, at: 0 };
        let mut conditions = vec![parser.condition()?];
        while !parser.done() {
            parser.joint()?;
            conditions.push(parser.condition()?);
        }
        if !conditions.iter().any(|condition| condition.subject == Subject::Errors) {
            conditions.push(Condition {
                subject: Subject::Errors,
                below: false,
                limit: 0.0,
                text: "errors = 0".to_owned(),
            });
        }
        Ok(Slo { conditions })
    }

    /// The least number of requests of a trial: ten beyond each percentile, and so many that one error does not
    /// exceed the limit of errors.
    pub(crate) fn requests_needed(&self) -> u64 {
        let needed = |condition: &Condition| match condition.subject {
            Subject::Percentile(_, one_in) => FEWEST_REQUESTS * one_in,
            Subject::Errors if condition.limit > 0.0 => (1.0 / condition.limit).ceil() as u64,
            Subject::Mean | Subject::Max | Subject::Errors => FEWEST_REQUESTS,
        };
        self.conditions.iter().map(needed).max().unwrap_or(FEWEST_REQUESTS)
    }

    /// The longest time that the SLO names; `None` if it names none. A load's time-out must be longer than this time.
    pub fn longest(&self) -> Option<Duration> {
        self.times().map(|(_, longest)| longest)
    }

    /// The shortest and the longest time that the SLO names; `None` if it names none.
    pub(crate) fn times(&self) -> Option<(Duration, Duration)> {
        let times = || {
            let times = self.conditions.iter().filter(|condition| condition.subject != Subject::Errors);
            times.map(|condition| Duration::from_secs_f64(condition.limit / 1e6))
        };
        times().min().zip(times().max())
    }

    /// Judges one trial. A request that was not answered within the time-out, or not sent, counts as having taken the
    /// time-out: a server that drops slow requests is not fast.
    pub(crate) fn judge(&self, outcome: &Outcome, timeout: Duration) -> Judged {
        let lost = outcome.errors.timeout + outcome.errors.unsent;
        let response = with_lost(&outcome.response, lost, timeout);
        let service = with_lost(&outcome.service, outcome.errors.timeout, timeout);
        let share = outcome.errors.total() as f64 / outcome.requests.max(1) as f64;
        let mut judged = Judged {
            figures: BTreeMap::new(),
            broke: Vec::new(),
            excess_us: 0.0,
            too_few: false,
            waited: false,
        };
        let mut breaks_without_waiting = false;
        for condition in &self.conditions {
            let Some(figure) = condition.subject.figure(&response, share) else {
                judged.too_few = true;
                continue;
            };
            judged.figures.insert(condition.subject.metric(), figure);
            if !condition.holds(figure) {
                judged.broke.push(condition.text.clone());
                let is_time = condition.subject != Subject::Errors;
                let excess_us = if is_time { figure - condition.limit } else { f64::INFINITY };
                judged.excess_us = judged.excess_us.max(excess_us);
                breaks_without_waiting |=
                    condition.subject.figure(&service, share).is_none_or(|figure| !condition.holds(figure));
            }
        }
        let all_unsent = outcome.errors.total() == outcome.errors.unsent;
        judged.waited = !judged.broke.is_empty() && (!breaks_without_waiting || (lost > 0 && all_unsent));
        judged
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.conditions.iter().map(|condition| condition.text.as_str()).collect();
        f.write_str(&texts.join(" and "))
    }
}

fn with_lost(times: &Histogram<u64>, lost: u64, timeout: Duration) -> Histogram<u64> {
    let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let mut all = Histogram::new(3).expect("3 is a precision that hdrhistogram has");
    // A value that is recorded no times would be the longest all the same.
    let added = all.add(times).is_ok() && (lost == 0 || all.record_n(nanos, lost).is_ok());
    debug_assert!(added, "a histogram that grows takes any value");
    all
}

impl Condition {
    fn holds(&self, figure: f64) -> bool {
        if self.below { figure < self.limit } else { figure <= self.limit }
    }
}

impl Subject {
    fn metric(self) -> String {
        match self {
            Subject::Percentile(name, _) => format!("response_{name}_us"),
            Subject::Mean => "response_mean_us".to_owned(),
            Subject::Max => "response_max_us".to_owned(),
            Subject::Errors => "error_share".to_owned(),
        }
    }

    /// The figure of a trial, in µs or as a share; `None` if there are too few requests for it.
    fn figure(self, times: &Histogram<u64>, error_share: f64) -> Option<f64> {
        match self {
            Subject::Errors => Some(error_share),
            Subject::Percentile(_, one_in) => percentile(times, one_in).ok(),
            Subject::Mean | Subject::Max if times.len() < FEWEST_REQUESTS => None,
            Subject::Mean => Some(times.mean() / 1e3),
            Subject::Max => Some(times.max() as f64 / 1e3),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// The position in the text, in bytes.
    at: usize,
}

impl<'a> Parser<'a> {
    fn condition(&mut self) -> Result<Condition, SloError> {
        self.blank();
        let start = self.at;
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '.');
        let percentile = PERCENTILES.iter().find(|(known, _)| known.replace('_', ".") == name).copied();
        let subject = match (name, percentile) {
            (_, Some((name, one_in))) => Subject::Percentile(name, one_in),
            ("mean", _) => Subject::Mean,
            ("max", _) => Subject::Max,
            ("errors", _) => Subject::Errors,
            _ => return Err(self.error(start, "p50, p90, p99, p99.9, mean, max or errors")),
        };
        self.blank();
        let (before, operator) = (self.at, self.take(|c| matches!(c, '<' | '=' | '>' | '≤')));
        let none_allowed = operator == "=" && subject == Subject::Errors;
        if !none_allowed && !matches!(operator, "<" | "<=" | "≤") {
            return Err(self.error(before, "< or <="));
        }
        self.blank();
        let before = self.at;
        let number: Option<f64> = self.take(|c| c.is_ascii_digit() || c == '.').parse().ok();
        let number = number.ok_or_else(|| self.error(before, "a number"))?;
        self.blank();
        let unit = self.at;
        let scale = match (self.take(|c| c.is_alphabetic() || c == '%'), subject) {
            ("%", Subject::Errors) => 1e-2,
            ("", Subject::Errors) if number == 0.0 => 1.0,
            (_, Subject::Errors) => return Err(self.error(unit, "a share in %")),
            ("us" | "µs", _) => 1.0,
            ("ms", _) => 1e3,
            ("s", _) => 1e6,
            _ => return Err(self.error(unit, "a unit: us, ms or s")),
        };
        let (limit, below) = (number * scale, operator == "<");
        match subject {
            Subject::Errors if none_allowed && limit > 0.0 => {
                Err(self.error(before, "0 after =, or < for a share"))
            }
            Subject::Errors if limit > 1.0 => Err(self.error(before, "a share of at most 100 %")),
            _ if below && limit == 0.0 => Err(self.error(before, "more than 0, for nothing is below it")),
            _ if limit > 1e12 => Err(self.error(before, "a time that somebody waits")),
            _ => Ok(Condition { subject, below, limit, text: self.text[start..self.at].trim().to_owned() }),
        }
    }

    fn joint(&mut self) -> Result<(), SloError> {
        let before = self.at;
        if self.text[self.at..].starts_with(',') {
            self.at += 1;
            return Ok(());
        }
        match self.take(char::is_alphabetic) {
            "and" => Ok(()),
            _ => Err(self.error(before, "'and', a comma or the end")),
        }
    }

    fn done(&mut self) -> bool {
        self.blank();
        self.at == self.text.len()
    }

    fn blank(&mut self) {
        self.take(char::is_whitespace);
    }

    fn take(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn error(&self, at: usize, expected: &'static str) -> SloError {
        SloError { text: self.text.to_owned(), at: self.text[..at].chars().count() + 1, expected }
    }
}

#[cfg(test)]
mod tests {
    use kumite_load::Errors;

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

    fn judge(slo: &str, outcome: &Outcome) -> Judged {
        Slo::parse(slo).unwrap().judge(outcome, Duration::from_secs(1))
    }

    #[test]
    fn a_right_objective_is_parsed_and_printed() {
        let text = |text: &str| Slo::parse(text).unwrap().to_string();
        assert_eq!(text("p99 < 10ms"), "p99 < 10ms and errors = 0");
        assert_eq!(text(" p99.9<=1.5 s,errors < 0.1% "), "p99.9<=1.5 s and errors < 0.1%");
        assert_eq!(
            text("mean < 500us and max ≤ 1s and errors = 0"),
            "mean < 500us and max ≤ 1s and errors = 0"
        );
        let slo = Slo::parse("p50 < 500us, max < 2s, errors <= 0.1 %").unwrap();
        assert_eq!(slo.times(), Some((Duration::from_micros(500), Duration::from_secs(2))));
        assert_eq!(slo.requests_needed(), 1000);
        assert_eq!(Slo::parse("p99.9 < 1s").unwrap().requests_needed(), 10_000);
        assert_eq!(Slo::parse("errors = 0").unwrap().requests_needed(), 10);
    }

    #[test]
    fn a_wrong_objective_is_refused_with_its_column() {
        for (text, at, expected) in [
            ("", 1, "p50"),
            ("p98 < 1ms", 1, "p50"),
            ("p99 > 1ms", 5, "<"),
            ("p99 = 1ms", 5, "<"),
            ("p99 < ms", 7, "a number"),
            ("p99 < 1.2.3ms", 7, "a number"),
            ("p99 < 10", 9, "a unit"),
            ("p99 < 10%", 9, "a unit"),
            ("p99 < 0ms", 7, "more than 0"),
            ("p99 < 10ms p50 < 1ms", 12, "'and'"),
            ("p99 < 10ms and", 15, "p50"),
            ("µ", 1, "p50"),
            ("p99 < 9µs, errors < 1", 22, "a share"),
            ("errors < 101%", 10, "at most 100 %"),
            ("errors = 1%", 10, "0 after ="),
        ] {
            let error = Slo::parse(text).unwrap_err();
            assert!(error.at == at && error.expected.contains(expected), "{text:?}: {error}");
        }
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
}
