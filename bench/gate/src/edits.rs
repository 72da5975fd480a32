//! Edits of a small C program that change nothing of what it does: dead code, the order in which its files are linked,
//! and comments. A gate that is shut for one of them is an alarm, though the program may really be slower for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::live::gated;
use crate::spin::Pace;
use crate::tally::Tally;

/// The files that the program is linked of, beside its main.
const FILES: [&str; 3] = ["shift", "product", "table"];
const SOURCES: [&str; 3] = [
    "unsigned long shift(unsigned long x) { x ^= x << 13; x ^= x >> 7; return x ^ (x << 17); }\n",
    "unsigned long product(unsigned long x) { return x * 6364136223846793005ul + 1442695040888963407ul; }\n",
    "static unsigned long kept[512];\n\
     unsigned long table(unsigned long x) { return kept[x & 511] += x; }\n",
];
const MAIN: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    unsigned long shift(unsigned long), product(unsigned long), table(unsigned long);\n\
    int main(int argc, char **argv) {\n\
    \x20 unsigned long x = 88172645463325252ul, steps = argc > 1 ? strtoul(argv[1], 0, 10) : 0;\n\
    \x20 for (unsigned long i = 0; i < steps; i++) x = table(product(shift(x)));\n\
    \x20 return printf(\"%lu\\n\", x) < 0;\n}\n";

/// What is edited.
#[derive(Args)]
pub struct Edits {
    /// The kumite that is tried, e.g. target/release/kumite
    kumite: PathBuf,
    /// Edits, of each kind in turn
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    runs: u64,
    /// Seconds that the program takes
    #[arg(long, value_name = "S", default_value_t = 0.3)]
    seconds: f64,
}

/// The kind of an edit.
#[derive(Clone, Copy)]
enum Edit {
    DeadCode,
    LinkOrder,
    Comment,
}

const EDITS: [(Edit, &str); 3] =
    [(Edit::DeadCode, "dead code"), (Edit::LinkOrder, "link order"), (Edit::Comment, "a comment")];

/// Prints a table of the gates on each kind.
pub fn edits(args: &Edits) -> Result<()> {
    let folder = tempfile::tempdir()?;
    // Paths of one length: the environment of a process, and so its stack, has the name of its program.
    let original = built(folder.path(), "original", None)?;
    let steps = Pace::measured(&original, &[])?.steps(args.seconds)?;
    let mut tallies = EDITS.map(|_| Tally::default());
    for nth in 0..args.runs {
        let kind = (nth % EDITS.len() as u64) as usize;
        let edited = built(folder.path(), &format!("edited{nth:02}"), Some((EDITS[kind].0, nth)))?;
        let of = |program: &Path| format!("'{}' {steps}", program.display());
        tallies[kind].count(&gated(&args.kumite, &of(&original), &of(&edited))?);
        eprint!("\r{} of {} edits", nth + 1, args.runs);
    }
    eprintln!();
    Tally::heads();
    EDITS.iter().zip(&tallies).for_each(|((_, name), tally)| tally.row(name));
    Ok(())
}

/// The program with this edit, the nth.
fn built(folder: &Path, name: &str, edit: Option<(Edit, u64)>) -> Result<PathBuf> {
    let sources = folder.join(format!("{name}.c.d"));
    fs::create_dir(&sources)?;
    let mut files: Vec<(String, String)> =
        FILES.iter().zip(SOURCES).map(|(file, text)| (file.to_string(), text.to_owned())).collect();
    files.push(("main".to_owned(), MAIN.to_owned()));
    let mut random = ChaCha8Rng::seed_from_u64(edit.map_or(0, |(_, nth)| nth));
    match edit {
        Some((Edit::LinkOrder, _)) => {
            let before: Vec<String> = files.iter().map(|(file, _)| file.clone()).collect();
            while files.iter().map(|(file, _)| file).eq(&before) {
                files.shuffle(&mut random);
            }
        }
        Some((Edit::DeadCode, nth)) => {
            let at = nth as usize % files.len();
            let statements = "x = x * 3 + y;\n".repeat(1 + nth as usize * 3);
            let dead = format!(
                "__attribute__((used)) static unsigned long dead(unsigned long x, unsigned long y) {{\n{statements}return x;\n}}\n"
            );
            files[at].1.insert_str(0, &dead);
        }
        Some((Edit::Comment, nth)) => {
            let at = nth as usize % files.len();
            files[at].1.insert_str(0, &"/* It does what it did. */\n".repeat(1 + nth as usize));
        }
        None => {}
    }
    let mut compile = Command::new("cc");
    let program = folder.join(name);
    compile.args(["-O2", "-o"]).arg(&program);
    for (file, text) in &files {
        let path = sources.join(format!("{file}.c"));
        fs::write(&path, text)?;
        compile.arg(path);
    }
    let done = compile.output().context("there is no C compiler `cc`")?;
    ensure!(done.status.success(), "cc: {}", String::from_utf8_lossy(&done.stderr));
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_program_does_what_it_did() {
        let folder = tempfile::tempdir().unwrap();
        let says = |program: &Path| {
            let done = Command::new(program).arg("1000").output().unwrap();
            assert!(done.status.success());
            String::from_utf8(done.stdout).unwrap()
        };
        let original = built(folder.path(), "original", None).unwrap();
        for (nth, (edit, name)) in EDITS.iter().enumerate() {
            let edited = built(folder.path(), &format!("edited{nth:02}"), Some((*edit, nth as u64))).unwrap();
            assert_eq!(says(&edited), says(&original), "{name}");
            let (new, old) = (fs::read(&edited).unwrap(), fs::read(&original).unwrap());
            assert_eq!(new == old, matches!(edit, Edit::Comment), "{name}");
        }
    }
}
