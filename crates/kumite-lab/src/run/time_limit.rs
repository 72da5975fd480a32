//! The time that a run may take, with who set it.

use std::fmt;
use std::time::Duration;

/// The time that an execution may take, from its beginning, by who set it: once it has made a trial, it begins no block
/// that would likely end later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// The user gave the time.
    Budget(Duration),
    /// The job that the run is part of ends then, on this node.
    Job(Duration),
}

impl TimeLimit {
    /// The limit that is reached first. None if there is neither.
    pub fn first(budget: Option<Duration>, job: Option<Duration>) -> Option<TimeLimit> {
        let limits = [budget.map(TimeLimit::Budget), job.map(TimeLimit::Job)];
        limits.into_iter().flatten().min_by_key(|limit| limit.time())
    }

    /// The time itself.
    pub fn time(self) -> Duration {
        match self {
            TimeLimit::Budget(time) | TimeLimit::Job(time) => time,
        }
    }
}

/// As a sentence has it: "the budget of 15 s".
impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TimeLimit::Budget(time) => write!(f, "the budget of {}", humane(*time)),
            TimeLimit::Job(time) => write!(f, "the rest of the job's time limit, {},", humane(*time)),
        }
    }
}

/// A duration for people, to about two digits.
pub(super) fn humane(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesser_of_both_limits_is_the_first_and_is_told_as_what_it_is() {
        let [one, two] = [10, 20].map(|s| Some(Duration::from_secs(s)));
        assert_eq!(
            TimeLimit::first(two, one).unwrap().to_string(),
            "the rest of the job's time limit, 10 s,"
        );
        assert_eq!(TimeLimit::first(one, two).unwrap().to_string(), "the budget of 10 s");
        assert_eq!(TimeLimit::first(None, two), Some(TimeLimit::Job(two.unwrap())));
        assert_eq!(TimeLimit::first(None, None), None);
    }
}
