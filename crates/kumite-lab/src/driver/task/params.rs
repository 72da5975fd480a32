//! The parameters of a task that are kumite's own; all others are the contender's.

use crate::parameter::{Param, Takes};

/// The most jobs of a warm-up, and the most that are measured. Each is in the record.
pub(super) const MOST_JOBS: i64 = 100_000;

pub(super) static PARAMS: &[Param] = &[
    Param::count("iterations", 1, [1, MOST_JOBS], "Jobs of a process that count, at least."),
    Param::number(
        "duration_s",
        0.0,
        [0.0, 3600.0],
        "Time of the jobs that count, at least: more are given until it has passed, 100,000 at most.",
    ),
    Param::count("warm_up_iterations", 0, [0, MOST_JOBS], "Jobs of a process before them, at least."),
    Param::number(
        "warm_up_s",
        0.0,
        [0.0, 3600.0],
        "Time of those jobs, at least: more are given until it has passed, 100,000 at most.",
    ),
    Param::number(
        "warm_up_limit_s",
        0.0,
        [0.0, 3600.0],
        "That time at most: then jobs are given until their times are steady, or until it has passed, and the trial may be marked `unsteady`. Evidence takes thirty points and more. 0 for no more than `warm_up_s` and `warm_up_iterations`.",
    ),
    Param::count("concurrency", 1, [1, 10_000], "Jobs in flight at a time."),
    Param::number("timeout_s", 60.0, [0.1, 86_400.0], "A job that takes longer fails the trial."),
    Param::number("ready_s", 30.0, [0.1, 600.0], "A worker that takes longer to its first hello has failed."),
    Param::new("cores", Takes::Cores, "How many CPUs the worker is given; `all` is every one."),
    Param::new(
        "scratch",
        Takes::Word(&["disk", "memory"]),
        "Where the folder `$SCRATCH` is: on a disk of this machine (see the kind's page), or in memory (`/dev/shm`), so that no disk is timed.",
    ),
    Param::new("events", Takes::Flag, "Whether the worker is to tell what happened within a job."),
];
