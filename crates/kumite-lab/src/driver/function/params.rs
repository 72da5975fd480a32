//! The parameters of a function that are kumite's own; all others are the contender's.

use crate::contender::MEMORY_MB;
use crate::parameter::{Param, Takes};

pub(super) static PARAMS: &[Param] = &[
    Param::count(
        "calls",
        1,
        [1, 10_000],
        "Calls of a trial. The first hundred are values of the axis `call`, so no parameter can be called that.",
    ),
    Param::count(
        "memory_mb",
        128,
        [*MEMORY_MB.start(), *MEMORY_MB.end()],
        "Memory of an instance; a contender's own takes its place.",
    ),
    Param::word(
        "cpu",
        &["by-memory", "core"],
        "An instance's CPU share in a call: by its memory (1,769 MB are a core), or a whole core.",
    ),
    Param::number("timeout_s", 60.0, [0.1, 900.0], "A call that takes longer is ended, and fails the trial."),
    Param::number(
        "init_limit_s",
        10.0,
        [0.1, 900.0],
        "An instance that takes longer to start is ended, and started again within the call.",
    ),
    Param::count(
        "max_instances",
        1,
        [1, 1000],
        "Instances at a time; a call that finds all of them busy is refused, and fails the trial.",
    ),
    Param::word(
        "routing",
        &["warm-first", "spread"],
        "Which instance a call goes to: the free one that was used last, or any free one of `max_instances` slots, at random; an instance is started by its slot's first call. The same for all contenders of a block, and repeated by `--seed`.",
    ),
    Param::text("handler", "", "What the runtime client is to call; the contender's name, if it is empty."),
    Param::text(
        "payload",
        "",
        "A JSON file in the experiment's folder that is the event of each call; all parameters, if it is empty.",
    ),
    Param::number(
        "rate_per_s",
        0.0,
        [0.0, 10_000.0],
        "Calls offered in a second, whatever becomes of them; 0 for one after another.",
    ),
    Param::new("cores", Takes::Cores, "How many CPUs the instances are given; `all` is every one."),
];
