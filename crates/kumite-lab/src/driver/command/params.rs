//! The parameters of a command that are kumite's own; all others are the contender's.

use crate::parameter::{Param, Takes};

pub(super) static PARAMS: &[Param] = &[
    Param::count("runs", 1, [1, 1_000], "Runs of a trial that count."),
    Param::count("warm_up_runs", 0, [0, 1_000], "Runs of a trial before them."),
    Param::text(
        "setup",
        "",
        "A command that makes what the runs of a trial need, in `$SCRATCH`: before them, untimed, in the experiment's folder.",
    ),
    Param::number("timeout_s", 60.0, [0.1, 86_400.0], "A run that takes longer fails the trial."),
    Param::new("cores", Takes::Cores, "How many CPUs a run is given; `all` is every one."),
];
