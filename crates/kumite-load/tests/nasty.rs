//! Nasty answers, on each protocol, over both transports: each is one case of a table. For each case the counts by kind
//! of failure are exact, the memory is bounded, and the words are told whole. No case passes without its answer having
//! been sent and read.
//!
//! This is a test binary of its own, because it counts what is allocated: on the thread of the load alone.

#[path = "nasty/answers.rs"]
mod answers;
#[path = "nasty/case.rs"]
mod case;
#[path = "nasty/frames.rs"]
mod frames;
#[allow(dead_code)]
mod multiplexed;
#[path = "nasty/scripted.rs"]
mod scripted;
#[allow(dead_code)]
mod secure;
mod transports;
