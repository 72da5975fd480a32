use std::fmt::Write;

use bench_load::{Bench, Generator, Load, Shape};

use crate::ask::Ask;

/// The facts of this machine.
pub struct Found {
    /// To be compared.
    pub generators: Vec<Generator>,
    /// Of each program.
    pub versions: Vec<(&'static str, String)>,
}

/// All that is needed to repeat the run, as a Markdown list.
pub fn facts(bench: &Bench, versions: &[(&str, String)], load_before: &str, ask: &Ask) -> String {
    let mut text = String::from("\n## To repeat it\n\n");
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(text, "- {name}: {value}");
    };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let separator = if arguments.is_empty() { "" } else { " -- " };
    let arguments = shlex::try_join(arguments.iter().map(String::as_str));
    let arguments = arguments.expect("the system gives no argument with a NUL byte");
    fact("Command", &format!("`cargo run --release -p bench-load{separator}{arguments}`"));
    fact("Date", &jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string());
    fact("Seed", &bench.seed.to_string());
    fact("Commit", &ask.first_line("git describe --always --dirty").unwrap_or_else(|_| "unknown".to_owned()));
    let (server, engine) = (bench.cores.contender[0], bench.cores.engine[0]);
    let machine = kumite_host::machine(bench.cores.clone());
    let virtual_machine = if machine.virtual_machine { ", virtual" } else { "" };
    fact(
        "Machine",
        &format!(
            "{}, {} CPUs{virtual_machine}; {}; {}",
            machine.cpu, machine.cpus, machine.kernel, machine.os
        ),
    );
    fact(
        "CPUs",
        &format!("server on {server}, generators on {engine}; sharing a core: {:?}", machine.smt_siblings),
    );
    fact("Load averages before", load_before);
    for (program, version) in versions {
        fact(program, version);
    }
    for generator in &bench.generators {
        let asked = [Shape::Closed, Shape::Open(2000), Shape::Stalled(2000)].into_iter().find_map(|shape| {
            let url = "http://127.0.0.1:PORT/".to_owned();
            (generator.command)(&Load { url, connections: 50, seconds: 10, shape })
        });
        let Some(asked) = asked else { continue };
        let shown =
            asked.replace("exec ", "").replace("$UNDER ", "").replace("\"$PROGRAM\"", &program(generator));
        fact(&format!("{}, for example", generator.name), &format!("`{}`", shown.replace('\n', " ")));
    }
    text
}

/// Without where it lies.
fn program(generator: &Generator) -> String {
    generator.program.rsplit('/').next().unwrap_or_default().to_owned()
}
