//! The tool through its binary, as a user would, with tiny fake contenders: needs no other language.

mod check;
mod compare;
mod disk;
mod disturbance;
mod doctor;
mod find_rate;
mod function;
mod gate;
mod host;
mod interrupt;
mod kit_test;
mod load;
mod misbehave;
mod offered;
mod pacing;
mod place;
mod play;
mod resume;
mod run;
mod schema;
mod selfcheck;
mod service;
mod spec;
mod steps;
mod stub;
mod task;
