//! The program `kumite`: the command on this machine.

use std::process::ExitCode;

fn main() -> ExitCode {
    kumite::main(&kumite::ThisMachine::default())
}
