//! Serves HTTP to programs of this machine: not to other sites' pages, and to nobody for too long.
//!
//! [`Site`] tells requests of whoever started the server from those that a page of another site makes a browser send, also
//! where that site's name points here (DNS rebinding). [`serve`] bounds how long a client may take to send a request, how long
//! a connection may lie idle, how many there may be, and how much of bodies is kept while the rest is waited for. Each request
//! has its [`Connection`] as an extension.

mod activity;
mod body;
mod connection;
mod limits;
mod server;
mod site;

pub use connection::{Connection, Open};
pub use limits::Limits;
pub use server::serve;
pub use site::{Refused, Site};
