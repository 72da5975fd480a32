//! The tests' other process: one that has trees and is killed with them, one that trees run, and one of which a test asks
//! something that is about the whole process or the whole machine.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

mod adopted;
mod frozen;
mod orphans;
mod owner;
mod peak;

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use kumite_testing::process::shared;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["adopt"] => adopted::orphans_come_to_us_count_and_are_reaped(),
        ["end-orphans"] => orphans::are_ended_and_nobody_else(),
        ["leave-one"] => orphans::leave_one(),
        ["end-frozen"] => frozen::are_ended_and_removed(),
        ["freeze", dir] => frozen::freeze(dir.as_ref()),
        ["trees", dir, how] => owner::have_trees(dir.as_ref(), how),
        ["peak"] => peak::of_a_command_that_nobody_looked_at_is_known_at_its_end(),
        ["runner"] => return kumite_process::runner_main(),
        ["run", dir] => owner::run_what_does_not_end(dir.as_ref()),
        ["listen", how] => listens(how),
        _ => panic!("{args:?}"),
    }
    ExitCode::SUCCESS
}

/// Longer than any test.
fn stay() {
    std::thread::sleep(Duration::from_secs(300));
}

/// Says on which port, and stays until it is ended; or hands the socket on.
#[expect(clippy::zombie_processes, reason = "the child is to outlive us")]
fn listens(how: &str) {
    let listener = match how {
        "v6" => TcpListener::bind("[::]:0").unwrap(),
        _ => shared(0),
    };
    let port = listener.local_addr().unwrap().port();
    if how == "handed-on" {
        Command::new("sleep").arg("300").stdin(Stdio::from(OwnedFd::from(listener))).spawn().unwrap();
        std::fs::write("port", port.to_string()).unwrap();
        return;
    }
    std::fs::write("port", port.to_string()).unwrap();
    stay();
}
