//! Students and their scores, twice: tasks on tokio, and threads that sleep.

mod source;
mod tasks;
mod threads;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("tokio") => tasks::serve(),
        Some("threads") => threads::serve(),
        Some("--version") => println!("{}", env!("VERSIONS")),
        _ => {
            eprintln!("usage: nplus1 tokio | threads | --version");
            std::process::exit(2);
        }
    }
}
