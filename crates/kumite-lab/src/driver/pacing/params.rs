//! The parameters of a pacing workload.

use kumite_play::FPS;
use kumite_record::Unit;

use crate::parameter::{Param, Takes};

/// The most frames of a play: about an hour's.
const MOST_FRAMES: i64 = 216_000;

pub(super) static PARAMS: &[Param] = &[
    Param::text(
        "macro",
        "macro.txt",
        "The macro's file, in the experiment's folder, in the notation of `kumite play`.",
    ),
    Param::count(
        "frames",
        600,
        [1, MOST_FRAMES],
        "So many frames of the macro are played, over and over if it has fewer.",
    ),
    Param::count(
        "warm_up_frames",
        60,
        [0, MOST_FRAMES],
        "Frames of a play before that, which counts in no figure.",
    ),
    Param::number("fps", FPS, [1.0, 1000.0], "Frames a second.").unit(Unit::PerSecond),
    Param::word(
        "schedule",
        &["absolute", "relative"],
        "What a player keeps to: when each state is due, or how long each is held.",
    ),
    Param::word(
        "load",
        &["none", "every-core"],
        "What else the machine does: nothing, or a busy thread on every CPU that is used.",
    ),
    Param::number(
        "adapter_jitter_ms",
        0.0,
        [0.0, 1000.0],
        "The recorder stands behind an adapter that keeps each state for a time between 0 and this, all times alike, and the same in each trial; 0 for none.",
    ),
    Param::number("ready_s", 30.0, [0.1, 600.0], "A player that takes longer to be ready has failed."),
    Param::new(
        "cores",
        Takes::Cores,
        "How many CPUs the player is given beside the recorder's; `all` shares them with it.",
    ),
];
