use std::fmt::Write;

use bench_load::Generator;
use kumite_record::Cores;

use crate::Args;
use crate::ask::Ask;

/// What is needed to repeat the run, as a Markdown list.
pub fn facts(
    args: &Args,
    generators: &[Generator],
    versions: &[String],
    cores: Cores,
    load_before: &str,
    ask: &Ask,
) -> String {
    let mut text = String::from("\n");
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(text, "- {name}: {value}");
    };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let separator = if arguments.is_empty() { "" } else { " -- " };
    fact("Command", &format!("`cargo run --release -p bench-load{separator}{}`", arguments.join(" ")));
    fact("Date", &jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string());
    fact("Seed", &args.seed.to_string());
    for (generator, version) in generators.iter().zip(versions) {
        let arguments = generator.arguments("http://127.0.0.1:PORT/", "N", args.seconds);
        let program = if *generator == Generator::Wrk { "wrk" } else { "kumite" };
        fact(generator.name(), &format!("{version}; `{program} {arguments}`"));
    }
    fact("Commit", &ask.first_line("git describe --always --dirty").unwrap_or_else(|_| "unknown".to_owned()));
    let (server, engine) = (cores.contender[0], cores.engine[0]);
    let machine = kumite_lab::machine(cores);
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
    text
}
