//! Records, and what is made of them.

mod compare;
mod fixture;
mod formats;
mod page;
mod sections;
mod void;
