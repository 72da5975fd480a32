//! The parameters of a task that are kumite's own; all others are the contender's.

use crate::parameter::{Param, Takes};

pub(super) static PARAMS: &[Param] = &[
    Param::count("iterations", 1, [1, 100_000], "Jobs of a process that count."),
    Param::count("warm_up_iterations", 0, [0, 100_000], "Jobs of a process before them."),
    Param::count("concurrency", 1, [1, 10_000], "Jobs in flight at a time."),
    Param::number("timeout_s", 60.0, [0.1, 86_400.0], "A job that takes longer fails the trial."),
    Param::number("ready_s", 30.0, [0.1, 600.0], "A worker that takes longer to its first hello has failed."),
    Param::new("cores", Takes::Cores, "How many CPUs the worker is given; `all` is every one."),
    Param::new("events", Takes::Flag, "Whether the worker is to tell what happened within a job."),
];
