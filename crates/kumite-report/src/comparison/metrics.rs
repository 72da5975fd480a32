//! Which metrics of a command are shown, and in what.

use kumite_record::{ComparedCommand, Estimate, Unit};

use super::TimeUnit;
use super::estimate::{bounded, plain};
use crate::number::significant;

/// What is known of a run of a command; of all of it less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Wall time, of which the verdict is.
    Wall,
    /// User and system time.
    Cpu,
    /// User time.
    User,
    /// System time.
    System,
    /// The largest resident set.
    Memory,
}

/// A metric, and the unit of its figures: each its own, if there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selected {
    /// Which.
    pub metric: Metric,
    /// In what.
    pub unit: Option<MetricUnit>,
}

/// How many of it are a second or a byte, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricUnit {
    /// Of the figure in seconds or bytes.
    pub factor: f64,
    /// As it is shown.
    pub name: &'static str,
}

/// Those that are shown, in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics(pub [Option<Selected>; 5]);

impl Default for Metrics {
    fn default() -> Metrics {
        let of = |metric| Some(Selected { metric, unit: None });
        Metrics([of(Metric::Wall), of(Metric::User), of(Metric::System), of(Metric::Memory), None])
    }
}

impl Metrics {
    pub(super) fn iter(&self) -> impl Iterator<Item = Selected> {
        self.0.iter().flatten().copied()
    }

    /// Whether one of these is shown.
    pub(super) fn has(&self, any: &[Metric]) -> bool {
        self.iter().any(|selected| any.contains(&selected.metric))
    }
}

impl Metric {
    pub(super) fn head(self) -> &'static str {
        match self {
            Metric::Wall => "wall median [95 %]",
            Metric::Cpu => "CPU",
            Metric::User => "user",
            Metric::System => "system",
            Metric::Memory => "peak RSS",
        }
    }
}

impl Selected {
    /// The figure of a command.
    pub(super) fn text(self, command: &ComparedCommand, time_unit: Option<TimeUnit>) -> String {
        let time_unit = self.unit.or(time_unit.map(MetricUnit::from));
        let time = |seconds: &Option<Estimate>| match time_unit {
            None => plain(Unit::Seconds, seconds),
            Some(unit) => unit.text(seconds, false),
        };
        match self.metric {
            Metric::Wall => match time_unit {
                None => bounded(Unit::Seconds, &command.wall_s),
                Some(unit) => unit.text(&command.wall_s, true),
            },
            Metric::Cpu => time(&cpu(command)),
            Metric::User => time(&command.user_s),
            Metric::System => time(&command.system_s),
            Metric::Memory => {
                let floor = if command.peak_rss_is_floor > 0 { "≤ " } else { "" };
                let of = &command.peak_rss_bytes;
                let figure = self.unit.map_or_else(|| plain(Unit::Bytes, of), |unit| unit.text(of, false));
                format!("{floor}{figure}")
            }
        }
    }
}

/// The median of what each run has used in all.
fn cpu(command: &ComparedCommand) -> Option<Estimate> {
    let times = command.user_times.iter().zip(&command.system_times);
    let mut sums: Vec<f64> = times.map(|(user, system)| user + system).collect();
    sums.sort_by(f64::total_cmp);
    let (low, high) = (sums.get(sums.len().saturating_sub(1) / 2)?, sums.get(sums.len() / 2)?);
    let user = command.user_s.as_ref()?;
    Some(Estimate { estimate: (low + high) / 2.0, low: None, high: None, ..user.clone() })
}

impl From<TimeUnit> for MetricUnit {
    fn from(unit: TimeUnit) -> MetricUnit {
        let (factor, name) = match unit {
            TimeUnit::Microsecond => (1e6, "µs"),
            TimeUnit::Millisecond => (1e3, "ms"),
            TimeUnit::Second => (1.0, "s"),
        };
        MetricUnit { factor, name }
    }
}

impl MetricUnit {
    /// The same unit in all rows.
    fn text(self, of: &Option<Estimate>, has_interval: bool) -> String {
        let Some(of) = of else { return "–".to_owned() };
        let (name, figure) = (self.name, |value: f64| significant(value * self.factor, 4));
        match of.low.zip(of.high).filter(|_| has_interval) {
            Some((low, high)) => {
                format!("{} {name} [{}–{}]", figure(of.estimate), figure(low), figure(high))
            }
            None => format!("{} {name}", figure(of.estimate)),
        }
    }
}
