//! Probes of the machine: what some basic operations cost just before a trial, measured by a process of its own.
//!
//! A [`Prober`] starts that process once and asks it before each trial. In between the process sleeps in a read, and
//! takes nothing from what is measured. An answer has a figure for each [`Probe`](kumite_record::Probe): an integer
//! loop, the wake-up of a thread by another, a chain of loads from memory, a page that is touched for the first time.
//! They are measured on the first and the last CPU of the trial, in about the time that is asked for. The program
//! that is started calls [`probe_main`] if its first argument is [`PROBER`].

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
