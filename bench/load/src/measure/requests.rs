//! CPU time for each request by what is sent: always the same, a mix with templates, steps of a session; and the same
//! request by an older kumite.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::closed::{cpu, cpu_line, failures, point};
use super::{Section, fewest};

use crate::kumite::{self, IO_URING};
use crate::{Bench, Cells, Effort, Generator, Trial, spread};

const CONNECTIONS: u32 = 50;
/// The variable with the path of the older kumite. Without it there is none to compare with.
const BEFORE_AT: &str = "KUMITE_BEFORE";

const PLAIN: &str = "plain";
const BEFORE: &str = "plain, before";
const MIX: &str = "mix with templates";
const SESSION: &str = "steps of a session";

/// Who is compared with whom, and the most that the ratio of their CPU times may be.
const PAIRS: [(&str, &str, f64); 3] = [(PLAIN, BEFORE, 1.02), (MIX, PLAIN, 1.25), (SESSION, PLAIN, 1.5)];

/// Weights, a sequence number, a random id, and a header that is different on each connection.
const MIX_TOML: &str = r#"
answer = { status = 200, equals = "pong" }

[[request]]
weight = 3
path = "/search?q={{seq}}"

[[request]]
path = "/item/{{uuid}}"
headers = { x-connection = "{{connection}}" }
"#;

/// Each second request has a value of the answer before.
const SESSION_TOML: &str = r#"
answer = { status = 200, equals = "pong" }

[[session]]
name = "user"

[[session.request]]
path = "/login"
take = { who = { header = "server" } }

[[session.request]]
path = "/me?user={{who}}"
"#;

pub fn run(bench: &Bench, effort: Effort) -> Result<Section> {
    let ours = bench.generators.iter().find(|generator| generator.name == IO_URING);
    let program = ours.context("kumite is not among the generators")?.program.clone();
    let core = *bench.cores.engine.last().context("the system does not tell which CPUs there are")?;
    for (file, text) in [("mix.toml", MIX_TOML), ("session.toml", SESSION_TOML)] {
        fs::write(bench.dir.join(file), text).with_context(|| format!("cannot write {file}"))?;
    }
    let mut generators = vec![
        kumite::asking(PLAIN, &program, core, kumite::EXPECTED),
        kumite::asking(MIX, &program, core, " --scenario mix.toml"),
        kumite::asking(SESSION, &program, core, " --scenario session.toml"),
    ];
    generators.extend(before(core)?);
    let bench = Bench {
        program: bench.program.clone(),
        dir: bench.dir,
        cores: bench.cores.clone(),
        stop: bench.stop,
        generators,
        seed: bench.seed,
    };
    let cells = bench.rounds("requests", &[point(CONNECTIONS)], effort, |_, _| true, |_, trial| Ok(trial))?;
    let lines =
        PAIRS.map(|(name, other, most)| cpu_line(&cells, 0, CONNECTIONS, (name, other), most)).to_vec();
    let text = format!(
        "## What is sent\n\nClosed loop, {CONNECTIONS} connections, loads of {} s. The older kumite is the one at \
         {BEFORE_AT}.\n\n{}",
        effort.seconds,
        table(&cells)
    );
    Ok(Section { text, lines, faults: faults(&cells) })
}

/// The older kumite, if there is one.
fn before(core: usize) -> Result<Option<Generator>> {
    let Some(path) = std::env::var_os(BEFORE_AT) else {
        eprintln!("SKIPPED: plain, before: {BEFORE_AT} names no older kumite");
        return Ok(None);
    };
    let path =
        fs::canonicalize(&path).with_context(|| format!("{BEFORE_AT} is {}", Path::new(&path).display()))?;
    let path = path.to_str().with_context(|| format!("{} is not UTF-8; move it", path.display()))?;
    Ok(Some(kumite::asking(BEFORE, path, core, kumite::EXPECTED)))
}

fn table(cells: &Cells<Trial>) -> String {
    let mut text = String::from(
        "| requests | CPU µs/request, median (min–max) | requests/s | rounds |\n| --- | ---: | ---: | ---: |\n",
    );
    for name in cells.present(0) {
        let rate = cells.median(0, name, |trial| Some(trial.requests_per_s())).unwrap_or(f64::NAN);
        let rounds = cells.of(0, name).len();
        let cpu = spread(&cells.values(0, name, cpu), 2);
        let _ = writeln!(text, "| {name} | {cpu} | {rate:.0} | {rounds} |");
    }
    text += "\n| pair | CPU/request, ratio (95 % interval) |\n| --- | ---: |\n";
    for (name, other, _) in PAIRS {
        if fewest([name, other].map(|name| cells.of(0, name).len())) > 0 {
            let _ = writeln!(text, "| {name} : {other} | {} |", cells.paired(0, (name, other), cpu));
        }
    }
    text + &failures(&cells.failures)
}

/// All that makes a trial no fair comparison.
fn faults(cells: &Cells<Trial>) -> Vec<String> {
    let mut faults = cells.failures.clone();
    for name in cells.present(0) {
        let wrong = cells.of(0, name).into_iter().filter(|trial| trial.miscount() != 0);
        faults.extend(wrong.map(|trial| {
            format!("{name}: it counted {} answers, the server {}", trial.said.answers, trial.requests)
        }));
    }
    faults
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Said;
    use crate::acceptance::ENOUGH;

    fn trial(requests: u64, cpu_ms: u64) -> Trial {
        Trial {
            requests,
            connections: 50,
            said: Said { answers: 100_000, ..Said::default() },
            cpu: Duration::from_millis(cpu_ms),
            wall: Duration::from_secs(1),
            server_cpu: Duration::from_millis(500),
            others_cpu: Duration::ZERO,
            peak_rss_bytes: 3 << 20,
            stamps_ns: Vec::new(),
        }
    }

    #[test]
    fn each_is_beside_the_plain_one_and_that_beside_an_older_kumite_if_there_is_one() {
        let mut cells = Cells::new(&[point(CONNECTIONS)], vec![PLAIN, MIX, SESSION, BEFORE]);
        for round in 0..ENOUGH {
            for (generator, cpu_ms) in [(0, 400), (1, 480), (2, 640)] {
                cells.keep(0, generator, round, Ok(trial(100_000, cpu_ms)));
            }
        }
        let text = table(&cells);
        for row in [
            "| mix with templates | 4.80 (4.80–4.80) | 100000 | 10 |",
            "| mix with templates : plain | 1.200 (",
            "| steps of a session : plain | 1.600 (",
        ] {
            assert!(text.contains(row), "{row}\nis not in\n{text}");
        }
        assert!(!text.contains(BEFORE), "{text}");
        let verdicts =
            PAIRS.map(|(name, other, most)| cpu_line(&cells, 0, CONNECTIONS, (name, other), most).verdict());
        assert_eq!(verdicts, ["not measured", "met", "not met"]);
        assert_eq!(faults(&cells), [""; 0]);
        cells.keep(0, 1, ENOUGH, Ok(trial(100_001, 1)));
        assert_eq!(faults(&cells), ["mix with templates: it counted 100000 answers, the server 100001"]);
    }
}
