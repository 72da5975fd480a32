//! The kumite command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kumite::main(&kumite::ThisMachine::default())
}
