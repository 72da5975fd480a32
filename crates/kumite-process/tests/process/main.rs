//! Trees, groups and runners, with shell commands for contenders.

mod adopted;
mod beside;
mod group;
mod guardian;
mod listen;
mod orphans;
mod pause;
mod run;
mod runner;
mod stops;
mod talk;
mod tree;
mod usage;
