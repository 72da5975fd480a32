//! Writes states when they are due, twice: on a thread that sleeps, and on tokio.

mod future;
mod play;
mod sleep;

use std::process::ExitCode;

fn main() -> ExitCode {
    let played = match std::env::args().nth(1).as_deref() {
        Some("sleep") => sleep::serve(),
        Some("tokio") => future::serve(),
        Some("--version") => {
            println!("{}", env!("VERSIONS"));
            Ok(())
        }
        _ => Err("usage: pacing sleep | tokio | --version".into()),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pacing: {error}");
            ExitCode::FAILURE
        }
    }
}
