//! Checks and chores. `cargo xtask tidy` checks what no compiler does; CI calls it.

mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(),
        _ => {
            eprintln!("usage: cargo xtask tidy    check invariants, documents and leftover markers");
            ExitCode::from(2)
        }
    }
}
