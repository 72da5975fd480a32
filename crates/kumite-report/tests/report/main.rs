//! Records, and what is made of them.

mod baseline;
mod compare;
mod counts;
mod diagnosis;
mod fixture;
mod foreign_numbers;
mod formats;
mod instruments;
mod left_out;
mod outlook;
mod page;
mod replication;
mod review;
mod sections;
mod void;
