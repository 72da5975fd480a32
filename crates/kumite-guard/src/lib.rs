//! Serves HTTP to programs of this machine: not to other sites' pages, and to no client for too long.
//!
//! [`Site`] tells requests of the user who started the server from those that a page of another site makes a browser
//! send, also where that site's name leads here (DNS rebinding). [`serve`] limits how long a client may take to send
//! a request, how long a connection may be idle, how many there may be, and how many bytes of bodies are kept while
//! the rest is awaited. Each request has its [`Connection`] as an extension.

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
