//! The tool through its binary, as a user would, with tiny fake contenders: needs no other language.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

mod build;
mod check;
mod checks;
mod command;
mod common_fault;
mod compare;
mod disk;
mod disturbance;
mod doctor;
mod documents;
mod find_rate;
mod function;
mod gate;
mod host;
mod hostile;
mod init;
mod interrupt;
mod kit_test;
mod load;
mod merge;
mod misbehave;
mod node_away;
mod offered;
mod on;
mod own_folder;
mod pacing;
mod percentile;
mod place;
mod play;
mod resume;
mod roles;
mod run;
mod schema;
mod scratch;
mod selfcheck;
mod service;
mod slurm;
mod smoke;
mod spec;
mod steps;
mod stub;
mod task;
mod void;
mod warm_up;
