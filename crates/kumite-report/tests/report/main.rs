//! Records, and what is made of them.

mod compare;
mod fixture;
mod foreign_numbers;
mod formats;
mod page;
mod replication;
mod sections;
mod void;
