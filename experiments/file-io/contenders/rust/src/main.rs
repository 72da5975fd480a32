//! Reads files and decodes them, one after the other or beside other work, in three ways: on threads that
//! block, on tokio, and with io_uring.

mod mix;
mod on_threads;
mod on_tokio;
mod on_uring;
mod ring;
mod texts;

use std::env;

fn main() {
    match env::args().nth(1).as_deref() {
        Some("threads") => on_threads::serve(),
        Some("tokio") => on_tokio::serve(),
        Some("io-uring") => on_uring::serve(),
        Some("--version") => println!("{}", env!("VERSIONS")),
        _ => {
            eprintln!("usage: fileio threads | tokio | io-uring | --version");
            std::process::exit(2);
        }
    }
}
