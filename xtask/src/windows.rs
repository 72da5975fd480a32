//! kumite-play still compiles for 32-bit Windows, which the Titan One's library is for.

use std::path::Path;
use std::process::{Command, ExitCode};

const TARGETS: [&str; 2] = ["i686-pc-windows-msvc", "i686-pc-windows-gnu"];

/// Checks it for each of these targets that is installed, and says so if none is.
pub fn run() -> ExitCode {
    let installed: Vec<&str> = TARGETS.into_iter().filter(|target| is_installed(target)).collect();
    if installed.is_empty() {
        println!("windows: SKIPPED, nothing is checked: no target for it (rustup target add {})", TARGETS[1]);
    }
    for target in installed {
        let arguments =
            ["clippy", "--quiet", "--package", "kumite-play", "--target", target, "--", "-D", "warnings"];
        if !Command::new("cargo").args(arguments).status().is_ok_and(|status| status.success()) {
            println!("windows: kumite-play does not compile for {target}");
            return ExitCode::FAILURE;
        }
        println!("windows: kumite-play compiles for {target}");
    }
    ExitCode::SUCCESS
}

/// Its standard library is where the compiler looks for it.
fn is_installed(target: &str) -> bool {
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    folder.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
