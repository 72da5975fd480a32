//! `kumite kit-test`: the test of a kit for the task protocol.

use std::path::Path;

use clap::Parser;
use kumite_host::cores;
use kumite_lab::{Exchange, KitFinding, kit_test};

use crate::exit::Failure;
use crate::{output, stop};

#[derive(Parser)]
pub struct Args {
    /// Command that starts the kit's conformance worker (docs/kinds/task.md), run by `sh -c` in this folder
    command: String,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let stop = stop::flag()?;
    let mut show = |finding: &KitFinding| {
        let what = finding.what;
        let line = match &finding.failure {
            None => format!("✓ {what}\n"),
            Some(why) => format!("✗ {what}: {why}\n"),
        };
        // A reader that closes our output does not want the rest.
        let _ = output::print(&line);
    };
    let tested = kit_test(&args.command, Path::new("."), &cores(), &stop, &mut show)
        .map_err(|halt| halt.in_step(format!("`{}`", args.command)))?;
    for (what, exchange) in [("a hello", tested.hello), ("an empty job", tested.empty)] {
        if let Some(Exchange { count, p50_us, p99_us }) = exchange {
            output::print(&format!(
                "{what} takes p50 {p50_us:.0} µs, p99 {p99_us:.0} µs by kumite's clock, of {count}\n"
            ))?;
        }
    }
    output::print(&format!("{} right, {} failing\n", tested.right, tested.failing))?;
    match tested.failing {
        0 => Ok(()),
        failing => {
            Err(Failure::Gate(format!("the kit fails {failing} of {} checks", failing + tested.right)))
        }
    }
}
