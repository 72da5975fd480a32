//! Probes of the machine: the cost of some basic operations, measured by a process of its own.
//!
//! A [`Prober`] starts that process once. It is asked before each trial of a run, between blocks of a comparison, and
//! in a self-check. In between the process sleeps in a read, and takes nothing from what is measured. An answer has a
//! figure for each [`Probe`](kumite_record::Probe) that could be made: an integer loop, the wake-up of a thread by
//! another, a chain of loads from memory, a page that is touched for the first time. They are measured on the first
//! and the last of the CPUs that are named, in about the time that is asked for. The program that is started calls
//! [`probe_main`] if its first argument is [`PROBER`].

#[forbid(unsafe_code)]
mod chase;
#[forbid(unsafe_code)]
mod integer_loop;
mod memory;
#[forbid(unsafe_code)]
mod pages;
#[forbid(unsafe_code)]
mod prober;
#[forbid(unsafe_code)]
mod serve;
#[forbid(unsafe_code)]
mod slice;
#[forbid(unsafe_code)]
mod wake_up;

pub use prober::{ProbeError, Prober, TRIAL};
pub use serve::probe_main;

/// The hidden argument by which a program of kumite becomes the process that probes.
pub const PROBER: &str = "--prober";
