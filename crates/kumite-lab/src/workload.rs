//! The kinds of workloads there are.

use std::time::Duration;

use kumite_record::Within;

use crate::function::{self, FunctionWorkload};
use crate::http::{self, HttpWorkload};
use crate::metrics::Metrics;
use crate::pacing::{self, PacingWorkload};
use crate::param::Param;
use crate::task::{self, TaskWorkload};

/// What a contender is to do in the trials of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To serve requests.
    Http,
    /// To do jobs, as a worker that speaks the task protocol.
    Task,
    /// To be called, as a function on the function host.
    Function,
    /// To act at given instants, as a player.
    Pacing,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Http, Kind::Task, Kind::Function, Kind::Pacing];

    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Http => "http",
            Kind::Task => "task",
            Kind::Function => "function",
            Kind::Pacing => "pacing",
        }
    }

    /// What its trials measure in every experiment.
    pub(crate) fn metrics(self) -> Metrics {
        match self {
            Kind::Http => http::metrics(),
            Kind::Task => task::metrics(),
            Kind::Function => function::metrics(),
            Kind::Pacing => pacing::metrics(),
        }
    }

    /// What the parts of its trials measure, where an axis is swept within them.
    pub(crate) fn part_metrics(self) -> Metrics {
        match self {
            Kind::Http => http::part_metrics(),
            Kind::Task | Kind::Pacing => Metrics::default(),
            Kind::Function => function::part_metrics(),
        }
    }

    /// The parameters that it declares.
    pub(crate) fn params(self) -> &'static [Param] {
        match self {
            Kind::Http => http::PARAMS,
            Kind::Task => task::PARAMS,
            Kind::Function => function::PARAMS,
            Kind::Pacing => pacing::PARAMS,
        }
    }

    /// Whether a contender may have parameters of its own.
    pub(crate) fn takes_others(self) -> bool {
        matches!(self, Kind::Task | Kind::Function)
    }
}

/// The workload of one trial.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Requests to a server.
    Http(HttpWorkload),
    /// Jobs for a worker.
    Task(TaskWorkload),
    /// Calls of a function.
    Function(FunctionWorkload),
    /// Plays of a player.
    Pacing(PacingWorkload),
}

impl Workload {
    /// The axis that a trial sweeps within itself, if it does.
    pub(crate) fn within(&self) -> Option<Within> {
        match self {
            Workload::Http(http) => http.within(),
            Workload::Task(_) | Workload::Pacing(_) => None,
            Workload::Function(function) => Some(function.within()),
        }
    }

    /// How long a trial takes once the contender is ready, at most; none if only trying it tells.
    pub(crate) fn time(&self) -> Option<Duration> {
        match self {
            Workload::Http(http) => Some(http.time()),
            Workload::Pacing(pacing) => Some(pacing.time()),
            Workload::Task(_) | Workload::Function(_) => None,
        }
    }
}
